"""RS-11: guaranteed work can scale up its pool."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Final

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import each, some
from policies.views.gpus import asked_gpus
from policies.views.node_choice import selector
from policies.views.node_groups import Groups, NodeGroupFacts, user_groups
from policies.views.pods import PodFacts, user_work
from policies.views.volume_claims import is_guaranteed

CHOOSING_KEYS: Final = (LabelKey.POOL, LabelKey.ROLE, LabelKey.LIFECYCLE)
"""Labels that distinguish user pools; PL-03 checks the others."""


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Recommend that at least one pool where a guaranteed pod can run is elastic."""
    groups = cache(lambda: list(user_groups(stack)))
    yield from each(stack, lambda resource: _check(resource, groups, context))


def _check(resource: Resource, groups: Groups, context: Context) -> Iterator[Finding]:
    for pod in user_work(resource, context):
        if not is_guaranteed(pod) or some(groups(), partial(_grows_for, pod, context=context)):
            continue
        if possible := [group for group in groups() if _may_land(pod, group, context)]:
            names = ", ".join(sorted({f"'{group.name}'" for group in possible}))
            found = f"{pod} is guaranteed but can only use pool {names}, which has a fixed size"
            yield Finding(f"{found}; expected an elastic pool.", urn=resource.urn)


def _grows_for(pod: PodFacts, group: NodeGroupFacts, context: Context) -> bool:
    return _may_land(pod, group, context) and group.is_elastic


def _may_land(pod: PodFacts, group: NodeGroupFacts, context: Context) -> bool:
    # Only pods that request a GPU run on GPU nodes.
    if group.role is PoolRole.GPU and not asked_gpus(pod, context):
        return False
    return all(demand.is_met_by(group) for demand in selector(pod) if demand.key in CHOOSING_KEYS)


RULE = Rule(
    id="RS-11",
    slug="guaranteed-work-can-grow-its-pool",
    title="Guaranteed work should be able to use an elastic pool",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (pods with high requests, auto-scaling)",
    applies_to=WholeStack(),
    why="When a pool of fixed size is full, no node is added and the pod stays pending.",
    fix="Set the pool's size.max above size.min, or select an elastic pool.",
    check=check,
)
