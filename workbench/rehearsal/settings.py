"""Settings of a rehearsal that are not the scenario's."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from infra.config import StackConfig

NODE_START: Final = 120.0
"""Seconds until a new node of a cloud is ready: assumed, `--node-start` changes it."""

SPEED: Final = 60.0
"""Seconds of the scenario in a second of real time, by default."""


class Scaler(StrEnum):
    """What adds nodes to a cluster and removes them; the values are its names in reports."""

    CLUSTER_AUTOSCALER = "Cluster Autoscaler"
    KARPENTER = "Karpenter"
    """With its defaults: it also moves pods to save nodes."""
    KARPENTER_EMPTY = "Karpenter, empty nodes"
    """With settings that make it remove empty nodes only, as late as Cluster Autoscaler does."""

    @property
    def is_karpenter(self) -> bool:
        """Whether it is Karpenter."""
        return self is not Scaler.CLUSTER_AUTOSCALER


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How scenario time passes in real time.

    Parameters
    ----------
    speed
        Seconds of the scenario in a second of real time.
    node_start
        Seconds of the scenario until a new node is ready.
    """

    speed: float = SPEED
    node_start: float = NODE_START

    def real(self, seconds: float) -> float:
        """Return the real seconds that so many seconds of the scenario take."""
        return seconds / self.speed

    def real_text(self, seconds: float) -> str:
        """Return the same as Kubernetes writes it, such as ``1500ms``."""
        return f"{max(round(self.real(seconds) * 1000), 0)}ms"

    def simulated(self, seconds: float) -> float:
        """Return the seconds of the scenario that pass in so many real ones."""
        return seconds * self.speed


def core_namespace(config: StackConfig) -> str:
    """Return the namespace of the platform's services: the first with core services; empty if there is none."""
    return next((name for name, each in config.namespaces.items() if each.core_services), "")


def default_namespace(config: StackConfig) -> str:
    """Return the namespace of work that names none: the first with core services, else the first."""
    return core_namespace(config) or next(iter(config.namespaces))
