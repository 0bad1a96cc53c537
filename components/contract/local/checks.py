"""Checks of a local cluster against the rest of its stack file."""

from collections.abc import Iterator, Mapping, Sequence

from components.contract.allocatable import UPSTREAM
from components.contract.checks import headroom_problems, no_closeness, no_reservations, no_upgrades, no_warm_pool
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.local.config import LocalConfig
from components.contract.pools import NodePool
from components.contract.shared_storage import OWN_CLASS, Storage, unusable


def mismatches(
    _: LocalConfig, pools: Mapping[str, NodePool], groups: Sequence[NodeGroup], __: Environment | None
) -> Iterator[Mismatch]:
    """Find everything that simulated nodes do not support.

    Parameters
    ----------
    pools, groups
        The pools by name, and the groups that they become.
    """
    yield from no_upgrades(pools, "has no effect on a local cluster, whose nodes are simulated; remove it")
    for name, pool in pools.items():
        if pool.machine:
            yield Mismatch((name, "machine"), "is allowed with cluster.kind 'existing' only; use instanceTypes")
    yield from no_reservations(pools, "a local cluster")
    yield from headroom_problems(groups, pools, UPSTREAM)
    yield from no_closeness(pools, "is impossible on a local cluster, whose machines are simulated; remove it")
    yield from no_warm_pool(pools, "is impossible on a local cluster, whose machines are simulated; remove it")


def storage_problems(_: LocalConfig, storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Find storage classes of another cluster. A local cluster ignores settings that only a cloud uses."""
    return unusable(storage, ("storage_class",), OWN_CLASS)
