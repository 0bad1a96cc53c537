"""ST-04: Kubernetes Jobs have a deadline."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.namespaces import SYSTEM_NAMESPACES
from policies.resource import Resource
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.values import Value
from policies.views.objects import namespace_of

_LONGEST = 24 * 60 * 60
"""Seconds; MLRun's default for a run."""


def check(job: Value, _: Context) -> Iterator[Finding]:
    """Recommend a deadline for the whole Job, including retries."""
    deadline = job.at("activeDeadlineSeconds").integer()
    if deadline is None or deadline > _LONGEST:
        found = "absent" if deadline is None else deadline
        yield Finding(f"{job.path}.activeDeadlineSeconds is {found}; expected at most {_LONGEST}.")


def _jobs(resource: Resource) -> Iterator[Value]:
    if namespace_of(resource) in SYSTEM_NAMESPACES:
        return
    yield resource.props.at("spec", "jobTemplate", "spec") if ":Cron" in resource.type else resource.props.at("spec")


RULE = Rule(
    id="ST-04",
    slug="jobs-have-a-deadline",
    title="Kubernetes Jobs should end within a day",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun job resources, Preventing stuck pods (the state executing, carried over to Jobs)",
    applies_to=EachOf(
        noun="each Job and CronJob outside the system's namespaces",
        types=re.compile("kubernetes:batch/v1:(Cron)?Job"),
        find=_jobs,
    ),
    why="A Job that hangs keeps its node busy, so an elastic pool cannot scale down.",
    fix="Set spec.activeDeadlineSeconds to at most 86400.",
    check=check,
)
