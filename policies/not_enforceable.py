"""Advice of the source documents that no rule enforces, and why: a rule that only seems to would be worse than none."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEnforceable:
    """One piece of advice."""

    source: str
    """Document and section, as in a rule."""
    advice: str
    """What is asked for, in our own words."""
    reason: str
    """Why neither the plan of a deployment nor a request to the API server shows whether it is followed."""
    id: str | None = None
    """Id that was kept for it; no rule may take it."""


NOT_ENFORCEABLE: Final = (
    NotEnforceable(
        id="HK-13",
        source="Helm documentation, Charts (versions)",
        advice="Helm releases and charts name one exact version, and no range.",
        # Seen in a preview with version 4.25.0 of the provider, and in its source, Check of helm_release.go.
        reason="Policies see no range: the provider puts the version that it found in its place, and a v4 Chart shows "
        "no inputs. A newer version appears in the preview as a change, and the objects of a v4 Chart are judged.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Node Groups",
        advice="On vanilla Kubernetes, an IT administrator labels the application nodes in the platform's UI.",
        reason="A click there is no resource of the stack. Who may label nodes is a right of the platform's users.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Development Cluster",
        advice="Size and machine types of the user groups may vary with the workload.",
        reason="It permits instead of demanding. The bounds that a size must have are rules of their own.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Production Cluster",
        advice="Groups of several machine types are optional.",
        reason="It permits instead of demanding. That the types of one group fit each other is a rule.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Assigning Services and Jobs to Node Groups",
        advice="Iguazio's support chooses the nodes of the core services when it deploys the platform.",
        reason="It happens after the cluster is built, by somebody else. Rules keep user work off those nodes.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Requests and Limits",
        advice="Plan more capacity where work is guaranteed its resources, since nobody else may use them.",
        reason="How much more depends on the load. Quotas and the largest size of each group are judged.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Requests and Limits",
        advice="In development, balance guaranteed resources against their cost.",
        reason="It asks for judgement. What is certain, how far a limit may exceed its request, is a rule.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Requests and Limits",
        advice="Guarantee resources during critical work in development clusters with many notebooks too.",
        reason="Only a label that the author sets says what is critical, and when. That label has a rule.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Spot vs. On-demand Usage",
        advice="Before using spot nodes ask: is it critical, has it state, does it recover, may it wait?",
        reason="Only the author can answer. Rules judge the answers where they are written: kind, labels, restarts.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Jupyter Image and Installing Packages",
        advice="System packages installed with apt-get are lost when the Jupyter service restarts.",
        reason="It happens inside a running container, which neither a deployment nor admission sees.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Jupyter Image and Installing Packages",
        advice="Put what must survive a restart into the startup hook, whose failures are ignored.",
        reason="The hook is a file in the user's home. That the home itself is persistent is a rule.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Jupyter Image and Installing Packages",
        advice="Prefer pip over Conda, as MLRun does; before using Conda, clone an environment, which is kept.",
        reason="It is how somebody works inside a notebook.",
    ),
    NotEnforceable(
        id="ST-05",
        source="MLRun job resources, Preventing stuck pods",
        advice="Nuclio, serving and Dask runtimes have no state thresholds.",
        reason="It is an exemption. Rules about thresholds judge MLRun's settings, which those runtimes do not read.",
    ),
    NotEnforceable(
        source="MLRun job resources, UI configuration",
        advice="Set resources, priority, volumes and spot mode in the forms of the UI.",
        reason="Forms are no resources. The pods that come of them are judged at admission.",
    ),
    NotEnforceable(
        source="MLRun node affinity, Node Selector",
        advice="A job that may run on spot nodes saves its own state and copes with being interrupted.",
        reason="That is in the job's code. A rule can only demand that the restart is planned.",
    ),
    NotEnforceable(
        source="MLRun node affinity, Node Selector",
        advice="Enter the lifecycle selector in the form of a new job, or pass it in the SDK.",
        reason="Both happen while a job is submitted. The pods that come of them are judged at admission.",
    ),
)
"""By document."""
