"""What a file says about pods, whatever its format."""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from workbench.rehearsal.replay.part import Part
from workbench.rehearsal.replay.problems import UnfitError
from workbench.rehearsal.scenario.arrivals import ARRIVALS_MAX
from workbench.rehearsal.scenario.work import WorkKind

TRACKED_MAX: Final = 10 * ARRIVALS_MAX
"""Maximum number of pods that are kept while a file is read; bounds the memory."""


class LeftOut(StrEnum):
    """What is not replayed, and why; a number follows."""

    DAEMON_SET = "Pods of DaemonSets (left out: the stack brings its own)"
    SYSTEM = "Pods in namespaces of Kubernetes and the cloud (left out: the stack brings its own)"
    CORE = "Pods of the platform's own services (left out: the stack brings its own)"
    CHILD = "Iterations, which run inside the pod of their run (left out)"
    NOT_A_POD = "Runs in a client or in a function that already ran (left out: they have no pod of their own)"
    NO_SPEC = "Pods without their spec in the log (left out)"


class End(StrEnum):
    """How a pod ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    DELETED = "deleted"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a pod requests, as far as scenarios express it; nothing about what it runs."""

    cpu: int | None = None
    cpu_limit: int | None = None
    """Thousandths of a core; None if not set."""
    memory: int | None = None
    memory_limit: int | None = None
    """MiB."""
    gpus: int = 0
    gpu_resource: str = ""
    selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[str, ...] = ()
    """Each as JSON."""
    priority_class: str = ""
    mode: str = ""
    """MLRun's preemption mode, if the pod's affinity shows it."""
    labels: tuple[tuple[str, str], ...] = ()
    """Those of this package only."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What created a pod.

    Parameters
    ----------
    kind
        Kind of work.
    base
        Name of what it belongs to, such as the function; empty if there is none that repeats.
    team
        Project or namespace.
    app
        Application whose pods arrive together: Spark, Dask and MPI; empty for others.
    is_leader
        Whether it is the application's driver, scheduler or launcher.
    """

    kind: WorkKind
    base: str = ""
    team: str = ""
    app: str = ""
    is_leader: bool = False


@dataclass(slots=True, kw_only=True)
class Observed:
    """One pod; moments are seconds since 1970."""

    origin: Origin
    shape: Shape
    created: float
    scheduled: float | None = None
    started: float | None = None
    ended: float | None = None
    end: End | None = None
    is_new: bool = True
    """Whether the file shows its creation."""

    def ends(self, at: float, end: End) -> None:
        """Note its end, unless it has ended before."""
        if self.end is None:
            self.ended, self.end = max(at, self.created), end

    @property
    def wait(self) -> float | None:
        """Seconds until it was placed, or ran if that is all that is known; None if it never was."""
        placed = self.scheduled if self.scheduled is not None else self.started
        return None if placed is None else max(0.0, placed - self.created)


def too_many() -> UnfitError:
    """Return the error of a file with more pods than can be kept."""
    return UnfitError(f"has more than {TRACKED_MAX} pods.")


@dataclass
class History:
    """All pods of a file.

    Parameters
    ----------
    part
        The part that is replayed.
    left_out
        Pods that are not replayed, by reason.
    notes
        What the format does not say, as sentences.
    counts
        Things worth a note, by what they are.
    """

    part: Part
    left_out: Counter[LeftOut] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    first: float | None = None
    last: float | None = None
    has_steady_pods: bool = False
    """Whether it is a dump: pods may be much older than what it shows."""
    _pods: dict[Hashable, Observed] = field(default_factory=dict)
    _former: list[Observed] = field(default_factory=list)

    def saw(self, at: float) -> None:
        """Note that the file covers a moment."""
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)

    def add(self, key: Hashable, pod: Observed) -> None:
        """Add a pod; its creation ends an earlier pod of the same key.

        Raises
        ------
        UnfitError
            There are more than ``TRACKED_MAX``.
        """
        if self.part.end is not None and pod.created > self.part.end:
            return
        former = self._pods.pop(key, None)
        if former:
            former.ends(pod.created, End.DELETED)
            if self._matters(former):
                self._former.append(former)
        if len(self._pods) + len(self._former) >= TRACKED_MAX:
            self._forget()
        self._pods[key] = pod

    def find(self, key: Hashable) -> Observed | None:
        """Return the latest pod of a key."""
        return self._pods.get(key)

    def __iter__(self) -> Iterator[Observed]:
        """Yield all pods that run in the part."""
        return (pod for pods in (self._former, self._pods.values()) for pod in pods if self._matters(pod))

    def _matters(self, pod: Observed) -> bool:
        start, end = self.part.start, self.part.end
        is_over = start is not None and pod.ended is not None and pod.ended <= start
        return not is_over and (end is None or pod.created <= end)

    def _forget(self) -> None:
        """Drop the pods that ended before the part."""
        self._pods = {key: pod for key, pod in self._pods.items() if self._matters(pod)}
        if len(self._pods) + len(self._former) >= TRACKED_MAX:
            raise too_many()
