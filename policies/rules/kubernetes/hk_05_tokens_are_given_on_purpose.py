"""HK-05: a pod holds a token for the API server only where somebody wanted it to."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import PODS, PodFacts

NOBODYS = "default"
"""Account of pods that name none."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand a word about the token where there is one, and never the token of the account that all pods share."""
    mounts = pod.spec.at("automountServiceAccountToken").flag()
    if mounts is False:
        return
    if mounts is None and not pod.is_retold:
        yield Finding(f"{pod} says nothing about its token, wanted automountServiceAccountToken true or false.")
    account = pod.spec.at("serviceAccountName").text() or NOBODYS
    if account == NOBODYS:
        yield Finding(f"{pod} gets the token of the account '{NOBODYS}', wanted an account of its own or no token.")


RULE = Rule(
    id="HK-05",
    slug="tokens-are-given-on-purpose",
    title="Pods get a token of their own account, or none",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="CIS EKS benchmark, 4.1.5 and 4.1.6",
    applies_to=PODS,
    why="Rights that one pod needs go to every pod of a shared account, and to whoever breaks into one of them.",
    fix="Set automountServiceAccountToken: false, or name an account of the pod's own and set it to true.",
    check=check,
)
