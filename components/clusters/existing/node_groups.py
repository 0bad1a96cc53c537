"""Pools of an existing cluster: their properties, and the labels on their nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from components.base import PlatformComponent
from components.contract.groups import NodeGroup
from components.contract.instances import InstanceType


@dataclass(frozen=True, kw_only=True)
class ExistingPoolArgs:
    """Inputs of a pool."""

    group: NodeGroup
    selector: Mapping[str, str]
    """Labels that select its nodes."""


class ExistingPool(PlatformComponent):
    """Properties of a pool. As there is no cloud resource, the component carries them for the policies."""

    def __init__(self, name: str, args: ExistingPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        facts = pool_facts(args.group, args.selector)
        super().__init__("igz-clusters:clusters:ExistingPool", name, facts, opts)
        self.register_outputs({})


def pool_facts(group: NodeGroup, selector: Mapping[str, str]) -> dict[str, Any]:
    """Return the inputs of a pool; ``policies.views.node_groups.existing`` reads them."""
    return {
        "selector": dict(selector),
        "labels": dict(group.labels),
        "taints": [taint.to_kubernetes() for taint in group.taints],
        "lifecycle": group.lifecycle.value,
        "size": {"min": group.size.min, "max": group.size.max},
        "machines": [_machine(instance) for instance in group.instances],
        **({"annotations": group.annotations} if group.annotations else {}),
        **({"gpuResource": group.gpu_resource} if group.gpu_resource else {}),
    }


def _machine(instance: InstanceType) -> dict[str, Any]:
    return {
        "name": instance.name,
        "vcpus": instance.vcpus,
        "memoryMib": instance.memory_mib,
        "architecture": instance.architecture,
        "gpus": instance.gpus,
        "gpuModel": instance.gpu_model,
        "localNvmeGib": instance.local_nvme_gib,
    }
