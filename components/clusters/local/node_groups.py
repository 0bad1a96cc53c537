"""Node groups of the local cluster: nodes with the usual reserves, without zones or labels of a cloud."""

from collections.abc import Sequence
from typing import Any

from components.contract.groups import NodeGroup
from components.contract.local import nodes
from components.contract.local.nodes import SimulatedGroup, autoscaler_config, node_taints

__all__ = ["autoscaler_config", "autoscaler_templates", "node_metadata", "node_taints"]


def node_metadata(group: NodeGroup, node_name: str) -> dict[str, Any]:
    """Return name, labels and annotations of one node of ``group``."""
    return nodes.node_metadata(SimulatedGroup(group=group), node_name)


def autoscaler_templates(groups: Sequence[NodeGroup]) -> str:
    """Return the node templates of all elastic groups as YAML, one per group."""
    return nodes.autoscaler_templates(SimulatedGroup(group=group) for group in groups)
