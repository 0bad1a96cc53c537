"""Plays a scenario on a simulated cluster: sends work and events at their times, and records what happens to them."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Final

from components.contract.headroom import HEADROOM
from workbench.rehearsal.cluster.objects import wait_for_kind
from workbench.rehearsal.cluster.simulated import ApiError, SimulatedCluster
from workbench.rehearsal.play import labels, mpi_jobs
from workbench.rehearsal.play.agenda import Agenda, Clock, Steps
from workbench.rehearsal.play.arrived import ArrivedUnits
from workbench.rehearsal.play.authors import accounts
from workbench.rehearsal.play.chronicle import Chronicle
from workbench.rehearsal.play.node_events import capacity_refused, node_failure, rolling_upgrade, spot_reclaim
from workbench.rehearsal.play.objects import Objects
from workbench.rehearsal.play.office_hours import office_hours_end
from workbench.rehearsal.play.recording import record_of
from workbench.rehearsal.play.site import Site, quietly
from workbench.rehearsal.play.traffic import Traffic
from workbench.rehearsal.play.units import Request, Unit, volume
from workbench.rehearsal.record import Record, Refusal
from workbench.rehearsal.scenario.arrivals import Arrival
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.events import (
    CapacityRefused,
    Event,
    Load,
    NodeFailure,
    OfficeHoursEnd,
    RollingUpgrade,
    Scale,
    SpotReclaim,
)
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.scenario.work import WorkKind

_UNIT_THREADS: Final = 16
"""Threads that create units: on a busy machine a request takes a tenth of a second, mostly the API server's."""

_EVENT_THREADS: Final = 6
"""Threads for events and operators, which must not wait for many units."""

_LATE: Final = 60.0
"""Seconds of the scenario by which units may arrive late before the record says so."""

_STEP: Final = 0.05
"""Longest real time between two checks for due actions."""

_CHECK: Final = 1.0
"""Real seconds between two checks of the control plane's processes, and between two reports of progress."""

_SETTLED: Final = 60.0
"""Real seconds that the player waits until watches have reported all nodes, and until volumes are bound."""


@dataclass(frozen=True)
class Progress:
    """How far a scenario is.

    Parameters
    ----------
    at, lasts
        Seconds of the scenario that have passed, and its length.
    running, waiting, nodes
        Pods of the scenario that run and that wait, and nodes.
    """

    at: float
    lasts: float
    running: int
    waiting: int
    nodes: int


def play(
    cluster: SimulatedCluster,
    scenario: Scenario,
    progress: Callable[[Progress], None] = lambda _: None,
    ticks: Callable[[], float] = time.monotonic,
) -> Record:
    """Play a scenario to its end and return the record.

    Parameters
    ----------
    cluster
        A fresh cluster of the stack.
    scenario
        What to play.
    progress
        Is called every second, from this thread.
    ticks
        Real time, for tests.

    Raises
    ------
    LostError
        The control plane has ended or does not answer.
    ApiError
        The API server refuses an object of the rehearsal itself.
    KeyboardInterrupt
        The user stopped it; all watches and threads have ended then.
    """
    player = _Player(cluster, scenario, ticks)
    try:
        player.prepare()
        player.run(progress)
    finally:
        player.close()
    return player.record


class _Player:
    def __init__(self, cluster: SimulatedCluster, scenario: Scenario, ticks: Callable[[], float]) -> None:
        self._cluster = cluster
        self._scenario = scenario
        self._clock = Clock(cluster.pace, ticks)
        self._agenda = Agenda()
        """Events of the scenario, and what operators do later."""
        self._arrivals = Agenda()
        self._objects = Objects(cluster.config, cluster.pace, cluster.scaler)
        self._chronicle = Chronicle(cluster, self._clock)
        self._site = Site(cluster, self._chronicle, self._clock)
        self._traffic = Traffic(cluster, self._chronicle)
        self._arrived = ArrivedUnits(cluster.api, self._chronicle, self._objects, self._create)
        self._unit_threads = ThreadPoolExecutor(_UNIT_THREADS, thread_name_prefix="play units")
        self._event_threads = ThreadPoolExecutor(_EVENT_THREADS, thread_name_prefix="play events")
        self._done: SimpleQueue[Future[None]] = SimpleQueue()
        self._units: dict[str, list[Unit]] = defaultdict(list)
        self._lateness = 0.0
        self._stopped = threading.Event()
        self._record: Record | None = None

    def prepare(self) -> None:
        """Create the authors' accounts and the kind of MPI jobs, and wait until the watches have what exists."""
        for each in accounts(self._cluster.config.namespaces):
            self._cluster.api.apply(each)
        if any(work.kind is WorkKind.MPI for work in self._scenario.works.values()):
            self._cluster.api.apply(mpi_jobs.DEFINITION)
            wait_for_kind(self._cluster.api, mpi_jobs.DEFINITION)
        self._chronicle.start(scales=any(work.scales for work in self._scenario.works.values()))
        existing = {
            each["metadata"]["uid"]
            for path in ("/api/v1/nodes", "/api/v1/pods")
            for each in self._cluster.api.get(path)["items"]
            if each["metadata"].get("namespace") != HEADROOM
        }
        # What is seen after the start would count as created after it: core services would not have run from the start.
        self._settle(lambda: existing <= self._chronicle.seen)
        for arrival in self._scenario.arrivals:
            self._plan(arrival)
        self._bind_volumes()
        units = (unit for units in self._units.values() for unit in units)
        self._traffic.serve([unit.name for unit in units if unit.work.scales])
        for event in self._scenario.events:
            self._agenda.add_steps(event.at, self._event(event), self._now)

    def _bind_volumes(self) -> None:
        """Create the volumes of all units, and wait until they are bound: a second would count as a waiting minute."""
        units = [unit for units in self._units.values() for unit in units if unit.work.volume]
        made = [unit for unit in units if all(self._create(unit, each, 0) for each in volume(unit))]
        paths = {f"/api/v1/namespaces/{unit.namespace}/persistentvolumeclaims" for unit in made}
        names = {unit.claim for unit in made}
        self._settle(
            lambda: all(
                each.get("status", {}).get("phase") == "Bound"
                for path in paths
                for each in self._cluster.api.get(path)["items"]
                if each["metadata"]["name"] in names
            )
        )

    def _settle(self, is_settled: Callable[[], bool]) -> None:
        """Wait until the cluster has settled, up to a limit: the record shows what has not."""
        deadline = time.monotonic() + _SETTLED
        while not is_settled() and time.monotonic() < deadline:
            self._check()
            time.sleep(_STEP)

    def _plan(self, arrival: Arrival) -> None:
        work = self._scenario.works[arrival.work]
        for moment in arrival.moments:
            unit = self._objects.unit(arrival.work, work, len(self._units[arrival.work]))
            self._units[arrival.work].append(unit)
            self._arrivals.add_steps(moment, self._life(unit, moment, arrival.stays), self._now)

    def run(self, progress: Callable[[Progress], None]) -> None:
        """Play until the scenario ends."""
        self._clock.start()
        lasts, looked = float(self._scenario.lasts), float("-inf")
        while (now := self._clock.now) < lasts:
            for action in self._arrivals.due(now):
                self._submit(action, self._unit_threads)
            for action in self._agenda.due(now):
                self._submit(action, self._event_threads)
            for unit in self._chronicle.changed():
                for reaction in self._arrived.reactions(unit, now, self._agenda):
                    self._submit(reaction, self._event_threads)
            self._raise_failures()
            tick = self._clock.ticks()
            if tick - looked >= _CHECK:
                looked = tick
                self._check()
                progress(Progress(now, lasts, *self._chronicle.counts))
            self._rest(now, lasts)
        self._record = self._recorded()
        progress(Progress(lasts, lasts, *self._chronicle.counts))

    def _rest(self, now: float, lasts: float) -> None:
        until = min(lasts, *(each.next or lasts for each in (self._arrivals, self._agenda)))
        self._stopped.wait(min(max(self._cluster.pace.real(until - now), 0.002), _STEP))

    def _check(self) -> None:
        self._cluster.check()
        if self._chronicle.problem:
            raise self._chronicle.problem

    def _submit(self, action: Callable[[], object], threads: ThreadPoolExecutor) -> None:
        threads.submit(self._unless_stopped, action).add_done_callback(self._done.put)

    def _unless_stopped(self, action: Callable[[], object]) -> None:
        if not self._stopped.is_set():
            action()

    def _raise_failures(self) -> None:
        """Raise the errors of other threads."""
        with suppress(Empty):
            while True:
                self._done.get_nowait().result()

    def _now(self) -> float:
        return self._clock.now

    def _life(self, unit: Unit, moment: float, stays: int | None) -> Steps:
        """Create a unit that is due at a moment, and delete it when it has stayed long enough."""
        self._arrived.add(unit, self._clock.now, self._agenda)
        missing = unit.work.pods
        for request in self._objects.arriving(unit):
            made = self._create(unit, request, missing if request.makes_pods else 0)
            self._lateness = max(self._lateness, self._clock.now - moment)
            if not made:
                return
            missing -= request.kind == "Pod"
        if stays:
            yield stays
            self._chronicle.mark_unit(unit.name, "the scenario")
            self._arrived.delete(unit)

    def _create(self, unit: Unit, request: Request, missing: int) -> bool:
        """Send an object and return whether it was accepted; note a refusal, and the pods that are missing then."""
        if request.kind in {"Deployment", "Job"}:
            self._chronicle.owns(request.name, unit.name)
            self._chronicle.wants(unit.name, unit.work.pods)
        try:
            manifest = self._arrived.owned(unit, request.manifest)
            made = self._cluster.api.create(manifest, as_user=request.author.user, as_groups=request.author.groups)
        except ApiError as error:
            about = (unit.work_name, unit.name, request.kind, request.name, error.message)
            self._chronicle.refused(Refusal(self._clock.now, *about, missing))
            return False
        self._arrived.note_created(unit, request, made)
        return True

    def _event(self, event: Event) -> Steps:
        if isinstance(event, SpotReclaim):
            return spot_reclaim(self._site, event)
        if isinstance(event, NodeFailure):
            return node_failure(self._site, event)
        if isinstance(event, CapacityRefused):
            return capacity_refused(self._site, event)
        if isinstance(event, OfficeHoursEnd):
            return office_hours_end(self._site, event)
        if isinstance(event, RollingUpgrade):
            return rolling_upgrade(self._site, event)
        return self._load(event) if isinstance(event, Load) else self._scale(event)

    def _load(self, event: Load) -> Iterator[float]:
        for unit in self._units[event.work]:
            self._traffic.change(unit.name, event.cpu)
        self._chronicle.happened(event.event, f"traffic of {event.work} needs {event.cpu} CPU")
        yield from ()

    def _scale(self, event: Scale) -> Iterator[float]:
        for unit in self._units[event.work]:
            for path in self._arrived.deployments(unit):
                self._chronicle.wants(unit.name, event.replicas)
                quietly(self._cluster.api.patch, path, {"spec": {"replicas": event.replicas}})
        self._chronicle.happened(event.event, f"{event.work} to {event.replicas} replicas")
        yield from ()

    def _recorded(self) -> Record:
        lasts = float(self._scenario.lasts)
        planned = {work: [unit.name for unit in units] for work, units in self._units.items()}
        teams = {labels.label_value(name): work.team for name, work in self._scenario.works.items()}
        found = record_of(self._chronicle, lasts=lasts, units=planned, teams=teams)
        return replace(found, assumptions=(*found.assumptions, *self._traffic.assumptions, *self._lateness_note()))

    def _lateness_note(self) -> Iterator[str]:
        absent = sum(not self._arrived.has(unit) for units in self._units.values() for unit in units)
        if self._lateness > _LATE or absent:
            yield (
                f"Units arrived up to {duration_text(self._lateness)} late, and {absent} not at all, because the "
                "control plane is slower than the scenario: rehearse at a lower speed, or on a faster machine."
            )

    def close(self) -> None:
        """End all threads and watches."""
        self._stopped.set()
        for each in (self._unit_threads, self._event_threads):
            each.shutdown(wait=True, cancel_futures=True)
        self._traffic.close()
        self._chronicle.close()

    @property
    def record(self) -> Record:
        """The record of a scenario that was played to its end."""
        if self._record is None:
            raise RuntimeError("the scenario has not ended")
        return self._record
