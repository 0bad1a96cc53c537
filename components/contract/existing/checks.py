"""Checks of an existing cluster against the rest of its stack file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.contract.checks import (
    no_closeness,
    no_headroom,
    no_pool_hours,
    no_prepulled_images,
    no_reservations,
    no_upgrades,
    no_warm_pool,
)
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.lifecycle import Lifecycle
from components.contract.pools import NodePool, PoolRole
from components.contract.shared_storage import SIZE_GIB_MAX, Storage, Volumes, files_only, size_problems, unusable

SIZES: Final = range(1, SIZE_GIB_MAX + 1)
"""Sizes in GiB that a claim may request; the cluster's driver may provide another size."""

OWNER_S: Final = "is up to the owner of an existing cluster; remove it"


def mismatches(
    choices: ExistingConfig, pools: Mapping[str, NodePool], groups: Sequence[NodeGroup], _: Environment | None
) -> Iterator[Mismatch]:
    """Find everything that does not fit the existing nodes.

    Parameters
    ----------
    choices
        The cluster.
    pools, groups
        The pools by name, and all their groups.
    """
    yield from no_pool_hours(pools, "is impossible: the cluster's owner sets the sizes of its groups; remove it")
    yield from no_reservations(pools, "an existing cluster")
    yield from no_headroom(pools, "is impossible: the cluster's owner runs the autoscaler; remove it")
    yield from no_closeness(pools, "is impossible: the cluster's owner makes the nodes; remove it")
    yield from no_warm_pool(pools, "is impossible: the cluster's owner makes the nodes; remove it")
    yield from no_prepulled_images(pools, "is impossible: the cluster's owner prepares its nodes; remove it")
    yield from no_upgrades(pools, "is impossible: the cluster's owner upgrades its nodes; remove it")
    shapes = Counter(group.pool for group in groups)
    for pool in choices.nodes:
        if pool not in shapes:
            yield Mismatch((), f"lack '{pool}', which cluster.nodes lists; add the pool, or remove it there")
    for pool, count in shapes.items():
        if count > 1:
            yield Mismatch((pool,), f"has {count} machine shapes but one selector; make each shape a pool")
    for group in {group.pool: group for group in groups}.values():
        for message in _problems(choices, group):
            yield Mismatch((group.pool,), message)


def storage_problems(_: ExistingConfig, storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Find shared storage without a class, and choices that only the cluster's owner can make."""
    yield from unusable(storage, ("backups", "redundancy"), OWNER_S)
    yield from files_only(storage)
    for name, each in storage.items():
        if each.storage_class is None:
            yield Mismatch(
                (name, "storageClass"),
                "is required on an existing cluster: a class whose volumes many nodes can mount at once; "
                "`kubectl get storageclasses` lists all classes",
            )


def volume_problems(_: ExistingConfig, volumes: Volumes) -> Iterator[Mismatch]:
    """Find volumes without a size, which Kubernetes requires of a claim."""
    return size_problems(volumes, SIZES, "a claim")


def _problems(choices: ExistingConfig, group: NodeGroup) -> Iterator[str]:
    nodes = choices.nodes.get(group.pool)
    if nodes is None:
        yield f"has no nodes; select them in cluster.nodes.{group.pool}.selector"
        return
    where = f"cluster.nodes.{group.pool}.taint"
    taints = " and ".join(map(str, group.taints))
    if taints and not nodes.taint:
        rule = "NG-17: " if group.gpu_resource else "NG-24: " if group.lifecycle is Lifecycle.SPOT else ""
        yield f"{rule}its nodes need the taint {taints}; set {where}: true to add it where it is missing"
    if nodes.taint and not taints:
        yield f"needs no taint, so {where} has no effect; remove it"
    if group.is_elastic and not choices.autoscaler:
        yield f"NG-14: size {group.size} needs an autoscaler; set size.min = size.max, or cluster.autoscaler: true"
    if group.role is PoolRole.DATA and not all(instance.local_nvme_gib for instance in group.instances):
        yield "NG-22: data nodes need local NVMe disks; set machine.localNvmeGib, or use another machine type"
