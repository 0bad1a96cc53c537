"""Node groups as rules see them, independent of the kind of cluster."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from typing_extensions import override

from components.contract.environments import ClusterKind
from components.contract.fabric import EFA, EFA_RESOURCE
from components.contract.gpus import WHOLE_GPUS
from components.contract.instances import INSTANCE_TYPES, InstanceType
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole
from components.contract.sharing import Shares, shares_of
from components.contract.taints import Taint, TaintEffect
from policies.resource import Resource
from policies.values import NotJudgeableError, Value, some

LIFECYCLES: Final = {lifecycle.value: lifecycle for lifecycle in Lifecycle}
EFFECTS: Final = {effect.value: effect for effect in TaintEffect}
"""Our own terms, for groups that no cloud creates."""


class NodeGroupFacts(ABC):
    """One group of equal nodes.

    Every fact is read when a rule uses it, so an unknown value affects only the rules that need it. An absent value is
    None or the cloud's default.
    """

    kind: ClassVar[ClusterKind]

    makes_machines: ClassVar[bool] = True
    """Whether a change of the group stops or replaces machines."""

    is_scaled_elsewhere: ClassVar[bool] = False
    """Whether the cloud or the cluster's owner runs the autoscaler."""

    is_simulated: ClassVar[bool] = False
    """Whether kwok simulates the nodes; the autoscaler then runs outside the cluster."""

    rolling_inputs: ClassVar[tuple[str, ...]] = ()
    """Inputs whose change replaces the nodes, or the data on their disks."""

    def __init__(self, resource: Resource, props: Value) -> None:
        self.resource = resource
        """The resource of the group; several groups may share one."""
        self._props = props

    @property
    def pool(self) -> str:
        """Pool of the group, which may have several groups; the resource's name if it is not set."""
        return self.label(LabelKey.POOL) or self.resource.name

    @property
    def name(self) -> str:
        """The pool for messages; unknown parts are left out."""
        try:
            return self.pool
        except NotJudgeableError:
            return self.resource.name

    @property
    def props(self) -> Value:
        """All properties of the group in its cloud's own terms, for rules about one cloud."""
        return self._props

    @property
    def location(self) -> str:
        """Place of the group inside its resource; empty if it is the resource."""
        return self._props.path

    @override
    def __str__(self) -> str:
        """Return the start of every message about the group."""
        return f"pool '{self.name}'" + (f" ({self.location})" if self.location else "")

    def label(self, key: str) -> str | None:
        """Return the value of a node label."""
        return self._labels().at(str(key)).text()

    @property
    def role(self) -> PoolRole | None:
        """Role of the group; None if absent or invalid, which NG-01 reports."""
        role = self.label(LabelKey.ROLE)
        return next((each for each in PoolRole if role == each), None)

    @property
    @abstractmethod
    def lifecycle(self) -> Lifecycle | None:
        """Lifecycle of the nodes; None if not set."""

    @property
    @abstractmethod
    def size_min(self) -> int | None:
        """Fewest nodes."""

    @property
    @abstractmethod
    def size_max(self) -> int | None:
        """Most nodes."""

    @property
    def nodes_max(self) -> int | None:
        """Most nodes that this resource adds to the group."""
        return self.size_max

    @property
    def size_desired(self) -> int | None:
        """Nodes at creation; None if the bounds decide."""
        return self._desired().integer()

    @property
    def nodes(self) -> int | None:
        """Nodes that a live group has; None if unknown."""
        return self.size_desired

    @property
    def desired_path(self) -> str:
        """Path of ``size_desired`` in the inputs."""
        return self._desired().path

    @property
    def scheduled_minimums(self) -> tuple[int, ...]:
        """Minimum sizes by night and by day, which schedules of the cloud set; empty without office hours."""
        return ()

    @property
    def min_path(self) -> str:
        """Path of the minimum in the inputs, if schedules change it."""
        return ""

    @property
    def is_elastic(self) -> bool:
        """Whether the size changes between its bounds. NG-07 and NG-21 report roles that forbid it."""
        return not (self.role and self.role.is_static) and self.size_min != self.size_max

    @property
    def resets_size(self) -> bool:
        """Whether an update sends the desired size again, and so resets what an autoscaler set."""
        return self._sends(self._desired())

    @property
    def rolled_by(self) -> tuple[str, ...]:
        """Inputs that are set, not exempt from updates, and whose change would replace the nodes."""
        return tuple(name for name in self.rolling_inputs if self._sends(self._props.at(name)))

    @property
    def repairs_nodes(self) -> bool:
        """Whether the group replaces unhealthy nodes."""
        return False

    @property
    def may_be_scaled_in(self) -> bool:
        """Whether an autoscaler of another owner may remove its nodes."""
        return False

    @property
    def is_stopped(self) -> bool:
        """Whether the group's machines are switched off."""
        return False

    @property
    @abstractmethod
    def instance_types(self) -> tuple[str, ...]:
        """Machine types; empty for the cloud's default, which has no GPU."""

    @property
    def instances(self) -> tuple[InstanceType, ...]:
        """Facts of the machine types."""
        types = self.instance_types
        missing = [name for name in types if name not in INSTANCE_TYPES]
        if missing:
            raise NotJudgeableError(self.location, f"lists unknown machine types: {', '.join(missing)}")
        return tuple(INSTANCE_TYPES[name] for name in types)

    @property
    def gpus_by_type(self) -> dict[str, int]:
        """GPUs of each machine type."""
        return {instance.name: instance.gpus for instance in self.instances}

    @property
    def has_gpus(self) -> bool:
        """Whether the group is for GPU work, by its role or by its machines."""
        return self.role is PoolRole.GPU or any(self.gpus_by_type.values())

    @property
    def shares(self) -> Shares | None:
        """What each GPU offers, by the label of the nodes; None if pods get whole ones."""
        return shares_of(self.label(LabelKey.GPU_SHARING))

    @property
    def gpu_resources(self) -> tuple[str, ...]:
        """Names under which the group's GPUs may be requested."""
        return (self.shares.resource,) if self.shares else WHOLE_GPUS

    @property
    def has_efa(self) -> bool:
        """Whether the nodes have Elastic Fabric Adapters, by their label."""
        return self.label(LabelKey.FABRIC) == EFA

    @property
    def must_be_close(self) -> bool:
        """Whether the nodes need a fast connection, which does not reach beyond a zone."""
        return self.has_efa

    @property
    def zones(self) -> int | None:
        """Number of zones in which the nodes start; None if the group does not state it."""
        return None

    def offers(self, resource: str, machine: InstanceType) -> int:
        """Return how many of a GPU resource, or of fast interfaces, a node of a machine type offers."""
        if resource == EFA_RESOURCE:
            return machine.fabric if self.has_efa else 0
        if not self.shares:
            return machine.gpus
        return machine.gpus * self.shares.per_gpu if resource == self.shares.resource else 0

    @property
    def waits_for_whole_gpus(self) -> bool:
        """Whether the autoscaler treats a new node as unready until the node offers nvidia.com/gpu."""
        return False

    def carries_one_of(self, *wanted: Taint) -> bool:
        """Return whether the nodes carry one of the taints."""
        return self.carries_a_taint(lambda taint: taint in wanted)

    def carries_a_taint(self, test: Callable[[Taint], bool]) -> bool:
        """Return whether the nodes carry a taint that passes ``test``."""
        return some(self._taints(), lambda read: (taint := read()) is not None and test(taint))

    def _sends(self, value: Value) -> bool:
        """Return whether an update sends a value: it is set, and neither it nor its parent is ignored."""
        holders = [value.path[: match.start()] for match in re.finditer(r"[.\[]", value.path)]
        return not value.is_absent and not {*holders, value.path}.intersection(self.resource.ignore_changes)

    @abstractmethod
    def _desired(self) -> Value:
        """Return the place of the desired size."""

    @abstractmethod
    def _labels(self) -> Value:
        """Return the map of node labels."""

    @abstractmethod
    def _taints(self) -> list[Callable[[], Taint | None]]:
        """Return a reader for each taint, so that one unknown taint does not hide the others."""


def taint_object(entry: Value, effects: Mapping[str, TaintEffect] = EFFECTS) -> Taint | None:
    """Return the taint of an entry with ``key``, ``value`` and ``effect``; None for an entry without an effect."""
    effect = entry.at("effect").choice(effects)
    return Taint(entry.at("key").text() or "", entry.at("value").text() or "", effect) if effect else None
