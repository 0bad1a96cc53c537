"""HK-06: secrets are not in a process's environment, which crash dumps, logs and child processes inherit."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Refuse variables that a Secret fills, one by one or all of its keys at once."""
    for container in pod.containers():
        variables = [entry.at("valueFrom", "secretKeyRef") for entry in container.at("env").elements()]
        for reference in [*variables, *(entry.at("secretRef") for entry in container.at("envFrom").elements())]:
            if reference.at("name").text() is not None:
                yield Finding(f"{pod} fills its environment from a Secret ({reference.path}), wanted a volume of it.")


RULE = Rule(
    id="HK-06",
    slug="secrets-are-files",
    title="Secrets reach containers as files, not as environment variables",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="CIS EKS benchmark, 4.4.1",
    applies_to=PODS,
    why="Variables are inherited, dumped and logged, and keep their old value when the Secret is rotated.",
    fix="Mount the Secret as a volume and read the file.",
    check=check,
)
