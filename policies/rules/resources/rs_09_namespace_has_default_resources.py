"""RS-09: user namespaces have default requests and limits."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.pod_resources import EXPECTED
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import Value, each
from policies.views.namespaces import LIMIT_RANGE, container_defaults, default, is_user_namespace
from policies.views.objects import ByNamespace, by_namespace, name_of


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require exactly one LimitRange with defaults in each user namespace of the stack."""
    ranges = by_namespace(stack, LIMIT_RANGE)
    yield from each(stack, lambda resource: _check(resource, ranges))


def _check(namespace: Resource, limit_ranges: ByNamespace) -> Iterator[Finding]:
    if not is_user_namespace(namespace):
        return
    name = name_of(namespace)
    ranges = [container_defaults(limit_range) for limit_range in limit_ranges(name)]
    with_defaults = [defaults for defaults in ranges if any(_gives(defaults, *wanted) for wanted in EXPECTED)]
    joint: list[Value] = [item for defaults in ranges for item in defaults]
    missing = [".".join(wanted) for wanted in EXPECTED if not _gives(joint, *wanted)]
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
    title="User namespaces must set default requests and limits",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, CPU, GPU, and memory limits for user jobs (limits of the service)",
    applies_to=WholeStack(),
    why="Without defaults, a job without requests is placed anywhere and may take all memory of its node.",
    fix="Add one LimitRange with default and defaultRequest; see components/scheduling/namespaces.py.",
    check=check,
)
