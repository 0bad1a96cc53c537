"""HK-06: Secrets are mounted as files, because environments leak into crash dumps, logs and child processes."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Reject environment variables from Secrets, single keys (``valueFrom``) and whole Secrets (``envFrom``)."""
    for container in pod.containers():
        variables = [entry.at("valueFrom", "secretKeyRef") for entry in container.at("env").elements()]
        for reference in [*variables, *(entry.at("secretRef") for entry in container.at("envFrom").elements())]:
            if reference.at("name").text() is not None:
                yield Finding(f"{pod} sets environment variables from a Secret ({reference.path}); expected a volume.")


RULE = Rule(
    id="HK-06",
    slug="secrets-are-files",
    title="Secrets should be mounted as files, not set as environment variables",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="CIS EKS benchmark, 4.4.1",
    applies_to=PODS,
    why="Environment variables leak into child processes, dumps and logs, and keep the old value after a rotation.",
    fix="Mount the Secret as a volume and read the file.",
    check=check,
)
