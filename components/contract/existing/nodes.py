"""The nodes of an existing cluster: only the labels that select them are known."""

from typing import Final

from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.kind_nodes import KindNodes


def _labels(choices: ExistingConfig, group: NodeGroup) -> dict[str, str]:
    return dict(choices.nodes[group.pool].selector) if group.pool in choices.nodes else {}


NODES: Final[KindNodes[ExistingConfig]] = KindNodes(labels=_labels)
