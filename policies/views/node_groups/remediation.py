"""Labels and taints of a node group, mended in the words of its cloud.

Simulated nodes, and groups inside another resource, are left to people.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from components.contract.environments import ClusterKind
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint, spot_taint
from policies.remediation import Draft
from policies.rule import Context
from policies.views.node_groups.aks import AGENT_POOL
from policies.views.node_groups.eks import NODE_GROUP

_BOUGHT: Final[Mapping[str, tuple[str, str]]] = {
    NODE_GROUP: ("capacityType", "SPOT"),
    AGENT_POOL: ("scaleSetPriority", "Spot"),
}
"""Where each cloud says how a group is bought, and the word for spot."""

_LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    NODE_GROUP: ("labels",),
    AGENT_POOL: ("nodeLabels",),
}
_TAINTS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Taint], Any]]]] = {
    NODE_GROUP: (("taints",), Taint.to_eks),
    AGENT_POOL: (("nodeTaints",), Taint.to_aks),
}


def set_label(draft: Draft, key: str, value: str) -> None:
    """Give the group's nodes a label, instead of another value of the same key."""
    for pattern, place in _LABELS.items():
        if re.fullmatch(pattern, draft.type):
            draft.set(value, *place, key)


def add_taint(draft: Draft, taint: Taint) -> None:
    """Give the group's nodes one more taint."""
    for pattern, (place, spelled) in _TAINTS.items():
        if re.fullmatch(pattern, draft.type):
            draft.set([*(draft.get(*place) or []), spelled(taint)], *place)


def set_true_lifecycle(draft: Draft, _: Context) -> None:
    """Label the group's nodes as they are bought."""
    for pattern, (key, spot) in _BOUGHT.items():
        if re.fullmatch(pattern, draft.type):
            lifecycle = Lifecycle.SPOT if draft.get(key) == spot else Lifecycle.ON_DEMAND
            set_label(draft, LabelKey.LIFECYCLE.value, lifecycle.label_value)


def add_spot_taint(draft: Draft, context: Context) -> None:
    """Give the group's nodes the contract's spot taint, where cloud and profile have one."""
    kind = ClusterKind.EKS if draft.type == NODE_GROUP else ClusterKind.AKS
    if taint := spot_taint(kind, context.profile):
        add_taint(draft, taint)
