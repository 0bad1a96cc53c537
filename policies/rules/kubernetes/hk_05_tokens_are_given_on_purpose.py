"""HK-05: pods mount an API token only on purpose."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import PODS, PodFacts

NOBODYS = "default"
"""Service account of pods that name none."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require an explicit choice about the token, and reject the token of the shared default account."""
    mounts = pod.spec.at("automountServiceAccountToken").flag()
    if mounts is False:
        return
    if mounts is None and not pod.is_retold:
        yield Finding(f"{pod} does not set automountServiceAccountToken; expected true or false.")
    account = pod.spec.at("serviceAccountName").text() or NOBODYS
    if account == NOBODYS:
        yield Finding(
            f"{pod} mounts the token of the service account '{NOBODYS}'; expected its own account or no token."
        )


RULE = Rule(
    id="HK-05",
    slug="tokens-are-given-on-purpose",
    title="Pods must use a service account of their own, or mount no token",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="CIS EKS benchmark, 4.1.5 and 4.1.6",
    applies_to=PODS,
    why="With a shared account, rights granted for one pod apply to every pod, and to an attacker in any of them.",
    fix="Set automountServiceAccountToken: false, or set it to true with a service account of the pod's own.",
    check=check,
)
