"""PL-08: a pod fits on one node of its pool."""

from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from components.contract.clusters import reserves
from components.contract.environments import Environment
from components.contract.fabric import EFA_RESOURCE, fabric_of
from components.contract.instances import InstanceType
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import NotJudgeableError, each
from policies.views.corrections import corrected
from policies.views.gpus import gpu_names
from policies.views.node_choice import may_run_on
from policies.views.node_groups import NodeGroupFacts, holders, node_groups, some_group
from policies.views.pods import PodFacts, pods
from policies.views.volume_claims import pod_request

_MIB = 2**20


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Compare each pod's requests with the machine types of the pools that it selects."""
    pools = holders(stack)
    if pools:
        yield from each(stack, lambda resource: each(pods(resource), partial(_too_large, pools, context)))


def _too_large(pools: list[Resource], context: Context, pod: PodFacts) -> Iterator[Finding]:
    if pod.is_system():
        return
    needs = {name: pod_request(pod, name) for name in ("cpu", "memory", EFA_RESOURCE, *gpu_names(context))}
    if not any(needs.values()):
        return
    pod = corrected(pod, context)
    if some_group(pools, lambda group: _has_room(pod, needs, group)):
        return
    groups = (group for resource in pools for group in node_groups(resource) if may_run_on(pod, group))
    machines = [(machine, group) for group in groups for machine in group.instances]
    # If no pool has the labels, PL-03 reports it.
    if machines:
        largest, group = max(machines, key=lambda each: (each[0].memory_mib, each[0].vcpus))
        asked = ", ".join(f"{_shown(name, need)} {name}" for name, need in needs.items() if need)
        given = ", ".join(f"{_shown(name, _room(name, largest, group))} {name}" for name, need in needs.items() if need)
        yield Finding(
            f"{pod} requests {asked}, but the largest node of its pool, {largest.name}, offers {given}.", urn=pod.urn
        )


def _has_room(pod: PodFacts, needs: dict[str, Decimal], group: NodeGroupFacts) -> bool:
    if not may_run_on(pod, group):
        return False
    if not group.instances:
        raise NotJudgeableError(group.location or group.name, "names no machine type")
    return any(all(need <= _room(name, machine, group) for name, need in needs.items()) for machine in group.instances)


def _room(name: str, machine: InstanceType, group: NodeGroupFacts) -> Decimal:
    kept = reserves(group.kind)
    match name:
        case "cpu":
            return Decimal(kept.allocatable_cpu_millis(machine)) / 1000
        case "memory":
            huge_pages = fabric_of(machine).huge_pages_mib if group.has_efa else 0
            return Decimal((kept.allocatable_memory_mib(machine) - huge_pages) * _MIB)
        case _:
            return Decimal(group.offers(name, machine))


def _shown(name: str, amount: Decimal) -> str:
    return f"{amount / _MIB:.0f}Mi" if name == "memory" else f"{amount.normalize():f}"


RULE = Rule(
    id="PL-08",
    slug="pod-fits-its-pool",
    title="A pod must fit on one node of its pool",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits",
    applies_to=WholeStack(),
    why="A pod that exceeds every node stays pending forever, and the autoscaler cannot help.",
    fix="Request less, or give the pool a larger machine type.",
    check=check,
)
