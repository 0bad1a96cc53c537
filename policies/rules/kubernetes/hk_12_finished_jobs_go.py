"""HK-12: finished Jobs are deleted."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of


def check(job: Resource, _: Context) -> Iterator[Finding]:
    """Require a time to live; CronJobs already keep only their last few Jobs."""
    lifetime = job.props.at("spec", "ttlSecondsAfterFinished")
    if lifetime.integer() is None:
        yield Finding(f"Job '{job.name}' has {lifetime.path} absent; expected a number of seconds, such as 86400.")


RULE = Rule(
    id="HK-12",
    slug="finished-jobs-go",
    title="Finished Jobs should be deleted automatically",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Kubernetes documentation, TTL-after-finished controller",
    applies_to=resources_of("each Job", "kubernetes:batch/v1:Job"),
    why="Finished Jobs and their pods otherwise stay forever, count against object quotas and slow down listings.",
    fix="Set spec.ttlSecondsAfterFinished. The next update re-creates a deleted Job, so it must be safe to run again.",
    check=check,
)
