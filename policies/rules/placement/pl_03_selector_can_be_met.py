"""PL-03: a pool exists with all the labels that a pod selects."""

from collections.abc import Iterator
from functools import partial

from policies.resource import Resource, Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import each, some
from policies.views.node_choice import demands, may_run_on
from policies.views.node_groups import holders, makes_groups, some_group
from policies.views.pods import PodFacts, pods


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require, for each pod with a node selector, a group with all its labels, in stacks that create groups."""
    pools = holders(stack)
    if makes_groups(pools):
        yield from each(stack, lambda resource: each(pods(resource), partial(_unmet, pools)))


def _unmet(pools: list[Resource], pod: PodFacts) -> Iterator[Finding]:
    # A DaemonSet waits for nodes by design.
    if pod.kind == "DaemonSet" or pod.is_system() or not some(demands(pod), lambda _: True):
        return
    if not some_group(pools, lambda group: may_run_on(pod, group)):
        asked = ", ".join(sorted({demand.key for demand in demands(pod)}))
        yield Finding(f"{pod} selects {asked}, but no pool of the stack has all of these labels.", urn=pod.urn)


RULE = Rule(
    id="PL-03",
    slug="selector-can-be-met",
    title="A pool must exist with all the labels that a pod selects",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector",
    applies_to=WholeStack(),
    why="A pod runs only on a node with all selected labels. Without such a pool it stays pending, and no pool "
    "scales up.",
    fix="Select labels that one pool has, or add a pool with these labels.",
    check=check,
)
