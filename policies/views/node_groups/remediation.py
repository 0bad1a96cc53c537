"""Corrects labels and taints of a node group in the spelling of its cloud.

Simulated nodes, and groups inside another resource, are left to people.
"""

import re
from typing import Final

from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint, spot_taint
from policies.remediation import Draft
from policies.rule import Context
from policies.views.node_groups.aks import AGENT_POOL, AgentPool
from policies.views.node_groups.eks import NODE_GROUP, EksNodeGroup
from policies.views.node_groups.spelled import SpelledGroup

_GROUPS: Final[dict[str, type[SpelledGroup]]] = {NODE_GROUP: EksNodeGroup, AGENT_POOL: AgentPool}
"""The view of each resource that is one group, by pattern of its type token."""


def set_label(draft: Draft, key: str, value: str) -> None:
    """Give the group's nodes a label, instead of another value of the same key."""
    if view := _view(draft):
        draft.set(value, view.spelling.labels_input, key)


def add_taint(draft: Draft, taint: Taint) -> None:
    """Give the group's nodes one more taint."""
    if view := _view(draft):
        place = view.spelling.taints_input
        draft.set([*(draft.get(place) or []), view.spelling.write_taint(taint)], place)


def set_true_lifecycle(draft: Draft, _: Context) -> None:
    """Label the group's nodes as they are bought."""
    if view := _view(draft):
        is_spot = draft.get(view.spelling.lifecycle_input) == view.spelling.lifecycles[Lifecycle.SPOT]
        lifecycle = Lifecycle.SPOT if is_spot else Lifecycle.ON_DEMAND
        set_label(draft, LabelKey.LIFECYCLE.value, lifecycle.label_value)


def add_spot_taint(draft: Draft, context: Context) -> None:
    """Give the group's nodes the contract's spot taint, where cloud and profile have one."""
    if (view := _view(draft)) and (taint := spot_taint(view.kind, context.profile)):
        add_taint(draft, taint)


def _view(draft: Draft) -> type[SpelledGroup] | None:
    return next((view for pattern, view in _GROUPS.items() if re.fullmatch(pattern, draft.type)), None)
