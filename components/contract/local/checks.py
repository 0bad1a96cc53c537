"""What must hold between a cluster on this machine and the rest of its stack file."""

from collections.abc import Iterator, Sequence

from components.contract.constraint_violation import Mismatch
from components.contract.groups import NodeGroup
from components.contract.instances import Provider


def mismatches(groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    """Find everything that simulated nodes cannot be.

    Parameters
    ----------
    groups
        As ``groups.node_groups`` returns them.
    """
    for group in groups:
        if any(instance.provider is Provider.OWN for instance in group.instances):
            yield Mismatch((group.pool, "machine"), "goes with cluster.kind 'existing' only; name instanceTypes")
