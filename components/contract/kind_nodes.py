"""Properties of nodes that the kind of cluster decides."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, TypeVar

from components.contract.allocatable import UPSTREAM, Reserves
from components.contract.choices import ContractModel
from components.contract.groups import NodeGroup
from components.contract.instances import InstanceType

ConfigT = TypeVar("ConfigT", bound=ContractModel)

ROOT_DISK_GIB: Final = 80
"""Size of an unknown root disk: assumed."""


def _assumed_disk(_: ContractModel) -> int:
    return ROOT_DISK_GIB


def _no_labels(_: ContractModel, __: NodeGroup) -> Mapping[str, str]:
    return {}


def _as_written(_: ContractModel, zone: str) -> str:
    return zone


@dataclass(frozen=True, kw_only=True)
class KindNodes(Generic[ConfigT]):
    """Properties of nodes by kind of cluster; ``components/contract/KIND/nodes.py`` defines those of each cloud."""

    reserves: Reserves = UPSTREAM
    """Resources that a node reserves for its own daemons."""
    pods_of_empty_group: int | None = None
    """Pods per node that the autoscaler assumes for a group without nodes; None: as many as the node accepts."""
    disk_gib: Callable[[ConfigT], int] = _assumed_disk
    """Returns the size of the root disk; default: an assumed one."""
    labels: Callable[[ConfigT, NodeGroup], Mapping[str, str]] = _no_labels
    """Returns the labels that nodes have besides the group's, and that do not depend on the zone."""
    pods: Callable[[ConfigT, InstanceType], int] | None = None
    """Returns the maximum number of pods on a machine, if it depends on ``cluster``; None: as in ``reserves``."""
    zone: Callable[[ConfigT, str], str] = _as_written
    """Returns the value of the label ``topology.kubernetes.io/zone`` for a zone of the stack file."""

    def reserves_of(self, choices: ConfigT) -> Reserves:
        """Return the reserves of nodes of a cluster with these choices."""
        return replace(self.reserves, pods=partial(self.pods, choices)) if self.pods else self.reserves
