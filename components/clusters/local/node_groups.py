"""Renderings of a node group for the local cluster: ``Node`` manifests and the autoscaler's templates."""

import json
from collections.abc import Sequence
from typing import Any

import yaml

from components.clusters.local.capacity import allocatable, capacity
from components.contract import autoscaler
from components.contract.groups import NodeGroup
from components.contract.labels import AnnotationKey, LabelKey, WellKnownLabel


def node_metadata(group: NodeGroup, node_name: str) -> dict[str, Any]:
    """Return name, labels and annotations of one node of ``group``."""
    instance = group.instances[0]
    labels = {
        **group.labels,
        WellKnownLabel.ARCH.value: instance.architecture,
        WellKnownLabel.HOSTNAME.value: node_name,
        WellKnownLabel.INSTANCE_TYPE.value: instance.name,
        WellKnownLabel.OS.value: "linux",
    }
    if instance.gpus:
        labels[LabelKey.GPU_MODEL.value] = instance.gpu_model
    annotations = {
        AnnotationKey.SIMULATED.value: "fake",
        AnnotationKey.CAPACITY.value: json.dumps(capacity(group), sort_keys=True),
        AnnotationKey.ALLOCATABLE.value: json.dumps(allocatable(group), sort_keys=True),
        AnnotationKey.CAPACITY_TYPE.value: group.lifecycle.value,
        AnnotationKey.SIZE_MIN.value: str(group.size.min),
        AnnotationKey.SIZE_MAX.value: str(group.size.max),
        AnnotationKey.SIZE_DESIRED.value: str(group.size.min),
    }
    return {"name": node_name, "labels": labels, "annotations": annotations}


def node_taints(group: NodeGroup) -> list[dict[str, str]]:
    """Return ``Node.spec.taints`` of the group's nodes."""
    return [taint.to_kubernetes() for taint in group.taints]


def autoscaler_templates(groups: Sequence[NodeGroup]) -> str:
    """Return the node templates of all elastic groups as YAML, one per group.

    A template states its resources twice: in the annotations, which the simulated node copies, and in its status, from
    which the autoscaler sizes a group without nodes.
    """
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": _template_metadata(group),
            "spec": {"taints": node_taints(group)},
            "status": {"capacity": capacity(group), "allocatable": allocatable(group)},
        }
        for group in groups
    ]
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}, sort_keys=True)


def _template_metadata(group: NodeGroup) -> dict[str, Any]:
    metadata = node_metadata(group, group.name)
    # Without it the label of the pool names the group, and shapes of one pool would be one group.
    return {**metadata, "annotations": {**metadata["annotations"], AnnotationKey.GROUP.value: group.name}}


def autoscaler_config(groups: Sequence[NodeGroup]) -> str:
    """Return the settings of the autoscaler's kwok provider as YAML."""
    models = sorted({group.instances[0].gpu_model for group in groups if group.gpu_resource})
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
