"""PL-03: some pool has all the labels that a pod demands together."""

from collections.abc import Iterator
from functools import partial

from policies.resource import Resource, Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import each, some
from policies.views.node_choice import demands, may_run_on
from policies.views.node_groups import holders, makes_groups, some_group
from policies.views.pods import PodFacts, pods


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand one group with every label, for each pod that asks for labels, where the stack makes groups."""
    pools = holders(stack)
    if makes_groups(pools):
        yield from each(stack, lambda resource: each(pods(resource), partial(_unmet, pools)))


def _unmet(pools: list[Resource], pod: PodFacts) -> Iterator[Finding]:
    # A DaemonSet waits for nodes by design.
    if pod.kind == "DaemonSet" or pod.is_system() or not some(demands(pod), lambda _: True):
        return
    if not some_group(pools, lambda group: may_run_on(pod, group)):
        asked = ", ".join(sorted({demand.key for demand in demands(pod)}))
        yield Finding(f"{pod} asks for {asked} as no pool of the stack has them together.", urn=pod.urn)


RULE = Rule(
    id="PL-03",
    slug="selector-can-be-met",
    title="Some pool has all the labels that a pod asks for",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector",
    applies_to=WholeStack(),
    why="A node must carry every label at once; without such a pool the pod waits for ever and nothing scales up.",
    fix="Ask for labels that one pool has together, or add such a pool.",
    check=check,
)
