"""Whether updates of a stack require the policy packs, and how a run shows that they are attached."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from components.contract.environments import ClusterKind, Environment


class PolicyGuard(StrEnum):
    """What happens to an update without policy packs, or one that destroys guarded resources without an approval."""

    REQUIRED = "required"
    """The update is refused."""

    WARN = "warn"
    """The update runs, with a warning."""

    OFF = "off"
    """The update runs."""


GUARD_VARIABLE: Final = "IGZ_CLUSTERS_POLICY_GUARD"
"""Environment variable of a guarded run: one with the packs and, in a cloud, with the checks of losses.

It guards against accidents, not against intent.
"""

ATTACHED: Final = "attached"
"""The variable's only value."""


def default_guard(environment: Environment, kind: ClusterKind) -> PolicyGuard:
    """Return the default guard of a stack, by its environment and kind."""
    if kind is ClusterKind.LOCAL:
        return PolicyGuard.OFF
    return PolicyGuard.REQUIRED if environment is Environment.PROD else PolicyGuard.WARN


def guard_of(choices: Mapping[str, Any], kind: ClusterKind) -> PolicyGuard:
    """Return the guard of unchecked settings; without a valid environment the default of production."""
    if (given := choices.get("policyGuard")) in list(PolicyGuard):
        return PolicyGuard(given)
    is_dev = choices.get("environment") == Environment.DEV
    return default_guard(Environment.DEV if is_dev else Environment.PROD, kind)


def strictest(*guards: PolicyGuard) -> PolicyGuard:
    """Return the guard that counts if several sources have one; the members begin with the strictest."""
    return min(guards, key=list(PolicyGuard).index)
