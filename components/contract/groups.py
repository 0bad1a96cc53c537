"""Node groups: what the choices of a pool mean in labels, taints and sizes, on any kind of cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from components.contract.instances import InstanceType
from components.contract.labels import TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.pools import NodePool, PoolRole, PoolSize
from components.contract.taints import Taint, gpu_taint


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """One group of equal nodes, ready to be rendered by a cluster kind."""

    name: str
    """The pool's, with the shape for every shape but the first, and with the zone where it has only one."""
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
    zone: str | None = None
    """The one zone of the group's nodes; None if they may be in any."""

    @property
    def is_elastic(self) -> bool:
        """Whether the autoscaler owns the size between the bounds."""
        return self.size.is_elastic

    @property
    def holds_user_work(self) -> bool:
        """Whether users' pods may run on the group."""
        return self.role.holds_user_work


def node_groups(pools: Mapping[str, NodePool], spot_taint: Taint | None) -> tuple[NodeGroup, ...]:
    """Return the groups of all pools, one for each shape of machine, in the stack file's order.

    The first shape's group has the pool's name and keeps its minimum. A further shape brings a group of its own, which
    may be empty, and leaves the others as they are. Each may grow to the pool's maximum: the autoscaler's expander
    (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#what-are-expanders) chooses among
    the groups that fit a waiting pod and are not full, so a shared-out maximum would strand pods that fit one shape.

    Parameters
    ----------
    pools
        Pools by name.
    spot_taint
        What every spot node of this kind of cluster carries, from ``taints.spot_taint``.
    """
    return tuple(part for name, pool in pools.items() for part in _by_shape(_group(name, pool, spot_taint)))


def in_zones(groups: Sequence[NodeGroup], zones: Sequence[str]) -> tuple[NodeGroup, ...]:
    """Return ``groups`` with one group a zone in place of each whose volumes are bound to a zone.

    A pod whose volume lies in one zone cannot start in another, and a group over several zones grows where it likes
    (https://docs.aws.amazon.com/eks/latest/best-practices/cas.html). The bounds of a pool are shared out, so that
    they stay what the stack file says; a zone that gets no node gets no group. The order of ``zones`` has no meaning.
    """
    return tuple(
        part
        for group in groups
        for part in (_by_zone(group, sorted(zones)) if group.role.has_zonal_volumes else (group,))
    )


def _by_shape(group: NodeGroup) -> list[NodeGroup]:
    shapes: dict[tuple[object, ...], list[InstanceType]] = {}
    for instance in group.instances:
        shapes.setdefault(instance.shape, []).append(instance)
    first, *others = map(tuple, shapes.values())
    further = PoolSize(min=0, max=group.size.max)
    return [
        replace(group, instances=first),
        *(replace(group, name=f"{group.name}-{i[0].shape_name}", size=further, instances=i) for i in others),
    ]


def _by_zone(group: NodeGroup, zones: Sequence[str]) -> list[NodeGroup]:
    bounds = [
        (zone, _share(group.size.min, index, len(zones)), _share(group.size.max, index, len(zones)))
        for index, zone in enumerate(zones)
    ]
    return [
        replace(group, name=f"{group.name}-{zone}", zone=zone, size=PoolSize(min=low, max=high))
        for zone, low, high in bounds
        if high
    ]


def _share(total: int, index: int, parts: int) -> int:
    return total // parts + (index < total % parts)


def _group(name: str, pool: NodePool, spot_taint: Taint | None) -> NodeGroup:
    taints = [gpu_taint(pool.gpu_resource)] if pool.gpu_resource else []
    if pool.lifecycle is Lifecycle.SPOT and spot_taint:
        taints.append(spot_taint)
    labels = {
        **pool.labels,
        LabelKey.LIFECYCLE.value: pool.lifecycle.label_value,
        LabelKey.POOL.value: name,
        LabelKey.ROLE.value: pool.role.value,
    }
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
    )
