"""RS-06: work that chose an elastic pool asks for all that it uses, so that the pool grows in time."""

from collections.abc import Iterator
from functools import cache, partial

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from policies.cel import selected
from policies.resource import Resource, Stack
from policies.rule import Admission, Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import each, some
from policies.views.node_groups import Groups, NodeGroupFacts, user_groups
from policies.views.pods import user_work
from policies.views.volume_claims import CEL_GUARANTEED, unequal


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Recommend requests equal to limits for pods that select an elastic pool by its name.

    Pods that take any pool are RS-03's in production, and RS-05's in development, where sharing is a legal strategy.
    """
    groups = cache(lambda: list(user_groups(stack)))
    yield from each(stack, lambda resource: _check(resource, groups, context))


def _check(resource: Resource, groups: Groups, context: Context) -> Iterator[Finding]:
    for pod in user_work(resource, context):
        pool = pod.selected(LabelKey.POOL)
        if pool and some(groups(), partial(_is_elastic_pool, pool)):
            for reason in unequal(pod):
                message = f"{pod} selects the elastic pool '{pool}', and {reason}, wanted both, equal and above 0."
                yield Finding(message, urn=resource.urn)


def _is_elastic_pool(name: str, group: NodeGroupFacts) -> bool:
    return group.label(LabelKey.POOL) == name and group.is_elastic


RULE = Rule(
    id="RS-06",
    slug="work-on-elastic-pools-is-guaranteed",
    title="Work that selects an elastic pool has requests equal to its limits",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (auto-scaling works best with limit = request)",
    applies_to=WholeStack(),
    why="The autoscaler adds a node when requests do not fit; pods with low requests fill a node long before that.",
    fix="Set CPU and memory requests equal to the limits.",
    check=check,
    admission=Admission(expression=f"!({selected(LabelKey.POOL)} in params.spec.elasticPools) || {CEL_GUARANTEED}"),
)
