"""The kinds of clusters side by side: each one's choices, and what it demands of the rest of a stack file."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from components.contract.aks import checks as aks
from components.contract.aks.config import AksConfig
from components.contract.constraint_violation import Mismatch
from components.contract.eks import checks as eks
from components.contract.eks.config import EksConfig
from components.contract.environments import Environment, ServerOwner
from components.contract.existing import checks as existing
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.local import checks as local
from components.contract.local.config import LocalConfig

ClusterChoices: TypeAlias = LocalConfig | EksConfig | AksConfig | ExistingConfig
"""What a stack file says under ``cluster``, told apart by ``kind``."""


def mismatches(
    choices: ClusterChoices, groups: Sequence[NodeGroup], environment: Environment | None
) -> Iterator[Mismatch]:
    """Find what the cluster, or this package on it, would refuse about the pools later.

    Parameters
    ----------
    choices
        The cluster.
    groups
        As ``groups.node_groups`` returns them.
    environment
        None where the stack file names none that is known; what follows from it is left out.
    """
    match choices:
        case LocalConfig():
            yield from local.mismatches(groups)
        case EksConfig():
            yield from eks.mismatches(choices, groups)
        case AksConfig():
            yield from aks.mismatches(choices, groups, environment)
        case ExistingConfig():
            yield from existing.mismatches(choices, groups)


def environment_problems(choices: ClusterChoices, environment: Environment) -> Iterator[Mismatch]:
    """Find what the environment demands of the cluster itself, whatever its pools; paths begin at the cluster."""
    if isinstance(choices, AksConfig):
        yield from aks.environment_problems(choices, environment)


def owner_problem(choices: ClusterChoices, owner: ServerOwner) -> str | None:
    """Return why ``owner`` cannot have made this cluster's servers; None if it can."""
    if isinstance(choices, ExistingConfig):
        made = "nobody makes servers of a cluster that is there; set servers: provazio"
        return made if owner is ServerOwner.PULUMI else None
    if owner is ServerOwner.PULUMI:
        return None
    match choices:
        case LocalConfig():
            why = "a local cluster has no installer"
        case EksConfig() | AksConfig():
            why = "this stack makes the servers itself"
    return f"{why}: with cluster.kind '{choices.kind}' set servers: pulumi"
