"""Hints about room: pods larger than machines, full or fixed pools, capacity that the cloud refuses.

The scheduler says ``Insufficient cpu`` and ``Too many pods`` (kubernetes v1.36.3,
``pkg/scheduler/framework/plugins/noderesources/fit.go``); the autoscaler ``pod didn't trigger scale-up: 1 max node
group size reached, 2 Insufficient nvidia.com/gpu, 1 in backoff after failed scale-up`` (kubernetes/autoscaler 08b84e42,
``cluster-autoscaler/core/scaleup/orchestrator/skippedreasons.go``, and 16c271a3,
``processors/status/eventing_scale_up_processor.go``).
"""

from collections.abc import Iterator
from typing import Final

from components.contract.instances import INSTANCE_TYPES
from components.contract.pools import PoolRole
from workbench.rehearsal.record import GroupFacts, PodRecord
from workbench.rehearsal.scenario.events import CapacityRefused
from workbench.rehearsal.scenario.places import Place, is_in
from workbench.rehearsal.scenario.work import WorkKind
from workbench.rehearsal.verdicts.miss import Finders, Miss, machine_path, named, such_as
from workbench.rehearsal.verdicts.need import daemon_load, nodes_needed
from workbench.rehearsal.verdicts.nodes import peak
from workbench.rehearsal.verdicts.specs import limit_of, too_small
from workbench.rehearsal.verdicts.verdict import Hint
from workbench.rehearsal.verdicts.waits import wait_of
from workbench.report.words import count

_MAX: Final = (
    "max node group size reached",
    "max total nodes in cluster reached",
    "max cluster",
    "node limits have been exhausted",
    "exceed limits",
)
"""The last two are Karpenter's (kubernetes-sigs/karpenter v1.13.0, ``provisioning/scheduling/scheduler.go``)."""
_BACKOFF: Final = ("in backoff after failed scale-up", "not ready for scale-up")
_INSUFFICIENT: Final = ("Insufficient ", "Too many pods")
REFUSED_BY_CLOUD: Final = "The cloud refused nodes of pool"


def core_services(miss: Miss) -> Iterator[Hint]:
    """Recognise that core services request more than the initial group has."""
    waiting = [
        pod for pod in miss.record.pods if pod.node is None and pod.ended is None and pod.kind == WorkKind.CORE_SERVICE
    ]
    groups = [group for group in miss.record.groups if group.role == PoolRole.INITIAL.value]
    is_about_them = any(pod.kind == WorkKind.CORE_SERVICE for pod in miss.finding.pods)
    if not waiting or not groups or not is_about_them:
        return
    group = groups[0]
    cpu = sum(pod.cpu_millis for pod in waiting)
    memory = sum(pod.memory_mib for pod in waiting)
    yield Hint(
        cause=f"{count(len(waiting), 'pod')} of core services, such as {waiting[0].name}, wait: they request {cpu}m "
        f"CPU and {memory} MiB, for which the {count(group.max, 'node')} of the initial group have no room.",
        action="Raise size.min and size.max together, or choose a larger machine type.",
        path=f"pools.{group.pool}.size.max",
    )


def larger_than_machines(miss: Miss) -> Iterator[Hint]:
    """Recognise that one pod requests more CPU or memory than an empty machine of its pools allocates."""
    for pod in miss.shapes:
        groups = miss.open_groups(pod)
        short = [too_small(pod, group) for group in groups]
        if not groups or not all(short) or any("/" in name for names in short for name in names):
            continue
        group = max(groups, key=lambda each: (each.cpu_millis, each.memory_mib))
        for name in too_small(pod, group) or short[0]:
            unit, need, room = _amounts(pod, group, name)
            machine = INSTANCE_TYPES.get(group.instance_type)
            whole = 0 if machine is None else machine.vcpus * 1000 if name == "cpu" else machine.memory_mib
            reserved = f" after what is reserved for the system (of {whole}{unit})" if need <= whole else ""
            yield Hint(
                cause=f"A pod of {named(pod)} requests {need}{unit} {name}, and a node of the largest pool it may use, "
                f"{group.pool} ({group.instance_type or 'own machines'}), allocates {room}{unit}{reserved}.",
                action=f"Choose a larger machine type{such_as(group, pod)}, or request less.",
                path=machine_path(group),
            )


def _amounts(pod: PodRecord, group: GroupFacts, name: str) -> tuple[str, int, int]:
    if name == "cpu":
        return "m", pod.cpu_millis, group.cpu_millis
    return " MiB", pod.memory_mib, group.memory_mib


def daemon_sets(miss: Miss) -> Iterator[Hint]:
    """Recognise that a pod fits an empty node, but not together with the DaemonSets that run on each."""
    for pod in miss.shapes:
        for group in miss.fitting(pod):
            cpu, memory = daemon_load(miss.record, group)
            left_cpu, left_memory = group.cpu_millis - cpu, group.memory_mib - memory
            if pod.cpu_millis > left_cpu or pod.memory_mib > left_memory:
                yield Hint(
                    cause=f"A pod of {named(pod)} requests {pod.cpu_millis}m CPU and {pod.memory_mib} MiB; DaemonSets "
                    f"leave {left_cpu}m and {left_memory} MiB of a node of pool {group.pool}.",
                    action=f"Choose a larger machine type{such_as(group, pod)}, or request less.",
                    path=machine_path(group),
                )


def too_many_pods(miss: Miss) -> Iterator[Hint]:
    """Recognise that nodes have CPU and memory, but have reached their maximum number of pods."""
    for pod, _ in [*miss.said("Too many pods")][:1]:
        for group in miss.fitting(pod)[:1]:
            yield Hint(
                cause=f"Nodes of pool {group.pool} already run as many pods as they may, though CPU and memory are "
                "left.",
                action="Choose a larger machine type or raise size.max: the number of pods on a node is limited.",
                path=f"pools.{group.pool}.size.max",
            )


def capacity_refused(miss: Miss) -> Iterator[Hint]:
    """Recognise that the cloud starts no further node of the types that the pool has."""
    backoff = {pod.uid for pod, _ in miss.said(*_BACKOFF)}
    for pod in miss.shapes:
        if pod.uid not in backoff:
            continue
        places = _refused_while_it_waited(miss, pod)
        for group in miss.fitting(pod):
            pool = miss.config.pools.get(group.pool)
            if pool is None or not group.is_elastic or not pool.instance_types:
                continue
            if places and not any(is_in(group, place) for place in places):
                continue
            types = pool.instance_types
            few = len(types) == 1
            yield Hint(
                cause=f"{REFUSED_BY_CLOUD} {group.pool}"
                + (f", which has the single machine type {types[0]}." if few else f" ({', '.join(types)})."),
                action="Add machine types of another family: one shortage then does not stop the pool.",
                path=f"pools.{group.pool}.instanceTypes",
            )


def _refused_while_it_waited(miss: Miss, pod: PodRecord) -> list[Place]:
    """Return the places of the events that refused nodes while a pod waited."""
    until = pod.created + wait_of(pod, miss.record.lasts)
    return [
        event.place
        for event in miss.scenario.events
        if isinstance(event, CapacityRefused) and event.at < until and event.at + event.lasts > pod.created
    ]


def full_pools(miss: Miss) -> Iterator[Hint]:
    """Recognise that the pools that fit are at their maximum, or have a fixed size."""
    full = {pod.uid for pod, _ in miss.said(*_MAX)}
    short = {pod.uid for pod, _ in miss.said(*_INSUFFICIENT)}
    for pod in miss.shapes:
        if pod.uid not in full | short and pod.reasons:
            continue
        groups = [group for group in miss.fitting(pod) if _is_at_max(miss, group) and (full or _is_short(miss, group))]
        for group in groups:
            need = max(nodes_needed(miss.record, miss.scenario, group.pool), group.max + 1)
            if group.is_elastic:
                cause = (
                    f"Pool {group.pool} reached its maximum of {count(group.max, 'node')}"
                    + (f" in zone {group.zone}" if group.zone else "")
                    + f" while pods of {named(pod)} waited; without waiting they would need about {need}."
                )
                action = f"Raise size.max to at most {need}."
            else:
                cause = (
                    f"Pool {group.pool} has a fixed size of {count(group.max, 'node')}, so the autoscaler adds none; "
                )
                cause += f"the work of {named(pod)} would need about {need}."
                action = "Raise size.max above size.min, so that the pool grows, or both to keep it fixed."
            yield Hint(cause=cause, action=action, path=f"pools.{group.pool}.size.max")
        work = miss.scenario.works.get(pod.work)
        if groups and work and work.kind is WorkKind.MPI:
            yield Hint(
                cause=f"The {work.workers} workers of {pod.work} must run at the same time, and pool {groups[0].pool} "
                "has room for fewer.",
                action="Raise size.max of the pool, or lower the number of workers.",
                path=miss.field(pod.work, "workers"),
            )


def _is_short(miss: Miss, group: GroupFacts) -> bool:
    """Return whether the pool of a group may need more nodes: with its maximum reached it can still be large enough."""
    room = sum(each.max for each in miss.record.groups if each.pool == group.pool)
    return not group.is_elastic or nodes_needed(miss.record, miss.scenario, group.pool) > room


def _is_at_max(miss: Miss, group: GroupFacts) -> bool:
    nodes = [node for node in miss.record.nodes if node.group == group.name]
    return not group.is_elastic or peak(nodes, miss.record.lasts) >= group.max


def limits_exceed_nodes(miss: Miss) -> Iterator[Hint]:
    """Recognise that pods fit by their requests, but may use more memory than their nodes have."""
    by_node: dict[str, list[PodRecord]] = {}
    for pod in miss.record.pods:
        if pod.node and pod.started is not None:
            by_node.setdefault(pod.node, []).append(pod)
    seen: set[str] = set()
    for pod in miss.finding.pods:
        node = miss.record.node(pod.node)
        if node is None or node.name in seen:
            continue
        seen.add(node.name)
        beside = [
            each for each in by_node.get(node.name, ()) if each.ended is None or each.ended > (pod.started or 0.0)
        ]
        limits = sum(float(limit_of(each.spec, "memory")) for each in beside) / 2**20
        asked = sum(each.memory_mib for each in beside)
        if limits > node.memory_mib >= asked:
            yield Hint(
                cause=f"On {node.name} the pods request {asked} MiB together, but their limits allow {limits:.0f} MiB "
                f"of {node.memory_mib} MiB: they fit by request, and on a real node may be killed. The rehearsal does "
                "not simulate memory pressure.",
                action="Raise the memory request of the work to what it uses.",
                path=miss.field(pod.work, "memory"),
            )
            return


FINDERS: Final[Finders] = (
    core_services,
    larger_than_machines,
    daemon_sets,
    too_many_pods,
    capacity_refused,
    full_pools,
    limits_exceed_nodes,
)
