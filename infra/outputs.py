"""Outputs of a stack."""

from typing import Any

import pulumi

from components.clusters.handle import ClusterHandle
from components.contract.groups import NodeGroup
from components.contract.mlrun import default_node_selector
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from components.scheduling.priority_classes import PriorityClasses
from infra.config import StackConfig
from infra.config.effective import SETTINGS_DIGEST, settings_digest


def export(config: StackConfig, cluster: ClusterHandle, classes: PriorityClasses, *, corrects: bool) -> None:
    """Export the cluster's identity, its pools, and what the platform layer needs to be installed.

    ``corrects`` is that of ``default_node_selector``.
    """
    pulumi.export(
        "cluster",
        {
            "name": cluster.name,
            "kind": cluster.kind.value,
            "environment": config.environment.value,
            **cluster.facts,
        },
    )
    if cluster.kubeconfig is not None:
        pulumi.export("kubeconfig", cluster.kubeconfig)
    pulumi.export(
        "pools",
        # By name, so that a group that comes or goes leaves the entries of the others alone.
        {group.name: _group(group) for group in cluster.groups},
    )
    pulumi.export("priorityClasses", {tier.value: classes.value_of(tier) for tier in UserPriority})
    pulumi.export("defaultPriorityClass", DEFAULT_USER_PRIORITY.value)
    pulumi.export("defaultNodeSelector", default_node_selector(cluster.groups, corrects=corrects))
    pulumi.export("namespaces", list(config.namespaces))
    pulumi.export(SETTINGS_DIGEST, settings_digest(config))
    if cluster.identities:
        pulumi.export("identities", {name: dict(each.facts) for name, each in cluster.identities.items()})


def _group(group: NodeGroup) -> dict[str, Any]:
    machine = group.instances[0]
    return {
        "pool": group.pool,
        "role": group.role.value,
        "lifecycle": group.lifecycle.value,
        "min": group.size.min,
        "max": group.size.max,
        "instanceTypes": [instance.name for instance in group.instances],
        "architecture": machine.architecture,
        # Of one node. All types of a group have one shape.
        "vcpus": machine.vcpus,
        "gpus": machine.gpus,
        "gpuModel": machine.gpu_model,
        **({"devices": group.devices} if group.sharing or group.fabric else {}),
        "labels": dict(group.labels),
        "taints": [str(taint) for taint in group.taints],
    }
