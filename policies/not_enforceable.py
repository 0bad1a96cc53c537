"""Recommendations of the source documents that no rule enforces, and why."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEnforceable:
    """One piece of advice."""

    source: str
    """Document and section, as in a rule."""
    advice: str
    """The requirement, in our own words."""
    reason: str
    """Why neither a deployment's plan nor a request to the API server shows whether it is met."""
    id: str | None = None
    """Id reserved for it; no rule may use it."""


NOT_ENFORCEABLE: Final = (
    NotEnforceable(
        id="HK-13",
        source="Helm documentation, Charts (versions)",
        advice="Helm releases and charts name one exact version, not a range.",
        # Seen in a preview with version 4.25.0 of the provider, and in its source, Check of helm_release.go.
        reason="Policies see no range: the provider replaces it with the resolved version, and a v4 Chart shows "
        "no inputs. A newer version appears in the preview as a change, and the objects of a v4 Chart are checked.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Node Groups",
        advice="On vanilla Kubernetes, an IT administrator labels the application nodes in the platform's UI.",
        reason="A label set in the UI is not a resource of the stack. The platform controls who may label nodes.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Development Cluster",
        advice="Size and machine types of the user groups may vary with the workload.",
        reason="It is permission, not a requirement. Separate rules check the bounds of sizes.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Production Cluster",
        advice="Groups of several machine types are optional.",
        reason="It is permission, not a requirement. A rule checks that the types of one group match.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Assigning Services and Jobs to Node Groups",
        advice="Iguazio's support chooses the nodes of the core services when it deploys the platform.",
        reason="Iguazio does this after the cluster is built. Rules keep user work off those nodes.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Requests and Limits",
        advice="Plan more capacity for guaranteed work, because no other work may use its resources.",
        reason="The amount depends on the load. Rules check quotas and the maximum size of each group.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Requests and Limits",
        advice="In development, balance guaranteed resources against their cost.",
        reason="It needs judgement. A rule checks the ratio of limits to requests.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Requests and Limits",
        advice="Guarantee resources during critical work in development clusters with many notebooks too.",
        reason="Only the author knows what is critical; a label marks such work, and a rule checks it.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Spot vs. On-demand Usage",
        advice="Before using spot nodes ask: is it critical, is it stateful, does it recover, can it wait?",
        reason="Only the author can answer. Rules check what is declared: kind, labels, restart plan.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Jupyter Image and Installing Packages",
        advice="System packages installed with apt-get are lost when the Jupyter service restarts.",
        reason="It happens inside a running container, which neither previews nor admission see.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Jupyter Image and Installing Packages",
        advice="Put setup that must survive a restart into the startup hook, whose failures are ignored.",
        reason="The hook is a file in the user's home directory. A rule checks that this directory is persistent.",
    ),
    NotEnforceable(
        source="Iguazio best practices, Jupyter Image and Installing Packages",
        advice="Prefer pip over Conda, as MLRun does; before using Conda, clone an environment, which is kept.",
        reason="It is a habit inside a notebook, which policies do not see.",
    ),
    NotEnforceable(
        id="ST-05",
        source="MLRun job resources, Preventing stuck pods",
        advice="Nuclio, serving and Dask runtimes have no state thresholds.",
        reason="It is an exemption. Rules on thresholds check MLRun's settings, which those runtimes ignore.",
    ),
    NotEnforceable(
        source="MLRun job resources, UI configuration",
        advice="Set resources, priority, volumes and spot mode in the forms of the UI.",
        reason="Forms are not resources. Admission checks the resulting pods.",
    ),
    NotEnforceable(
        source="MLRun node affinity, Node Selector",
        advice="A job that may run on spot nodes saves its own state and copes with being interrupted.",
        reason="That is in the job's code. A rule can only require a restart plan.",
    ),
    NotEnforceable(
        source="MLRun node affinity, Node Selector",
        advice="Enter the lifecycle selector in the form of a new job, or pass it in the SDK.",
        reason="Both happen when a job is submitted. Admission checks the resulting pods.",
    ),
)
"""By document."""
