"""Node groups: the pools of a stack file with labels, taints and sizes, for any kind of cluster."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from components.contract.allocatable import Reserves
from components.contract.fabric import HUGE_PAGES, Fabric, fabric_of
from components.contract.headroom import Headroom
from components.contract.hours import PoolHours
from components.contract.instances import InstanceType
from components.contract.labels import TRUE, AnnotationKey, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.pool_size import PoolSize
from components.contract.pool_upgrade import PoolUpgrade, at_once
from components.contract.pools import NodePool, PoolRole
from components.contract.reservation import Reservation
from components.contract.sharing import Shares
from components.contract.taints import ARM_TAINT, Taint, TaintEffect, gpu_taint
from components.contract.warm_pool import WarmPool, WarmState


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """One group of equal nodes, exactly as the cluster's kind creates it."""

    name: str
    """The pool's name, followed by what distinguishes the pool's groups: shape, machine type, zone.

    Unique in its cluster.
    """
    pool: str
    role: PoolRole
    lifecycle: Lifecycle
    size: PoolSize
    instances: tuple[InstanceType, ...]
    """Machine types of one shape, preferred first."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    gpu_resource: str | None
    """Name under which the group's GPUs are requested; None without GPUs."""
    sharing: Shares | None = None
    """How pods share each of the group's GPUs; None if each pod has whole ones."""
    hours: PoolHours | None = None
    """Hours outside which the minimum is lower, with the group's share of that minimum; None if it never changes."""
    headroom: Headroom | None = None
    """Room that the pool keeps free in any of its groups; None if it keeps none."""
    prepull_images: tuple[str, ...] = ()
    """Images that its nodes pull when they start."""
    warm_pool: WarmPool | None = None
    """Machines of the warm pool, the group's share of them; None if there are none."""
    upgrade: PoolUpgrade | None = None
    """Limits of upgrades; None if the stack file sets none."""
    is_zonal: bool = False
    """Whether a cloud creates one group per zone."""
    zone: str | None = None
    """The single zone of the group's nodes; None if any zone is allowed."""
    reservation: Reservation | None = None
    """Reserved capacity that the group uses; None on demand and on spot."""
    fabric: Fabric | None = None
    """The fast network between its nodes; None if they have the usual one only."""
    is_close_together: bool = False
    """Whether the cloud places its nodes close to each other."""
    live_nodes: int | None = None
    """Nodes of the existing group of this name; None if there is none or it is unknown."""

    @property
    def is_elastic(self) -> bool:
        """Whether the autoscaler owns the size between the bounds."""
        return self.size.is_elastic

    @property
    def minimums(self) -> frozenset[int]:
        """Every minimum that its schedules set: by day, and outside its hours if it has any."""
        return frozenset({self.size.min} | ({self.hours.night_min} if self.hours else set()))

    @property
    def initial_nodes(self) -> int:
        """Nodes at creation: as many as the group that it replaces has, within its bounds; else its minimum."""
        return max(self.size.min, min(self.live_nodes or 0, self.size.max))

    @property
    def devices(self) -> dict[str, int]:
        """What each node offers besides CPU and memory, by resource name: GPUs or shares of them, fast interfaces."""
        gpus = {self.gpu_resource: self.gpus} if self.gpu_resource else {}
        return {**gpus, self.fabric.resource: self.fabric.interfaces} if self.fabric else gpus

    @property
    def gpus(self) -> int:
        """GPUs of each node, or the shares of them."""
        return self.instances[0].gpus * (self.sharing.per_gpu if self.sharing else 1) if self.gpu_resource else 0

    @property
    def huge_pages(self) -> dict[str, int]:
        """MiB of each node's memory that are huge pages, by the name under which pods request them."""
        return {HUGE_PAGES: self.fabric.huge_pages_mib} if self.fabric else {}

    @property
    def machine(self) -> InstanceType:
        """The first machine type, without the memory that is huge pages."""
        first, huge = self.instances[0], sum(self.huge_pages.values())
        return replace(first, memory_mib=first.memory_mib - huge) if huge else first

    def headroom_nodes(self, keeps: Reserves) -> int:
        """Return how many nodes the pool's headroom needs while nothing else runs; 0 without headroom."""
        return self.headroom.nodes(self.machine, self.gpus, keeps) if self.headroom else 0

    @property
    def standing_by(self) -> int:
        """Running machines of the warm pool, which cost as much as nodes."""
        return self.warm_pool.nodes if self.warm_pool and self.warm_pool.state is WarmState.RUNNING else 0

    @property
    def upgraded_at_once(self) -> str:
        """How many nodes an upgrade replaces at once: a number, or a share such as 33%."""
        return at_once(self.upgrade, self.size.max, is_elastic=self.is_elastic)

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of nodes, by which an autoscaler of another owner keeps data nodes."""
        return {AnnotationKey.SCALE_DOWN_DISABLED.value: TRUE} if self.role is PoolRole.DATA else {}

    @property
    def holds_user_work(self) -> bool:
        """Whether users' pods may run on the group."""
        return self.role.holds_user_work


Split: TypeAlias = Callable[[NodeGroup], Iterable[NodeGroup]]
"""How a kind of cluster divides a group of one shape into several."""


def resolve_groups(
    pools: Mapping[str, NodePool], spot_taint: Taint | None = None, split: Split = lambda group: (group,)
) -> tuple[NodeGroup, ...]:
    """Return the groups that a cluster creates for its pools, in the stack file's order.

    The first shape's group has the pool's name and keeps its minimum. Each further shape adds a group, which may be
    empty, and leaves the others unchanged. Each may grow to the pool's maximum: the autoscaler's expander
    (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#what-are-expanders) chooses among
    the groups that fit a pending pod and are not full, so a divided maximum would strand pods that fit only one shape.

    Parameters
    ----------
    pools
        Pools by name.
    spot_taint
        Taint of every spot node, from ``clusters.spot_taint``; default: none.
    split
        How the kind of cluster divides a group further; default: not at all.
    """
    groups = (_group(name, pool, _taints(pool, pools.values(), spot_taint)) for name, pool in pools.items())
    return tuple(part for group in groups for shape in _by_shape(group) for part in split(shape))


def by_zone(group: NodeGroup, zones: Sequence[str]) -> Iterator[NodeGroup]:
    """Yield one group per zone if the group is zonal; otherwise the group itself.

    A pod whose volume is in one zone cannot start in another, and the autoscaler cannot choose the zone in which a
    group over several zones grows (https://docs.aws.amazon.com/eks/latest/best-practices/cas.html). The bounds of a
    pool are divided, so that their sums equal those of the stack file; a zone that gets no node gets no group. The
    order of ``zones`` has no meaning.
    """
    if not group.is_zonal:
        yield group
        return
    for index, zone in enumerate(sorted(zones)):
        low, high = (_share(total, index, len(zones)) for total in (group.size.min, group.size.max))
        if high:
            yield replace(
                group,
                name=f"{group.name}-{zone}",
                zone=zone,
                size=PoolSize(min=low, max=high),
                hours=_share_of_night(group.hours, low, index, len(zones)),
                warm_pool=_share_of_warm_pool(group.warm_pool, index, len(zones)),
            )


def zones_unknown_at_zero(groups: Iterable[NodeGroup], zones: Collection[str]) -> dict[str, str]:
    """Return messages about elastic pools over several zones for which pods may stay pending, by pool.

    Only roles whose pods use a volume in one zone are checked; other pods may start in any zone.

    The autoscaler assumes one zone for an empty group: on AWS the first (``getAsgTemplate`` in
    ``cloudprovider/aws/aws_manager.go``), on Azure a random one (``buildGenericLabels`` in
    ``cloudprovider/azure/azure_template.go``).
    """
    if len(zones) < 2:  # noqa: PLR2004
        return {}
    message = (
        f"may have no nodes, and its groups span the zones {', '.join(sorted(zones))}. The autoscaler assumes one zone "
        "for an empty group, so a pod whose volume is in another zone may stay pending forever. Remove zonal: false, "
        "which replaces the pool's groups"
    )
    at_risk = (group for group in groups if group.role.has_zonal_volumes and group.is_elastic and not group.zone)
    return {group.pool: message for group in at_risk if not group.size.min}


def _by_shape(group: NodeGroup) -> list[NodeGroup]:
    shapes: dict[tuple[object, ...], list[InstanceType]] = {}
    for instance in group.instances:
        shapes.setdefault(instance.shape, []).append(instance)
    first, *others = map(tuple, shapes.values())
    further = PoolSize(min=0, max=group.size.max)
    return [
        replace(group, instances=first),
        *(
            replace(
                group, name=f"{group.name}-{i[0].shape_name}", size=further, instances=i, hours=None, warm_pool=None
            )
            for i in others
        ),
    ]


def _share_of_night(hours: PoolHours | None, low: int, index: int, parts: int) -> PoolHours | None:
    """Return the hours of one zone's group; None if its minimum does not change at night."""
    share = _share(hours.night_min, index, parts) if hours else low
    return hours.model_copy(update={"night_min": share}) if hours and share < low else None


def _share_of_warm_pool(warm: WarmPool | None, index: int, parts: int) -> WarmPool | None:
    """Return the warm pool of one zone's group; None if it has none."""
    share = _share(warm.nodes, index, parts) if warm else 0
    return warm.model_copy(update={"nodes": share}) if warm and share else None


def _share(total: int, index: int, parts: int) -> int:
    return total // parts + (index < total % parts)


def _taints(pool: NodePool, pools: Iterable[NodePool], spot_taint: Taint | None) -> Iterator[Taint]:
    if pool.gpu_resource:
        yield gpu_taint(pool.gpu_resource)
    if pool.lifecycle is Lifecycle.SPOT and spot_taint:
        yield spot_taint
    if pool.holds_user_work and pool.is_arm and any(_is_amd64_for_the_same_pods(other, pool) for other in pools):
        yield ARM_TAINT


def _is_amd64_for_the_same_pods(other: NodePool, pool: NodePool) -> bool:
    """Return whether pods that cannot use the ARM ``pool`` may run on ``other``; if not, a taint would strand them.

    Pods that name no role are plain jobs.
    """
    takes_them = other.role is pool.role or other.role.takes_plain_jobs
    is_as_safe = other.lifecycle is Lifecycle.ON_DEMAND or pool.lifecycle is Lifecycle.SPOT
    return takes_them and not other.is_arm and other.gpu_resource == pool.gpu_resource and is_as_safe


def _group(name: str, pool: NodePool, taints: Iterable[Taint]) -> NodeGroup:
    labels = {
        **pool.labels,
        LabelKey.LIFECYCLE.value: pool.lifecycle.label_value,
        LabelKey.POOL.value: name,
        LabelKey.ROLE.value: pool.role.value,
    }
    sharing = pool.sharing.on(pool.instances[0]) if pool.sharing else None
    if sharing:
        labels[LabelKey.GPU_SHARING.value] = sharing.label
    if pool.reservation:
        labels[LabelKey.RESERVED.value] = pool.lifecycle.value
    fabric = fabric_of(pool.instances[0]) if pool.fabric else None
    if fabric:
        labels[LabelKey.FABRIC.value] = fabric.name
    if pool.holds_user_work:
        labels[LabelKey.USER_WORKLOADS.value] = TRUE
    return NodeGroup(
        name=name,
        pool=name,
        role=pool.role,
        lifecycle=pool.lifecycle,
        size=pool.size,
        instances=pool.instances,
        labels=labels,
        taints=tuple(taints),
        gpu_resource=pool.gpu_resource,
        sharing=sharing,
        hours=pool.office_hours,
        headroom=pool.headroom,
        prepull_images=pool.prepull_images,
        warm_pool=pool.warm_pool,
        upgrade=pool.upgrade,
        is_zonal=pool.zonal,
        zone=pool.zone,
        reservation=pool.reservation,
        fabric=fabric,
        is_close_together=pool.close_together,
    )


def by_pool(groups: Iterable[NodeGroup]) -> dict[str, list[NodeGroup]]:
    """Return the groups of each pool, in their order."""
    pools: dict[str, list[NodeGroup]] = {}
    for group in groups:
        pools.setdefault(group.pool, []).append(group)
    return pools


def spare_nodes(groups: Iterable[NodeGroup], keeps: Reserves) -> dict[str, int]:
    """Return the nodes beyond the minimum that groups have for headroom while nothing runs, by the group's name.

    The autoscaler may start them in any group of the pool; here they fill its groups in their order.
    """
    found = {}
    for members in by_pool(groups).values():
        first = members[0]
        wanted = first.headroom_nodes(keeps) - sum(group.size.min for group in members)
        for group in members:
            if (taken := min(wanted, group.size.max - group.size.min)) > 0:
                found[group.name] = taken
                wanted -= taken
    return found


def has_open_spot(groups: Iterable[NodeGroup]) -> bool:
    """Return whether pods without tolerations may run on spot nodes, because no taint keeps them off."""
    return any(
        group.lifecycle is Lifecycle.SPOT
        and all(taint.effect is TaintEffect.PREFER_NO_SCHEDULE for taint in group.taints)
        for group in groups
    )


def role_for_jobs(groups: Iterable[NodeGroup]) -> str:
    """Return the role of the pools for plain jobs; empty if there are none."""
    return next((group.role.value for group in groups if group.role.takes_plain_jobs), "")


def gpu_names(groups: Iterable[NodeGroup]) -> tuple[str, ...]:
    """Return the names under which the groups' GPUs are requested."""
    return tuple(dict.fromkeys(group.gpu_resource for group in groups if group.gpu_resource))
