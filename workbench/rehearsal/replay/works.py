"""Groups units of equal shape into works, and writes both as a scenario's YAML has them."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.contract.gpus import DEFAULT_GPU_RESOURCE, is_part_of_gpu
from components.contract.labels import label_key_grammar_problem, label_value_problem
from components.contract.priorities import UserPriority
from workbench.rehearsal.replay.observed import Shape
from workbench.rehearsal.replay.units import Unit
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.kinds import KINDS_OF_KEY
from workbench.rehearsal.scenario.model import WORKS_MAX
from workbench.rehearsal.scenario.work import NAME_MAX, WorkKind

Yaml = dict[str, Any]

RATIOS: Final = (1.25, 2.0, 4.0, math.inf)
"""Run times that differ by at most this factor are averaged; the first with at most ``WORKS_MAX`` works is used."""

_GPUS_MAX: Final = 16
_GIB: Final = 1024
_CORE: Final = 1000
_STEADY_MIN: Final = 3
"""Minimum number of units at equal intervals for which one arrival is written."""


@dataclass(frozen=True)
class Group:
    """Units of one work."""

    name: str
    units: tuple[Unit, ...]

    @property
    def runs_for(self) -> int | None:
        """Mean run time in seconds; None if its units do not end by themselves."""
        runs = [unit.runs for unit in self.units if unit.runs is not None]
        return max(1, round(sum(runs) / len(runs))) if runs else None


def groups_of(units: Iterable[Unit]) -> tuple[list[Group], float]:
    """Return the works of the units, and the factor by which averaged run times differ at most."""
    units = list(units)
    found: list[list[Unit]] = []
    ratio = RATIOS[-1]
    for ratio in RATIOS:
        for has_team in (True, False) if ratio == RATIOS[-1] else (True,):
            found = _grouped(units, ratio, has_team=has_team)
            if len(found) <= WORKS_MAX:
                return list(_named(found)), ratio
    return list(_named(found)), ratio


def _grouped(units: Iterable[Unit], ratio: float, *, has_team: bool) -> list[list[Unit]]:
    found: defaultdict[Hashable, list[Unit]] = defaultdict(list)
    for unit in units:
        bucket = -1 if unit.runs is None else 0 if math.isinf(ratio) else round(math.log(unit.runs, ratio))
        team = unit.origin.team if has_team else ""
        found[unit.origin.kind, team, unit.shape, unit.workers, bucket].append(unit)
    return [sorted(each, key=lambda unit: (unit.at, unit.stays or 0)) for each in found.values()]


def _named(found: Iterable[list[Unit]]) -> Iterator[Group]:
    used: set[str] = set()
    for units in found:
        bases = {unit.origin.base for unit in units}
        base = re.sub(r"[^a-z0-9]+", "-", bases.pop().lower()) if len(bases) == 1 else ""
        wanted = base.strip("-")[: NAME_MAX - 4].strip("-") or str(units[0].origin.kind)
        name, number = wanted, 1
        while name in used:
            number += 1
            name = f"{wanted}-{number}"
        used.add(name)
        yield Group(name, tuple(units))


def work_of(group: Group) -> Yaml:
    """Return a group's work."""
    first = group.units[0]
    kind, shape = first.origin.kind, first.shape
    teams = {unit.origin.team for unit in group.units}
    team = teams.pop() if len(teams) == 1 else ""
    wanted: Yaml = {
        "kind": str(kind),
        "cpu": _cpu(shape.cpu),
        "cpuLimit": _cpu(shape.cpu_limit) if _is_more(shape.cpu_limit, shape.cpu) else None,
        "memory": _memory(shape.memory),
        "memoryLimit": _memory(shape.memory_limit) if _is_more(shape.memory_limit, shape.memory) else None,
        "gpuSlices" if is_part_of_gpu(shape.gpu_resource) else "gpus": min(shape.gpus, _GPUS_MAX),
        "workers": first.workers if first.workers > 1 else None,
        "runsFor": duration_text(group.runs_for) if group.runs_for else None,
        **_priority(shape.priority_class),
        "mode": shape.mode,
        "nodeSelector": _valid(shape.selector),
        "tolerations": [json.loads(each) for each in shape.tolerations],
        "labels": _valid(shape.labels),
        "team": team if team and not label_value_problem(team) else None,
    }
    if kind is WorkKind.POD:
        wanted["pod"] = _pod(shape)
    return {key: value for key, value in wanted.items() if value and kind in KINDS_OF_KEY.get(key, WorkKind)}


def _is_more(limit: int | None, request: int | None) -> bool:
    return limit is not None and limit > (request or 0)


def _cpu(millis: int | None) -> str | None:
    if not millis:
        return None
    return str(millis // _CORE) if millis % _CORE == 0 else f"{millis}m"


def _memory(mib: int | None) -> str | None:
    if not mib:
        return None
    return f"{mib // _GIB}Gi" if mib % _GIB == 0 else f"{mib}Mi"


def _priority(name: str) -> Yaml:
    return {"priority": name} if name in list(UserPriority) else {"priorityClass": name}


def _valid(labels: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {
        key: value for key, value in labels if not label_key_grammar_problem(key) and not label_value_problem(value)
    }


def _pod(shape: Shape) -> Yaml:
    """Return the spec of a pod of a shape; its image is a name that is never pulled."""
    gpus = {shape.gpu_resource or DEFAULT_GPU_RESOURCE: str(shape.gpus)} if shape.gpus else {}
    requests = {"cpu": _cpu(shape.cpu), "memory": _memory(shape.memory), **gpus}
    limits = {"cpu": _cpu(shape.cpu_limit), "memory": _memory(shape.memory_limit), **gpus}
    resources = {
        name: kept
        for name, amounts in (("requests", requests), ("limits", limits))
        if (kept := {key: amount for key, amount in amounts.items() if amount})
    }
    container: Yaml = {"name": "main", "image": "replayed"}
    spec: Yaml = {
        "restartPolicy": "Never",
        "containers": [{**container, "resources": resources} if resources else container],
        "nodeSelector": _valid(shape.selector),
        "tolerations": [json.loads(each) for each in shape.tolerations],
        "priorityClassName": shape.priority_class,
    }
    return {key: value for key, value in spec.items() if value}


def arrivals_of(group: Group) -> Iterator[Yaml]:
    """Yield a group's arrivals: each unit at its own second, units at equal intervals together."""
    units, index = group.units, 0
    while index < len(units):
        count, step = _steady(units, index)
        yield _arrival(group.name, units[index], count, step)
        index += count


def _steady(units: tuple[Unit, ...], index: int) -> tuple[int, int]:
    """Return how many units from ``index`` on arrive at equal intervals and stay equally long, and the interval."""
    first = units[index]
    if index + 1 == len(units):
        return 1, 0
    step, count = units[index + 1].at - first.at, 1
    while (
        index + count < len(units)
        and units[index + count].at - first.at == count * step
        and units[index + count].stays == first.stays
    ):
        count += 1
    return (count, step) if step == 0 or count >= _STEADY_MIN else (1, 0)


def _arrival(name: str, unit: Unit, count: int, step: int) -> Yaml:
    wanted: Mapping[str, Any] = {
        "work": name,
        "at": duration_text(unit.at) if unit.at else None,
        "count": count if count > 1 else None,
        "every": duration_text(step) if step else None,
        "stays": duration_text(unit.stays) if unit.stays else None,
    }
    return {key: value for key, value in wanted.items() if value is not None}
