"""Checks of pools with shared GPUs on AKS."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.contract.constraint_violation import Mismatch
from components.contract.groups import NodeGroup
from components.contract.pools import NodePool
from components.contract.sharing import MigSlices, profiles_of

UNREADY_MAX: Final = 3
UNREADY_SHARE_MAX: Final = 0.45
"""Number and share of unready nodes beyond which the autoscaler stops: AKS's defaults.

https://learn.microsoft.com/azure/aks/cluster-autoscaler-overview (``ok-total-unready-count``,
``max-total-unready-percentage``); kubernetes/autoscaler 1959f5f6, ``clusterstate/clusterstate.go``.
"""


def sharing_problems(pools: Mapping[str, NodePool], groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    """Find what AKS, or its autoscaler, does not support with shared GPUs.

    AKS labels all nodes with GPUs, and its autoscaler treats a labelled node as unready until it offers nvidia.com/gpu
    (the same autoscaler, ``processors/customresources/gpu_processor.go``), which nodes with shared GPUs never do.
    """
    for name, pool in pools.items():
        if pool.sharing and pool.size.is_elastic:
            yield Mismatch(
                (name, "sharing"),
                "needs a fixed size on AKS, whose autoscaler waits for whole GPUs on every new node with GPUs; set "
                "size.min = size.max",
            )
        if isinstance(pool.sharing, MigSlices) and pool.instances:
            known = _by_units(pool)
            if pool.sharing.profile not in known:
                yield Mismatch(
                    (name, "sharing", "profile"),
                    f"AKS chooses slices by compute units, and {pool.sharing.profile} has more memory than AKS gives "
                    f"them; use {', '.join(known)}",
                )
    yield from _unready(groups)


def _by_units(pool: NodePool) -> list[str]:
    """Return the profiles that AKS creates on the pool's GPUs: the smallest for each number of compute units."""
    found: dict[str, str] = {}
    for profile in profiles_of(pool.instances[0]):
        found.setdefault(profile.partition(".")[0], profile)
    return list(found.values())


def _unready(groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    shared = sum(group.size.min for group in groups if group.sharing)
    every = sum(group.size.min for group in groups)
    if any(group.is_elastic for group in groups) and shared > max(UNREADY_MAX, UNREADY_SHARE_MAX * every):
        yield Mismatch(
            (),
            f"have {shared} nodes with shared GPUs, of {every} at minimum size; AKS's autoscaler treats them as "
            f"unready, and stops if these are more than {UNREADY_MAX} and {UNREADY_SHARE_MAX:.0%} of all; share the "
            "GPUs of fewer nodes",
        )
