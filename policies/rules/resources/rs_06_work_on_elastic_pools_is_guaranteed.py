"""RS-06: work on elastic pools requests all that it uses, so that the pool scales up in time."""

from collections.abc import Iterator
from functools import cache, partial

from components.contract.default_resources import LIMIT_RANGER
from components.contract.environments import Environment
from components.contract.labels import AnnotationKey, LabelKey
from policies.cel import selected
from policies.resource import Resource, Stack
from policies.rule import Admission, Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import each, some
from policies.views.node_groups import Groups, NodeGroupFacts, user_groups
from policies.views.pods import PodFacts, user_work
from policies.views.volume_claims import CEL_UNEQUAL, COMPUTE, cel_deciding, cel_request, containers, unequal, whole

_DEFAULTED = (LIMIT_RANGER, AnnotationKey.COMPLETED.value)
"""Annotations of pods that got defaults."""


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Recommend requests equal to limits for pods that select an elastic pool by name.

    RS-03 and RS-05 cover pods that may run on any pool, in production and in development. Pods with the namespace's
    default requests and limits are exempt, because the platform chose these, not the author.
    """
    groups = cache(lambda: list(user_groups(stack)))
    yield from each(stack, lambda resource: _check(resource, groups, context))


def _check(resource: Resource, groups: Groups, context: Context) -> Iterator[Finding]:
    for pod in user_work(resource, context):
        pool = pod.selected(LabelKey.POOL)
        if pool and not _has_defaults(pod) and some(groups(), partial(_is_elastic_pool, pool)):
            for reason in unequal(pod):
                message = f"{pod} selects the elastic pool '{pool}', but {reason}; expected both equal and above 0."
                yield Finding(message, urn=resource.urn)


def _has_defaults(pod: PodFacts) -> bool:
    claims = (whole(pod), *containers(pod))
    return any(pod.annotation(key) for key in _DEFAULTED) or not any(
        one.states(name) for one in claims for name in COMPUTE
    )


def _is_elastic_pool(name: str, group: NodeGroupFacts) -> bool:
    return group.label(LabelKey.POOL) == name and group.is_elastic


_CEL_HAS_DEFAULTS = " || ".join(
    (
        *(f"variables.metadata.?annotations['{key}'].orValue('') != ''" for key in _DEFAULTED),
        cel_deciding(
            lambda owner: " && ".join(f"!{cel_request(owner, name)}.hasValue()" for name in COMPUTE), *COMPUTE
        ),
    )
)

RULE = Rule(
    id="RS-06",
    slug="work-on-elastic-pools-is-guaranteed",
    title="Pods that select an elastic pool should have requests equal to limits",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (auto-scaling works best with limit = request)",
    applies_to=WholeStack(),
    why="The autoscaler adds a node only when requests no longer fit, and pods with low requests overload a node "
    "earlier.",
    fix="Set CPU and memory requests equal to their limits.",
    check=check,
    admission=Admission(
        culprits=f"!({selected(LabelKey.POOL)} in params.spec.elasticPools) || {_CEL_HAS_DEFAULTS} ? [] : {CEL_UNEQUAL}"
    ),
)
