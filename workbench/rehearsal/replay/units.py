"""Turns pods into the units of a scenario."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from workbench.rehearsal.amounts import most_at_once
from workbench.rehearsal.replay.observed import End, Observed, Origin, Shape
from workbench.rehearsal.replay.statuses import SERVICES

Window = tuple[float, float]
"""Start and end in seconds since 1970."""

WORKERS_MAX: Final = 500
"""Maximum number of workers of a unit."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One unit, in seconds since the scenario's start.

    Parameters
    ----------
    origin, shape, workers
        What created it, what its pods request, and its number of workers.
    at
        When it arrives; 0 if it ran before.
    runs
        How long it worked until it ended by itself; None if it did not.
    stays
        When it was deleted, counted from its arrival; None if it was not.
    is_completed
        Whether it ended with success.
    waits
        How long its pods waited until they were placed.
    unplaced
        Pods that were never placed.
    """

    origin: Origin
    shape: Shape
    workers: int = 1
    at: int
    runs: int | None = None
    stays: int | None = None
    is_completed: bool = False
    waits: tuple[float, ...] = ()
    unplaced: int = 0


def units_of(pods: Iterable[Observed], start: float, end: float, counts: Counter[str]) -> Iterator[Unit]:
    """Yield the units of the pods that run between two moments.

    Parameters
    ----------
    pods
        All pods.
    start, end
        Seconds since 1970.
    counts
        Receives what had to be simplified, each with its number.
    """
    apps: defaultdict[tuple[str, str], list[Observed]] = defaultdict(list)
    for pod in pods:
        if pod.created > end or (pod.ended is not None and pod.ended <= start):
            continue
        if pod.origin.app:
            apps[pod.origin.kind, pod.origin.app].append(pod)
        else:
            yield _unit(pod, [pod], 1, pod.shape, (start, end))
    for members in apps.values():
        for run in _runs(sorted(members, key=lambda pod: pod.created)):
            yield _app(run, (start, end), counts)


def _runs(members: list[Observed]) -> Iterator[list[Observed]]:
    """Yield the pods of each run of an application whose name is used again."""
    run: list[Observed] = []
    for pod in members:
        if run and all(each.ended is not None and each.ended <= pod.created for each in run):
            yield run
            run = []
        run.append(pod)
    yield run


def _app(members: list[Observed], window: Window, counts: Counter[str]) -> Unit:
    leader = next((pod for pod in members if pod.origin.is_leader), None)
    workers = [pod for pod in members if not pod.origin.is_leader] or members
    shape = max((pod.shape for pod in workers), key=lambda each: (each.gpus, each.memory or 0, each.cpu or 0))
    if len({(pod.shape.cpu, pod.shape.memory) for pod in members}) > 1:
        counts["Applications with pods of several sizes (all their pods get that of the largest worker)"] += 1
    spans = ((pod.created, math.inf if pod.ended is None else pod.ended, 1) for pod in workers)
    size = max(1, int(most_at_once(spans)))
    if size > WORKERS_MAX:
        counts[f"Applications with more than {WORKERS_MAX} workers (they get {WORKERS_MAX})"] += 1
    return _unit(leader or max(members, key=lambda pod: pod.ended or float("inf")), members,
                 min(size, WORKERS_MAX), shape, window)  # fmt: skip


def _unit(main: Observed, pods: list[Observed], workers: int, shape: Shape, window: Window) -> Unit:
    start, end = window
    arrival = max(start, min(pod.created for pod in pods))
    new = [pod for pod in pods if pod.created >= start and pod.is_new]
    waits = tuple(pod.wait for pod in new if pod.wait is not None)
    ended = main.ended if main.ended is not None and main.ended <= end else None
    is_deleted = main.end is End.DELETED or main.origin.kind in SERVICES
    began = next((at for at in (main.started, main.scheduled) if at is not None), main.created)
    return Unit(
        origin=main.origin,
        shape=shape,
        workers=workers,
        at=round(arrival - start),
        runs=None if ended is None or is_deleted else max(1, round(ended - max(began, start))),
        stays=max(1, round(ended - arrival)) if ended is not None and is_deleted else None,
        is_completed=main.end is End.COMPLETED and not is_deleted,
        waits=waits,
        unplaced=sum(pod.wait is None for pod in new if pod.ended is None or pod.end is End.DELETED),
    )
