"""Checks of pools that all clouds share."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final

from components.contract.allocatable import Reserves
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Provider
from components.contract.gpus import DEFAULT_GPU_RESOURCE
from components.contract.groups import NodeGroup, by_pool
from components.contract.headroom import room_on
from components.contract.images import REGISTRY_K8S, REGISTRY_NVIDIA
from components.contract.lifecycle import Lifecycle
from components.contract.pools import NodePool, PoolRole
from components.contract.prepull import SINCE

NO_HOURS_IN_PROD: Final = "is for development clusters: in prod services must answer at any hour; remove it"


def foreign_types(pool: NodePool, provider: Provider, cloud: str, example: str) -> Iterator[str]:
    """Refuse machine types of another cloud."""
    foreign = [i.name for i in pool.instances if i.provider is not provider]
    if foreign:
        yield f"{', '.join(foreign)} are not {cloud} machine types; use one such as {example}"


def other_devices(pool: NodePool, kind: str) -> Iterator[str]:
    """Refuse accelerators without a driver or device plug-in, and names of resources that the machines do not offer."""
    others = [i for i in pool.instances if i.gpus and i.gpu_maker not in ("nvidia", "")]
    if others:
        makers = ", ".join(dict.fromkeys(f"{i.gpu_model} devices" for i in others))
        yield (
            f"NG-16: {', '.join(i.name for i in others)} have {makers}, for which this package sets up no driver or "
            f"device plug-in on {kind}; use types with NVIDIA GPUs, or cluster.kind existing"
        )
    elif not pool.sharing and pool.gpu_resource not in (None, DEFAULT_GPU_RESOURCE):
        yield f"gpuResource: on {kind} it must be {DEFAULT_GPU_RESOURCE}, given {pool.gpu_resource}"


def without_spot(pool: NodePool, cloud: str) -> Iterator[str]:
    """Refuse spot pools of types that the cloud sells on demand only."""
    never = [i.name for i in pool.instances if not i.offers_spot] if pool.lifecycle is Lifecycle.SPOT else []
    if never:
        yield f"{cloud} sells no spot capacity of {', '.join(never)}; remove them or make the pool on-demand"


def no_reservations(pools: Mapping[str, NodePool], kind: str) -> Iterator[Mismatch]:
    """Refuse reserved capacity and zones of pools, on kinds of cluster whose machines the stack does not create."""
    for name, pool in pools.items():
        if pool.lifecycle is Lifecycle.RESERVED:
            message = f"'reserved' is for cluster.kind eks and aks: on {kind} the stack starts no machines"
            yield Mismatch((name, "lifecycle"), message)
        elif pool.zone:
            yield Mismatch((name, "zone"), f"is for cluster.kind eks and aks: on {kind} the stack starts no machines")


def no_fabric(pools: Mapping[str, NodePool], why: str) -> Iterator[Mismatch]:
    """Refuse fast networks, on kinds of cluster whose nodes have none."""
    for name, pool in pools.items():
        if pool.fabric:
            yield Mismatch((name, "fabric"), why)


def no_closeness(pools: Mapping[str, NodePool], why: str) -> Iterator[Mismatch]:
    """Refuse fast networks and placement close together, on kinds of cluster that have neither."""
    yield from no_fabric(pools, why)
    for name, pool in pools.items():
        if pool.close_together:
            yield Mismatch((name, "closeTogether"), why)


def no_pool_hours(pools: Mapping[str, NodePool], why: str) -> Iterator[Mismatch]:
    """Refuse office hours of pools, on kinds of cluster that have no schedule for them."""
    for name, pool in pools.items():
        if pool.office_hours:
            yield Mismatch((name, "officeHours"), why)


def no_headroom(pools: Mapping[str, NodePool], why: str) -> Iterator[Mismatch]:
    """Refuse headroom, on kinds of cluster whose autoscaler has no flags in the stack."""
    for name, pool in pools.items():
        if pool.headroom:
            yield Mismatch((name, "headroom"), why)


def headroom_problems(
    groups: Iterable[NodeGroup], pools: Mapping[str, NodePool], keeps: Reserves
) -> Iterator[Mismatch]:
    """Find headroom that does not fit on a node of its pool's first machine type, or uses all its nodes."""
    for name, (group, *_) in by_pool(groups).items():
        if (headroom := group.headroom) is None:
            continue
        machine, most, nodes = group.machine, pools[name].size.max, group.headroom_nodes(keeps)
        if not nodes:
            millis, mib = room_on(machine, keeps)
            gpus = f", {group.gpus} {group.gpu_resource}" if headroom.gpus else ""
            yield Mismatch(
                (name, "headroom"),
                f"one of the pods does not fit on a {machine.name}, which has {millis}m CPU, {mib}Mi memory{gpus} "
                "for pods besides the cluster's daemons; ask for less, or list a larger machine type first",
            )
        elif nodes >= most:
            yield Mismatch(
                (name, "headroom", "pods"),
                f"takes {nodes} nodes, and the pool has at most {most}: none could start when work comes; lower it, "
                "or raise size.max",
            )


def no_warm_pool(pools: Mapping[str, NodePool], why: str) -> Iterator[Mismatch]:
    """Refuse warm pools, on kinds of cluster that have none."""
    for name, pool in pools.items():
        if pool.warm_pool:
            yield Mismatch((name, "warmPool"), why)


def no_prepulled_images(pools: Mapping[str, NodePool], why: str) -> Iterator[Mismatch]:
    """Refuse images to pull early, on kinds of cluster whose nodes the stack does not create."""
    for name, pool in pools.items():
        if pool.prepull_images:
            yield Mismatch((name, "prepullImages"), why)


def prepull_problems(pools: Mapping[str, NodePool], version: str) -> Iterator[Mismatch]:
    """Refuse images to pull early on nodes that cannot mount an image as a volume."""
    for name, pool in pools.items():
        if pool.prepull_images and _minor(version) < _minor(SINCE):
            message = (
                f"needs nodes of Kubernetes {SINCE}, which mount images as volumes; raise their version, or remove it"
            )
            yield Mismatch((name, "prepullImages"), message)


def unreachable_images(
    groups: Iterable[NodeGroup], replaced: Container[str], keys: str, *, runs_autoscaler: bool = False
) -> Iterator[Mismatch]:
    """Find images of this package that nodes cannot pull in a network without the internet.

    Parameters
    ----------
    groups
        The groups of the cluster.
    replaced
        Registries that the stack file replaces with mirrors.
    keys
        Keys of these mirrors, for the message.
    runs_autoscaler
        Whether the autoscaler is a pod of this package, instead of the cloud's own.
    """
    for group in groups:
        is_scaled = runs_autoscaler and group.is_elastic
        wanted = {}
        if is_scaled or group.prepull_images:
            wanted[REGISTRY_K8S] = "the autoscaler" if is_scaled else "prepullImages"
        if group.gpu_resource:
            wanted[REGISTRY_NVIDIA] = "the GPU plug-in"
        for registry, program in wanted.items():
            if registry not in replaced:
                yield Mismatch(
                    (group.pool,),
                    f"needs the image of {program} from {registry}, and cluster.network.internet is none; replace that "
                    f"registry in {keys}, or set cluster.proxy",
                )


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def no_upgrades(pools: Mapping[str, NodePool], why: str) -> Iterator[Mismatch]:
    """Refuse limits of upgrades, on kinds of cluster whose nodes the stack does not upgrade."""
    for name, pool in pools.items():
        if pool.upgrade:
            yield Mismatch((name, "upgrade"), why)


def upgrades_of_data(pools: Mapping[str, NodePool]) -> Iterator[Mismatch]:
    """Refuse limits of upgrades of data pools, which never happen because they would erase the disks."""
    data = {name: pool for name, pool in pools.items() if pool.role is PoolRole.DATA}
    yield from no_upgrades(data, "NG-20: data nodes are not upgraded automatically; remove it")


def data_beside_cluster_hours(pools: Mapping[str, NodePool]) -> Iterator[Mismatch]:
    """Refuse data pools in a cluster that has no nodes at night."""
    for name, pool in pools.items():
        if pool.role is PoolRole.DATA:
            message = "NG-20: its disks lose all data when cluster.officeHours stop the nodes; remove one of the two"
            yield Mismatch((name,), message)


def data_problems(pool: NodePool, zones: int, example: str) -> Iterator[str]:
    """Reject a data pool whose machine type or size could lose data.

    Parameters
    ----------
    pool
        A pool of role data.
    zones
        Number of the cluster's zones.
    example
        A machine type of the cloud that has NVMe disks.
    """
    without = [i.name for i in pool.instances if not i.local_nvme_gib]
    if without:
        yield f"NG-22: {', '.join(without)} have no NVMe disks; data pools need machine types such as {example}"
    if len(pool.instances) > 1:
        yield "NG-20: a data pool must have one machine type, so that all nodes have the same disks"
    if pool.size.min % zones:
        yield (
            f"NG-20: {pool.size.min} data nodes cannot be spread evenly over {zones} zones; "
            f"use a multiple of {zones}, because moving a node later loses its data"
        )
