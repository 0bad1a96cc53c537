"""Actions of operators and users that no controller of the simulated cluster performs.

Spark, MPI, Argo, MLRun's monitoring, and the user who starts a lost notebook again.

Sources: apache/spark v3.5 ``resource-managers/kubernetes/core`` (``ExecutorPodsAllocator``); kubeflow/mpi-operator
db6930dc ``pkg/controllers/v1/mpi_job_controller.go``; argoproj/argo-workflows v3.4.17 ``workflow/controller``;
mlrun/mlrun c43870ff ``server/api/runtime_handlers``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from workbench.rehearsal.play import labels
from workbench.rehearsal.play.objects import Objects
from workbench.rehearsal.play.observed import ObservedPod
from workbench.rehearsal.play.units import Request, Unit
from workbench.rehearsal.record import PodEnd
from workbench.rehearsal.scenario.work import WorkKind

NOW: Final = "0ms"


@dataclass(frozen=True)
class Create:
    """Create an object."""

    request: Request
    missing: int = 1
    """Pods that the unit lacks if it is refused."""


@dataclass(frozen=True)
class RunFor:
    """Let a pod succeed after this time: ``value`` is one of ``labels.RUN_FOR``."""

    pod: ObservedPod
    value: str


@dataclass(frozen=True)
class Fail:
    """Let a pod fail."""

    pod: ObservedPod
    message: str


@dataclass(frozen=True)
class Remove:
    """Delete a pod."""

    pod: ObservedPod


@dataclass(frozen=True)
class Later:
    """Check the unit again after so many seconds of the scenario."""

    seconds: float


Action = Create | RunFor | Fail | Remove | Later


class Operator(Protocol):
    """Decides what to do whenever the pods of one unit change.

    It may be called again before its actions take effect, so it remembers the actions that it returned.
    """

    def actions(self, pods: Sequence[ObservedPod], now: float) -> Iterator[Action]:
        """Yield what to do, given all pods that the unit has had, at a moment of the scenario."""


def operator_of(
    unit: Unit, objects: Objects, is_held: Callable[[ObservedPod], bool] = lambda _: False
) -> Operator | None:
    """Return the operator of a unit; None if controllers of the cluster manage it, or nothing does.

    ``is_held`` returns whether a node that does not answer would hold a lost pod.
    """
    makers: Mapping[WorkKind, Callable[[Unit, Objects], Operator]] = {
        WorkKind.SPARK: Spark,
        WorkKind.MPI: Mpi,
        WorkKind.PIPELINE: Pipeline,
    }
    if unit.work.returns is not None:
        return Notebook(unit, objects, is_held)
    maker = makers.get(unit.work.kind)
    return maker(unit, objects) if maker else None


@dataclass
class Spark:
    """A driver creates executors once it runs, and others for those that are lost.

    The application's work begins with its first executor, and ends with the driver, whose executors then end too. A
    lost driver is not started again, as MLRun allows no retries by default (``sparkjob/spark3job.py``,
    ``onFailureRetries``); the garbage collector then deletes the executors. It is assumed that executors are replaced
    without a limit: Spark's limit of failures does not count those whose node went away.
    """

    unit: Unit
    objects: Objects
    _made: int = 0
    _seen_lost: set[str] = field(default_factory=set)
    _is_timed: bool = False
    _ended: set[str] = field(default_factory=set)

    def actions(self, pods: Sequence[ObservedPod], now: float) -> Iterator[Action]:  # noqa: ARG002 as the protocol has it
        """Yield what the driver does."""
        driver = next((each for each in pods if each.part == "driver"), None)
        executors = [each for each in pods if each.part == "executor"]
        if driver is None:
            return
        if driver.end is PodEnd.SUCCEEDED:
            yield from self._end(executors)
        if not driver.is_running:
            return
        lost = {each.uid for each in executors if each.is_lost or each.end is PodEnd.FAILED}
        missing = len(lost - self._seen_lost) if self._made else self.unit.work.workers
        self._seen_lost |= lost
        owner = {"metadata": {"name": driver.name, "uid": driver.uid}}
        for _ in range(missing):
            self._made += 1
            yield Create(self.objects.spark_executor(self.unit, self._made, owner))
        annotations = self.objects.annotations(self.unit)
        if annotations and not self._is_timed and any(each.is_running for each in executors):
            self._is_timed = True
            yield RunFor(driver, annotations[labels.RUN_FOR])

    def _end(self, executors: Iterable[ObservedPod]) -> Iterator[Action]:
        for each in executors:
            if each.ended is None and each.uid not in self._ended:
                self._ended.add(each.uid)
                yield RunFor(each, NOW) if each.is_running else Remove(each)


@dataclass
class Mpi:
    """Workers and a launcher of MLRun's MPIJob v1: a gang.

    The launcher's init container waits for all workers (``newLauncher``), so nothing works before all of them run.
    Missing pods are created again while the launcher has not ended (``getOrCreateWorker``). It is assumed that mpirun
    ends when a rank is lost, so that the launcher and the job fail: this is so without elastic training. At the end the
    operator deletes the workers (``cleanPodPolicy: All`` of MLRun); here they succeed together with the launcher, so
    that the record shows the work as done.
    """

    unit: Unit
    objects: Objects
    _gone: set[str] = field(default_factory=set)
    _began: float | None = None
    _is_over: bool = False

    def actions(self, pods: Sequence[ObservedPod], now: float) -> Iterator[Action]:
        """Yield what operator and launcher do."""
        if self._is_over:
            return
        live = {each.part: each for each in pods if each.ended is None}
        new = [each for each in pods if not each.exists and each.uid not in self._gone]
        self._gone |= {each.uid for each in new}
        launcher = live.get("launcher")
        lost_worker = any(each.part != "launcher" for each in (*new, *_failed(pods)))
        if self._began is not None and lost_worker and launcher:
            self._is_over = True
            yield Fail(launcher, "mpirun ended: it lost a worker")
            yield from (Remove(each) for each in live.values() if each is not launcher)
            return
        for each in new:
            yield Create(self._again(each.part))
        if new and any(each.part == "launcher" for each in new):
            self._began = None
        yield from self._work(live, now)

    def _work(self, live: Mapping[str, ObservedPod], now: float) -> Iterator[Action]:
        all_run = len(live) == self.unit.work.workers + 1 and all(each.is_running for each in live.values())
        if not all_run or not (seconds := self.unit.work.runs_for):
            return
        if self._began is None:
            self._began = now
            yield Later(seconds)
        elif now - self._began >= seconds:
            self._is_over = True
            yield from (RunFor(each, NOW) for each in live.values())

    def _again(self, part: str) -> Request:
        if part == "launcher":
            return self.objects.mpi_launcher(self.unit)
        return self.objects.mpi_worker(self.unit, int(part.rpartition("-")[2]))


def _failed(pods: Iterable[ObservedPod]) -> list[ObservedPod]:
    return [each for each in pods if each.end is PodEnd.FAILED]


@dataclass
class Pipeline:
    """Each step begins when the one before has succeeded; a lost or failed step ends the pipeline.

    MLRun CE sets no retries of steps.
    """

    unit: Unit
    objects: Objects
    _made: int = 1

    def actions(self, pods: Sequence[ObservedPod], now: float) -> Iterator[Action]:  # noqa: ARG002 as the protocol has it
        """Yield the next step."""
        done = sum(1 for each in pods if each.end is PodEnd.SUCCEEDED)
        if done == self._made and self._made < self.unit.work.workers:
            missing = self.unit.work.workers - self._made
            self._made += 1
            yield Create(self.objects.step(self.unit, self._made - 1), missing)


@dataclass
class Notebook:
    """A user who starts a lost server again: JupyterHub creates the same pod, with the same claim.

    It cannot while the lost pod exists, because both have the same name (jupyterhub/kubespawner 4161d544,
    ``kubespawner/spawner.py``, ``pod_name_template``: user and server). A pod on a node that does not answer exists
    until the node is deleted (https://kubernetes.io/docs/concepts/architecture/nodes/). Simulated pods disappear at
    once; ``is_held`` compensates for that.
    """

    unit: Unit
    objects: Objects
    is_held: Callable[[ObservedPod], bool]
    """Whether a lost pod would still exist."""
    _due: dict[str, float] = field(default_factory=dict)
    _replaced: set[str] = field(default_factory=set)

    def actions(self, pods: Sequence[ObservedPod], now: float) -> Iterator[Action]:
        """Yield the new pod once its user has noticed and the old one has gone."""
        last = pods[-1] if pods else None
        if last is None or not last.is_lost or last.exists or last.uid in self._replaced:
            return
        due = self._due.setdefault(last.uid, now + (self.unit.work.returns or 0))
        if now < due or self.is_held(last):
            yield Later(max(due - now, _LOOK))
            return
        self._replaced.add(last.uid)
        yield from (Create(request) for request in self.objects.arriving(self.unit))


_LOOK: Final = 15.0
"""Seconds between two attempts to start a notebook whose pod still exists."""

_TIMES: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

MONITORED: Final = (WorkKind.MLRUN_JOB, WorkKind.SPARK, WorkKind.MPI)
"""Kinds whose runs MLRun aborts if they stay too long in a state."""

MONITORING: Final = 30.0
"""Seconds between two checks of MLRun's runs by MLRun (``mlrun/config.py``, ``monitoring.runs.interval``)."""


def thresholds(unit: Unit, objects: Objects) -> dict[str, float]:
    """Return the seconds after which MLRun aborts a run of a unit, by state.

    They count from the run's start, whatever the state was before (``runtime_handlers/base.py``,
    ``_apply_state_threshold``).
    """
    if unit.work.kind not in MONITORED:
        return {}
    choices = objects.defaults.mlrun(unit.namespace)
    texts: dict[str, Any] = {name: getattr(choices, name) for name in ("pending_not_scheduled", "pending_scheduled",
                                                                       "executing")}  # fmt: skip
    return {name: int(text[:-1]) * _TIMES[text[-1]] for name, text in texts.items() if text[-1] in _TIMES}


def state_of(pod: ObservedPod) -> str:
    """Return MLRun's name for the state of a pod that has not ended."""
    if pod.is_running:
        return "executing"
    return "pending_scheduled" if pod.scheduled is not None else "pending_not_scheduled"
