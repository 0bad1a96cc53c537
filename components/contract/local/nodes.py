"""Renderings of node groups for simulated nodes: ``Node`` objects and the autoscaler's templates."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from components.contract import autoscaler
from components.contract.allocatable import UPSTREAM, Reserves
from components.contract.gpus import DEFAULT_GPU_RESOURCE
from components.contract.groups import NodeGroup
from components.contract.kind_nodes import ROOT_DISK_GIB
from components.contract.labels import AnnotationKey, LabelKey, WellKnownLabel


@dataclass(frozen=True, kw_only=True)
class SimulatedGroup:
    """A group, of any kind of cluster, whose nodes are simulated."""

    group: NodeGroup
    reserves: Reserves = UPSTREAM
    """Reserves of its nodes; default: as on a local cluster."""
    pods_of_empty_group: int | None = None
    """Pods per node that the autoscaler assumes while the group has no nodes; None: as many as the node accepts."""
    disk_gib: int = ROOT_DISK_GIB
    """Size of the root disk."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that a cloud adds to the group's own."""
    zones: tuple[str, ...] = ()
    """Values of the zone label of its nodes, in turn; empty if the cluster knows no zones."""
    starts_in: str = ""
    """Real time until a node that the autoscaler adds is ready, such as ``2s``; empty: ready at once."""

    def zone(self, index: int = 0) -> dict[str, str]:
        """Return the zone label of the group's node with number ``index``."""
        return {WellKnownLabel.ZONE.value: self.zones[index % len(self.zones)]} if self.zones else {}

    @property
    def capacity(self) -> dict[str, str]:
        """The whole machine's resources, as Kubernetes quantities."""
        instance = self.group.instances[0]
        return self._resources(str(instance.vcpus), instance.memory_mib, self.disk_gib * 1024)

    @property
    def allocatable(self) -> dict[str, str]:
        """The resources that pods may use, as on a real machine of that type."""
        instance, keeps = self.group.machine, self.reserves
        cpu, memory = keeps.allocatable_cpu_millis(instance), keeps.allocatable_memory_mib(instance)
        return self._resources(f"{cpu}m", memory, keeps.allocatable_disk_mib(self.disk_gib))

    @property
    def expected(self) -> dict[str, dict[str, str]]:
        """Capacity and allocatable resources that the autoscaler expects of a node while the group has none."""
        pods = {} if self.pods_of_empty_group is None else {"pods": str(self.pods_of_empty_group)}
        return {"capacity": {**self.capacity, **pods}, "allocatable": {**self.allocatable, **pods}}

    def _resources(self, cpu: str, memory_mib: int, disk_mib: int) -> dict[str, str]:
        whole, rest = divmod(disk_mib, 1024)
        return {
            "cpu": cpu,
            "memory": f"{memory_mib}Mi",
            "ephemeral-storage": f"{disk_mib}Mi" if rest else f"{whole}Gi",
            "pods": str(self.reserves.pods(self.group.instances[0])),
            **{name: f"{mib}Mi" for name, mib in self.group.huge_pages.items()},
            **{name: str(count) for name, count in self.group.devices.items()},
        }


def node_metadata(simulated: SimulatedGroup, node_name: str, index: int = 0) -> dict[str, Any]:
    """Return name, labels and annotations of one node of a group.

    Parameters
    ----------
    simulated
        The group.
    node_name
        Name of the node.
    index
        Number of the node in its group; it decides the zone.
    """
    group = simulated.group
    instance = group.instances[0]
    labels = {
        **group.labels,
        **simulated.labels,
        **simulated.zone(index),
        WellKnownLabel.ARCH.value: instance.architecture,
        WellKnownLabel.HOSTNAME.value: node_name,
        WellKnownLabel.INSTANCE_TYPE.value: instance.name,
        WellKnownLabel.OS.value: "linux",
    }
    if DEFAULT_GPU_RESOURCE in group.devices:
        # The autoscaler waits forever for a node with this label that offers its GPUs under another name.
        labels[LabelKey.GPU_MODEL.value] = instance.gpu_label
    annotations = {
        AnnotationKey.SIMULATED.value: "fake",
        AnnotationKey.CAPACITY.value: json.dumps(simulated.capacity, sort_keys=True),
        AnnotationKey.ALLOCATABLE.value: json.dumps(simulated.allocatable, sort_keys=True),
        AnnotationKey.CAPACITY_TYPE.value: group.lifecycle.value,
        AnnotationKey.SIZE_MIN.value: str(group.size.min),
        AnnotationKey.SIZE_MAX.value: str(group.size.max),
        AnnotationKey.SIZE_DESIRED.value: str(group.size.min),
    }
    return {"name": node_name, "labels": labels, "annotations": annotations}


def node_taints(group: NodeGroup) -> list[dict[str, str]]:
    """Return ``Node.spec.taints`` of the group's nodes."""
    return [taint.to_kubernetes() for taint in group.taints]


def static_nodes(simulated: SimulatedGroup) -> list[dict[str, Any]]:
    """Return the nodes of a static group as manifests, with its zones in turn."""
    group = simulated.group
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": node_metadata(simulated, f"{group.name}-{index}", index),
            # An untainted node has no list: with an empty one, this manifest would own the field.
            **({"spec": {"taints": node_taints(group)}} if group.taints else {}),
        }
        for index in range(group.size.min)
    ]


def autoscaler_templates(groups: Iterable[SimulatedGroup]) -> str:
    """Return the node templates of all elastic groups as YAML, one per group.

    A template states its resources twice: in the annotations, which the simulated node copies, and in its status, which
    the autoscaler uses for a group without nodes. The template of a group over several zones has the first zone,
    because the autoscaler uses one template per group.
    """
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": _template_metadata(each),
            "spec": {"taints": node_taints(each.group)},
            "status": {**each.expected, **_starting(each)},
        }
        for each in groups
    ]
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}, sort_keys=True)


def _starting(simulated: SimulatedGroup) -> dict[str, Any]:
    """Return the condition of a node that takes time to start.

    Without it, the node controller would remove a new node's not-ready taint at once, and pods would be placed there
    (kubernetes v1.36.3, ``pkg/controller/nodelifecycle``, ``doNoScheduleTaintingPass``).
    """
    if not simulated.starts_in:
        return {}
    return {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "starting"}]}


def _template_metadata(simulated: SimulatedGroup) -> dict[str, Any]:
    metadata = node_metadata(simulated, simulated.group.name)
    # Otherwise the pool's label would name the group, and the shapes of one pool would be one group.
    added = {AnnotationKey.GROUP.value: simulated.group.name}
    if simulated.starts_in:
        added[AnnotationKey.STARTS_IN.value] = simulated.starts_in
    return {**metadata, "annotations": {**metadata["annotations"], **added}}


def autoscaler_config(groups: Sequence[NodeGroup]) -> str:
    """Return the settings of the autoscaler's kwok provider as YAML."""
    models = sorted({group.instances[0].gpu_label for group in groups if DEFAULT_GPU_RESOURCE in group.devices})
    nodes: dict[str, Any] = {"skipTaint": True}
    if models:
        nodes["gpuConfig"] = {
            "gpuLabelKey": LabelKey.GPU_MODEL.value,
            "availableGPUTypes": {model: {} for model in models},
        }
    return yaml.safe_dump(
        {
            "apiVersion": "v1alpha1",
            "readNodesFrom": "configmap",
            "nodegroups": {"fromNodeLabelKey": LabelKey.POOL.value},
            "nodes": nodes,
            "configmap": {"name": autoscaler.TEMPLATES},
        },
        sort_keys=True,
    )
