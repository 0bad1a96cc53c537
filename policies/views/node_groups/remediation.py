"""Corrects labels and taints of a node group in the spelling of its cloud.

Simulated nodes, and groups inside another resource, are left to people.
"""

import re

from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint, spot_taint
from policies.remediation import Draft
from policies.rule import Context
from policies.views.node_groups import CLOUDS
from policies.views.node_groups.spelled import SpelledGroup


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
    return next((cloud.view for cloud in CLOUDS if re.fullmatch(cloud.group, draft.type)), None)
