"""Local control planes: the real API server, scheduler and autoscaler on loopback, with simulated nodes."""

from workbench.local.instance import Instance, instances
from workbench.local.programs import Binaries
from workbench.local.state import ComponentStatus, InstanceStatus

__all__ = ["Binaries", "ComponentStatus", "Instance", "InstanceStatus", "instances"]
