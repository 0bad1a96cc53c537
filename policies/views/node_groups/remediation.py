"""Corrects labels and taints of a node group in the spelling of its cloud.

Simulated nodes, and groups inside another resource, must be corrected by hand.
"""

import re

from components.contract.clusters import spot_taint
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint
from policies.remediation import Draft
from policies.rule import Context
from policies.views.node_groups import CLOUDS
from policies.views.node_groups.spelled import SpelledGroup


def set_label(draft: Draft, key: str, value: str) -> None:
    """Set a label of the group's nodes, replacing another value of the same key."""
    if view := _view(draft):
        draft.set(value, view.spelling.labels_input, key)


def add_taint(draft: Draft, taint: Taint) -> None:
    """Add a taint to the group's nodes."""
    if view := _view(draft):
        place = view.spelling.taints_input
        draft.set([*(draft.get(place) or []), view.spelling.write_taint(taint)], place)


def set_true_lifecycle(draft: Draft, _: Context) -> None:
    """Set the lifecycle label of the group's nodes to their capacity type."""
    if view := _view(draft):
        is_spot = draft.get(view.spelling.lifecycle_input) == view.spelling.lifecycles[Lifecycle.SPOT]
        lifecycle = Lifecycle.SPOT if is_spot else Lifecycle.ON_DEMAND
        set_label(draft, LabelKey.LIFECYCLE.value, lifecycle.label_value)


def add_spot_taint(draft: Draft, context: Context) -> None:
    """Add this package's spot taint to the group's nodes, if cloud and profile have one."""
    if (view := _view(draft)) and (taint := spot_taint(view.kind, context.profile)):
        add_taint(draft, taint)


def _view(draft: Draft) -> type[SpelledGroup] | None:
    return next((cloud.view for cloud in CLOUDS if re.fullmatch(cloud.group, draft.type)), None)
