"""How many nodes the work of a record needs at most: for hints and for the first step of advice."""

import math
from collections import defaultdict

from workbench.rehearsal.amounts import most_at_once
from workbench.rehearsal.record import GroupFacts, PodRecord, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.specs import may_use, shape_of, too_small

DAEMON_SET = "daemon-set"


def daemon_load(record: Record, group: GroupFacts) -> tuple[int, int]:
    """Return the millicores and MiB that DaemonSets request on a node of a group: the most of any of its nodes."""
    nodes = {node.name for node in record.nodes if node.group == group.name}
    loads: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for pod in record.pods:
        if pod.node in nodes and pod.node and pod.kind == DAEMON_SET and pod.ended is None:
            loads[pod.node][0] += pod.cpu_millis
            loads[pod.node][1] += pod.memory_mib
    return max((load[0] for load in loads.values()), default=0), max((load[1] for load in loads.values()), default=0)


def share(pod: PodRecord, group: GroupFacts, load: tuple[int, int] = (0, 0)) -> float:
    """Return the part of an empty node that a pod takes, one divided by how many fit; 0 if it requests nothing."""
    pairs = [
        (pod.cpu_millis, group.cpu_millis - load[0]),
        (pod.memory_mib, group.memory_mib - load[1]),
        (pod.gpus, group.gpus),
    ]
    fits = [room // asked for asked, room in pairs if asked]
    return 1 / max(1, min(fits)) if fits else 0.0


def nodes_needed(record: Record, scenario: Scenario, pool: str) -> int:
    """Return the number of nodes with which no pod that fits the pool would wait for room; 0 if none fits.

    It assumes that every pod ran as soon as it was created. It also counts pods that fit other pools, so the number is
    an upper estimate that a search lowers.
    """
    groups = [group for group in record.groups if group.pool == pool]
    loads = {group.name: daemon_load(record, group) for group in groups}
    spans: list[tuple[float, float, float]] = []
    parts: dict[str, float | None] = {}
    for pod in record.pods:
        if pod.kind == DAEMON_SET:
            continue
        key = shape_of(pod)
        if key not in parts:
            fits = [group for group in groups if may_use(pod, group) and not too_small(pod, group)]
            parts[key] = min((share(pod, group, loads[group.name]) for group in fits), default=None)
        if (part := parts[key]) is not None:
            spans.append((pod.created, _end(pod, scenario, record.lasts), part))
    return math.ceil(round(most_at_once(spans), 6))


def _end(pod: PodRecord, scenario: Scenario, lasts: float) -> float:
    """Return when a pod would have ended if it had run at once."""
    work = scenario.works.get(pod.work)
    if pod.started is not None and pod.ended is not None:
        return pod.created + pod.ended - pod.started
    if work and work.runs_for is not None:
        return pod.created + work.runs_for
    return lasts if pod.ended is None else pod.ended
