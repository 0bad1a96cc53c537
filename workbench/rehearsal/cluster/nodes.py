"""The node groups of a stack of any kind as simulated nodes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.contract import autoscaler
from components.contract.clusters import descriptor_of
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup
from components.contract.local import nodes
from components.contract.local.nodes import SimulatedGroup
from infra.config import StackConfig
from workbench.rehearsal.record import GroupFacts
from workbench.rehearsal.settings import Pace, Scaler


def static_nodes(config: StackConfig) -> list[dict[str, Any]]:
    """Return the nodes of all static groups as manifests; they are ready at once.

    Nodes of a group with several zones are distributed over them in turn, as in a cloud.
    """
    static = (simulated_group(config, group) for group in config.groups if not group.is_elastic)
    return [node for group in static for node in nodes.static_nodes(group)]


def autoscaler_maps(
    config: StackConfig, pace: Pace, groups: Iterable[NodeGroup] | None = None
) -> dict[str, dict[str, str]]:
    """Return the data of the autoscaler's two ConfigMaps by their names; empty if no group is elastic.

    Nodes that it adds become ready after ``pace.node_start``. They include the minimum of each elastic group.

    Parameters
    ----------
    groups
        The stack's groups with their current bounds. Default: those of the stack file.
    """
    elastic = [group for group in groups or config.groups if group.is_elastic]
    if not elastic:
        return {}
    starts_in = pace.real_text(pace.node_start) if pace.node_start else ""
    return {
        autoscaler.TEMPLATES: {
            "templates": nodes.autoscaler_templates(simulated_group(config, group, starts_in) for group in elastic)
        },
        autoscaler.CONFIG: {"config": nodes.autoscaler_config(elastic)},
    }


def group_facts(config: StackConfig) -> tuple[GroupFacts, ...]:
    """Return what verdicts and reports need to know about each group, in the order of the stack file."""
    return tuple(_facts(simulated_group(config, group)) for group in config.groups)


def assumptions(config: StackConfig, pace: Pace, scaler: Scaler = Scaler.CLUSTER_AUTOSCALER) -> tuple[str, ...]:
    """Return what the simulated nodes assume, as sentences."""
    return tuple(_assumptions(config, pace, scaler))


def simulated_group(config: StackConfig, group: NodeGroup, starts_in: str = "") -> SimulatedGroup:
    """Return a group of a stack with what its cloud adds to its nodes; parameters as of ``SimulatedGroup``."""
    kind, choices = descriptor_of(config.cluster), config.cluster
    return SimulatedGroup(
        group=group,
        reserves=kind.nodes.reserves_of(choices),
        pods_of_empty_group=kind.nodes.pods_of_empty_group,
        disk_gib=kind.nodes.disk_gib(choices),
        labels=kind.nodes.labels(choices, group),
        zones=tuple(kind.nodes.zone(choices, zone) for zone in _zones(config, group)),
        starts_in=starts_in,
    )


def _zones(config: StackConfig, group: NodeGroup) -> list[str]:
    return [group.zone] if group.zone else sorted(descriptor_of(config.cluster).zones(config.cluster))


def _facts(simulated: SimulatedGroup) -> GroupFacts:
    group, keeps = simulated.group, simulated.reserves
    instance = group.instances[0]
    return GroupFacts(
        name=group.name,
        pool=group.pool,
        role=group.role.value,
        lifecycle=group.lifecycle.value,
        zone=simulated.zones[0] if group.zone else None,
        instance_type=instance.name,
        min=group.size.min,
        max=group.size.max,
        night_min=group.hours.night_min if group.hours else None,
        headroom=group.headroom_nodes(keeps),
        is_elastic=group.is_elastic,
        labels=_group_labels(simulated),
        taints=tuple(map(str, group.taints)),
        gpu_resource=group.gpu_resource,
        cpu_millis=keeps.allocatable_cpu_millis(instance),
        memory_mib=keeps.allocatable_memory_mib(group.machine),
        gpus=group.gpus,
    )


def _group_labels(simulated: SimulatedGroup) -> Mapping[str, str]:
    """Return the labels that all nodes of the group share."""
    zone = simulated.zone() if len(simulated.zones) == 1 else {}
    return {**simulated.group.labels, **simulated.labels, **zone}


def _assumptions(config: StackConfig, pace: Pace, scaler: Scaler) -> Iterator[str]:
    kind = ClusterKind(config.cluster.kind)
    elastic = [group for group in config.groups if group.is_elastic]
    if elastic:
        adds = "Karpenter" if scaler.is_karpenter else "the autoscaler"
        yield f"A node that {adds} adds is ready after {pace.node_start:g} s."
    if scaler.is_karpenter and any(group.headroom for group in elastic):
        yield "Karpenter keeps no headroom: it looks only at pods that a scheduler has refused."
    if len(_spread(config)) > 1 and not scaler.is_karpenter:
        zones = sorted(_spread(config))
        over = dict.fromkeys(group.name for group in elastic if not group.zone)
        if over:
            yield (
                f"All nodes that the autoscaler adds to {', '.join(over)} are in the zone {zones[0]}; a cloud spreads "
                f"them over {', '.join(zones)}."
            )
    several = dict.fromkeys(group.name for group in config.groups if len(group.instances) > 1)
    if several:
        yield f"Nodes of {', '.join(several)} are of the first machine type only; a cloud may start any of them."
    if kind is ClusterKind.EXISTING:
        yield "Nodes keep as much CPU and memory for their daemons as on EKS, and have the taints of their pools."
    yield "Nodes offer their nominal memory without what the kubelet reserves; firmware and kernel take a little more."


def _spread(config: StackConfig) -> set[str]:
    kind = descriptor_of(config.cluster)
    return {kind.nodes.zone(config.cluster, zone) for zone in kind.zones(config.cluster)}
