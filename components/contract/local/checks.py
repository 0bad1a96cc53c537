"""Checks of a local cluster against the rest of its stack file."""

from collections.abc import Iterator, Mapping, Sequence

from components.contract.checks import no_upgrades
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.local.config import LocalConfig
from components.contract.pools import NodePool


def mismatches(
    _: LocalConfig, pools: Mapping[str, NodePool], __: Sequence[NodeGroup], ___: Environment | None
) -> Iterator[Mismatch]:
    """Find everything that simulated nodes do not support.

    Parameters
    ----------
    pools
        By name.
    """
    yield from no_upgrades(pools, "has no effect on a local cluster, whose nodes are simulated; remove it")
    for name, pool in pools.items():
        if pool.machine:
            yield Mismatch((name, "machine"), "is allowed with cluster.kind 'existing' only; use instanceTypes")
