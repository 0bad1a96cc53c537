"""HK-12: finished Jobs do not fill the cluster's memory of objects."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of


def check(job: Resource, _: Context) -> Iterator[Finding]:
    """Demand a time to live; CronJobs keep only the last few Jobs anyway."""
    lifetime = job.props.at("spec", "ttlSecondsAfterFinished")
    if lifetime.integer() is None:
        yield Finding(f"Job '{job.name}' has {lifetime.path} absent, wanted seconds, such as 86400.")


RULE = Rule(
    id="HK-12",
    slug="finished-jobs-go",
    title="Finished Jobs are cleaned up",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Kubernetes documentation, TTL-after-finished controller",
    applies_to=resources_of("each Job", "kubernetes:batch/v1:Job"),
    why="A finished Job and its pods stay for ever: they keep their quota of objects and slow down every list of pods.",
    fix="Set spec.ttlSecondsAfterFinished. The next update runs a Job anew that is gone: make it repeatable.",
    check=check,
)
