"""Whether a stack may be changed only where somebody judges the change, and how a run says that somebody does."""

from enum import StrEnum
from typing import Final

from components.contract.environments import ClusterKind, Environment


class PolicyGuard(StrEnum):
    """What happens to a change that nobody judged, or that would destroy what is guarded without an approval."""

    REQUIRED = "required"
    """It is refused."""

    WARN = "warn"
    """It is made, and said to be."""

    OFF = "off"
    """It is made."""


GUARD_VARIABLE: Final = "IGZ_CLUSTERS_POLICY_GUARD"
"""Environment variable that is set where the packs are attached.

It helps against forgetting them, not against intent.
"""

ATTACHED: Final = "attached"
"""The variable's only value."""


def default_guard(environment: Environment, kind: ClusterKind) -> PolicyGuard:
    """Return the guard of a stack that names none: what a mistake costs decides."""
    if kind is ClusterKind.LOCAL:
        return PolicyGuard.OFF
    return PolicyGuard.REQUIRED if environment is Environment.PROD else PolicyGuard.WARN
