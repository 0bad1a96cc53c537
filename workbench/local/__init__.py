"""Local control planes: the real API server, scheduler and autoscaler on loopback, with simulated nodes."""

from workbench.local.instance import Instance, instances, remove_abandoned
from workbench.local.programs import Binaries
from workbench.local.state import ComponentStatus, InstanceStatus, Owner, Tuning

__all__ = [
    "Binaries",
    "ComponentStatus",
    "Instance",
    "InstanceStatus",
    "Owner",
    "Tuning",
    "instances",
    "remove_abandoned",
]
