"""The nodes of EKS: what they reserve, their root disk, and the labels that AWS adds."""

from collections.abc import Mapping
from typing import Final

from components.contract.eks.autoscaling import node_labels
from components.contract.eks.config import EksConfig
from components.contract.eks.reserves import RESERVES, pods
from components.contract.eks.spelling import capacity_type
from components.contract.groups import NodeGroup
from components.contract.kind_nodes import KindNodes
from components.contract.labels import WellKnownLabel

CAPACITY_TYPE: Final = "eks.amazonaws.com/capacityType"
NODE_GROUP: Final = "eks.amazonaws.com/nodegroup"
"""Labels that EKS adds to nodes of managed groups.

https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
"""

PODS_OF_EMPTY_GROUP: Final = 110
"""Pods per node of any type: kubernetes/autoscaler 1959f5f6, ``cloudprovider/aws/aws_manager.go``, line 278."""


def _labels(choices: EksConfig, group: NodeGroup) -> Mapping[str, str]:
    return {
        **node_labels(group),
        CAPACITY_TYPE: capacity_type(group),
        NODE_GROUP: group.name,
        WellKnownLabel.REGION.value: choices.region,
    }


NODES: Final[KindNodes[EksConfig]] = KindNodes(
    reserves=RESERVES,
    pods_of_empty_group=PODS_OF_EMPTY_GROUP,
    disk_gib=lambda choices: choices.root_volume_gib,
    labels=_labels,
    pods=lambda choices, instance: pods(instance, has_prefixes=choices.prefix_delegation),
    zone=lambda choices, letter: f"{choices.region}{letter}",
)
