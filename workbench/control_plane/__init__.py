"""Local control planes: the real API server, scheduler and autoscaler on loopback, with simulated nodes."""

from workbench.control_plane.instance import Instance, instances
from workbench.control_plane.programs import Binaries
from workbench.control_plane.state import ComponentStatus, InstanceStatus

__all__ = ["Binaries", "ComponentStatus", "Instance", "InstanceStatus", "instances"]
