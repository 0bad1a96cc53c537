"""Priority classes: the three that users choose from and the three above them for core services."""

from enum import StrEnum
from typing import Final

USER_PRIORITY_LIMIT: Final = 1_000_000
"""Values of user classes are below this, the value of MLRun CE's own ``workflow-controller`` class."""

RESERVED_CLASSES: Final = ("system-cluster-critical", "system-node-critical")
"""Kubernetes' own classes, never for user work."""


class PreemptionPolicy(StrEnum):
    """Whether a pending pod may evict running ones; Kubernetes spelling."""

    NEVER = "Never"
    PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


class UserPriority(StrEnum):
    """Classes for user work.

    A higher class is scheduled first and evicts nothing (Iguazio best practices, pod priority).
    """

    LOW = "igz-workload-low"
    MEDIUM = "igz-workload-medium"
    HIGH = "igz-workload-high"

    @property
    def priority(self) -> int:
        """Value of the class. Not below 0: the autoscaler may ignore pods below its cutoff."""
        return {UserPriority.LOW: 100, UserPriority.MEDIUM: 200, UserPriority.HIGH: 300}[self]

    @property
    def preemption_policy(self) -> PreemptionPolicy:
        """User work waits for free resources and never preempts."""
        return PreemptionPolicy.NEVER


class SystemPriority(StrEnum):
    """Classes for the platform's core services, named as Iguazio's own platform names them."""

    MEDIUM = "igz-system-medium"
    HIGH = "igz-system-high"
    CRITICAL = "igz-system-critical"

    @property
    def priority(self) -> int:
        """Value of the class, above every user class."""
        return {
            SystemPriority.MEDIUM: 2_000_000,
            SystemPriority.HIGH: 3_000_000,
            SystemPriority.CRITICAL: 4_000_000,
        }[self]

    @property
    def preemption_policy(self) -> PreemptionPolicy:
        """A pending core service may evict user work."""
        return PreemptionPolicy.PREEMPT_LOWER_PRIORITY


DEFAULT_USER_PRIORITY: Final = UserPriority.MEDIUM
"""Default class of MLRun and Nuclio; never a global default, which would also apply to core pods."""
