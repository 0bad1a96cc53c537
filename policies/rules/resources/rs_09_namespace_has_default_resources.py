"""RS-09: user namespaces have default requests."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.pod_resources import EXPECTED
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import Value, each
from policies.views.namespaces import LIMIT_RANGE, container_defaults, default, is_user_namespace
from policies.views.objects import ByNamespace, by_namespace, name_of

_EXPECTED: Final = tuple((side, name) for side, name in EXPECTED if side == "requests")


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require exactly one LimitRange with default requests in each user namespace of the stack.

    Default limits are not required: one that is below a pod's request makes the pod invalid. RS-01 requires limits.
    """
    ranges = by_namespace(stack, LIMIT_RANGE)
    yield from each(stack, lambda resource: _check(resource, ranges))


def _check(namespace: Resource, limit_ranges: ByNamespace) -> Iterator[Finding]:
    if not is_user_namespace(namespace):
        return
    name = name_of(namespace)
    ranges = [container_defaults(limit_range) for limit_range in limit_ranges(name)]
    with_defaults = [defaults for defaults in ranges if any(_gives(defaults, *wanted) for wanted in _EXPECTED)]
    joint: list[Value] = [item for defaults in ranges for item in defaults]
    missing = [".".join(wanted) for wanted in _EXPECTED if not _gives(joint, *wanted)]
    if missing:
        yield Finding(f"Namespace '{name}' has no default {', '.join(missing)}; expected all.", urn=namespace.urn)
    elif len(with_defaults) > 1:
        found = f"Namespace '{name}' has {len(with_defaults)} LimitRanges with defaults; expected one"
        yield Finding(f"{found}, because it is undefined which one applies.", urn=namespace.urn)


def _gives(defaults: list[Value], side: str, name: str) -> bool:
    return default(defaults, side, name) is not None


RULE = Rule(
    id="RS-09",
    slug="namespace-has-default-resources",
    title="User namespaces must set default requests",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, CPU, GPU, and memory limits for user jobs (limits of the service)",
    applies_to=WholeStack(),
    why="Without defaults, a job without requests is placed anywhere, and a quota on requests rejects it.",
    fix="Add one LimitRange with defaultRequest; see components/scheduling/namespaces.py.",
    check=check,
)
