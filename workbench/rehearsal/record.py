"""What a rehearsal recorded: pods, nodes, refusals and events, only as the API server reported them.

Real time is shorter than the scenario's by ``speed``. Reports publish all fields, with their docstrings
(``workbench.rehearsal.report.shape``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Final

from pydantic import Field

Moment = Annotated[float, Field(description="Seconds of the scenario since its start; negative before it.")]


class PodEnd(StrEnum):
    """How a pod ended; ``runs`` and ``waits``: not before the end of the scenario."""

    RUNS = "runs"
    """Not at all: it runs at the end of the scenario."""
    WAITS = "waits"
    """Not at all: it has never been placed, or its node has never let it run."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Its container failed, or its node killed it."""
    DELETED = "deleted"
    """The scenario, or the owner of the pod, deleted it: it stayed long enough, or there are fewer replicas."""
    LOST = "lost"
    """Its node went away: reclaimed, failed, drained, or removed by the autoscaler."""
    PREEMPTED = "preempted"
    """The scheduler evicted it for a pod of higher priority."""


TAKEN: Final = (PodEnd.LOST, PodEnd.PREEMPTED)
"""Ends of pods that were lost or preempted."""

AUTOSCALER: Final = "autoscaler"
"""Beginning of causes by the autoscaler."""


@dataclass(frozen=True)
class Reason:
    """Why a pod waited, in the words of the component that said it."""

    at: Moment
    component: str
    """``scheduler`` or ``autoscaler``."""
    text: str


@dataclass(frozen=True, kw_only=True)
class PodRecord:
    """One pod."""

    name: str
    namespace: str
    uid: str
    work: str
    """Name of the scenario's work; empty for what the cluster itself runs: DaemonSets and core services."""
    unit: str
    """The arrival that it belongs to, such as ``train-3``; empty without a work."""
    team: str = ""
    kind: str = ""
    """Kind of the work, or ``daemon-set`` or ``core-service``."""
    created: Moment
    scheduled: Moment | None = None
    """When it got its node; null if it did not before the end of the scenario."""
    started: Moment | None = None
    """When its containers ran; null if they did not before the end."""
    ended: Moment | None = None
    """When it ended; null if it did not before the end."""
    end: PodEnd = PodEnd.WAITS
    end_cause: str = ""
    """The event or component that ended a lost or preempted pod, such as ``spot-reclaim of node workload-0``."""
    node: str | None = None
    replaces: str | None = None
    """UID of the lost pod of its unit in whose place it was created, if the record shows one."""
    reasons: tuple[Reason, ...] = ()
    """Why it waited, first to last; repeated texts once."""
    cpu_millis: int = 0
    """CPU that its containers request together, in thousandths."""
    memory_mib: int = 0
    """Memory that they request, in MiB."""
    gpus: int = 0
    """GPUs that they request."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """The fields of its spec after admission that decide where it may run, in Kubernetes' spelling: node selector,
    affinity, tolerations, priority, and its containers' resources. Never environment, arguments, images or volumes."""


@dataclass(frozen=True, kw_only=True)
class NodeRecord:
    """One node."""

    name: str
    group: str
    pool: str
    role: str
    lifecycle: str
    """``on-demand``, ``spot`` or ``reserved``."""
    zone: str | None = None
    instance_type: str = ""
    created: Moment
    ready: Moment | None = None
    """When it became ready; null if it did not before the end."""
    gone: Moment | None = None
    """When it was deleted; null if it still exists at the end."""
    gone_cause: str = ""
    """``autoscaler``, or the event that took it, such as ``spot-reclaim``."""
    cpu_millis: int = 0
    """Allocatable CPU in thousandths."""
    memory_mib: int = 0
    """Allocatable memory in MiB."""
    gpus: int = 0


@dataclass(frozen=True)
class Refusal:
    """An object that the API server refused; retries of a controller count once for its unit."""

    at: Moment
    """When it was refused first."""
    work: str
    unit: str
    kind: str
    name: str
    message: str
    """The last message of the API server."""
    missing: int = 1
    """Pods that the unit lacked because of it, when its size changed or at the end; 0 if it had got them by then."""


@dataclass(frozen=True)
class Happening:
    """An event of the scenario as it took place."""

    at: Moment
    event: str
    """Its kind, such as ``spot-reclaim``."""
    text: str
    """What happened, such as ``took workload-1 and workload-2``."""
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Night:
    """A time outside of the office hours of pools."""

    begin: Moment
    end: Moment | None = None
    """Null if they did not begin again before the end of the scenario."""


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """A node group of the stack, as far as verdicts and reports need it."""

    name: str
    pool: str
    role: str
    lifecycle: str
    zone: str | None
    instance_type: str
    """The first, by which it is priced and simulated."""
    min: int
    max: int
    is_elastic: bool
    labels: Mapping[str, str]
    taints: tuple[str, ...]
    """As ``key=value:Effect``."""
    gpu_resource: str | None
    cpu_millis: int
    """Allocatable CPU of a node in thousandths."""
    memory_mib: int
    """Allocatable memory of a node in MiB."""
    gpus: int
    headroom: int = 0
    """Nodes that the headroom of its pool takes if all of them are in this group."""
    night_min: int | None = None
    """Minimum outside of its office hours; null if it has none."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """Everything that a rehearsal recorded."""

    lasts: float
    """Length of the scenario in seconds; the record ends there."""
    speed: float
    """Seconds of the scenario in a second of real time."""
    groups: tuple[GroupFacts, ...]
    pods: tuple[PodRecord, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    happenings: tuple[Happening, ...] = ()
    nights: tuple[Night, ...] = ()
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Units that arrived, by work, whether refused or not."""
    assumptions: tuple[str, ...] = ()
    """What the simulation assumes, as sentences: start-up times of nodes, load of DaemonSets, ..."""

    def of_work(self, work: str) -> tuple[PodRecord, ...]:
        """Return the pods of a work, in order of creation."""
        return tuple(sorted((pod for pod in self.pods if pod.work == work), key=lambda pod: (pod.created, pod.name)))

    def minimum(self, group: GroupFacts, at: float) -> int:
        """Return the minimum number of nodes that the autoscaler keeps in a group at a moment."""
        is_night = any(each.begin <= at and (each.end is None or at < each.end) for each in self.nights)
        return group.night_min if is_night and group.night_min is not None else group.min

    def node(self, name: str | None) -> NodeRecord | None:
        """Return the node of a name; None if there was none."""
        return self._by_name.get(name or "")

    @cached_property
    def _by_name(self) -> dict[str, NodeRecord]:
        """Nodes by name; the first of a name counts."""
        return {each.name: each for each in reversed(self.nodes)}
