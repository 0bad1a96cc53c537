"""EKS's terms for lifecycles and taints: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html."""

from typing import Final

from components.contract.groups import NodeGroup
from components.contract.lifecycle import Lifecycle
from components.contract.spelling import Spelling
from components.contract.taints import Taint, TaintEffect

CAPACITY_BLOCK: Final = "CAPACITY_BLOCK"
"""Capacity type of groups that use a capacity block."""

_EFFECTS: Final = {effect: effect.name for effect in TaintEffect}
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html."""


def taint_entry(taint: Taint) -> dict[str, str]:
    """Return the entry of a managed node group's ``taints``."""
    return {"key": taint.key, "value": taint.value, "effect": _EFFECTS[taint.effect]}


def capacity_type(group: NodeGroup) -> str:
    """Return EKS's word for a group's lifecycle."""
    is_block = group.reservation is not None and group.reservation.block
    return CAPACITY_BLOCK if is_block else SPELLING.lifecycles[group.lifecycle]


SPELLING: Final = Spelling(
    lifecycle_input="capacityType",
    # EKS treats machines of a reservation as on-demand, except those of a capacity block.
    lifecycles={Lifecycle.ON_DEMAND: "ON_DEMAND", Lifecycle.SPOT: "SPOT", Lifecycle.RESERVED: "ON_DEMAND"},
    labels_input="labels",
    taints_input="taints",
    effects=_EFFECTS,
    write_taint=taint_entry,
)
