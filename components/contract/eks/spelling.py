"""EKS's terms for lifecycles and taints: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html."""

from typing import Final

from components.contract.lifecycle import Lifecycle
from components.contract.spelling import Spelling
from components.contract.taints import Taint, TaintEffect

_EFFECTS: Final = {effect: effect.name for effect in TaintEffect}
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html."""


def taint_entry(taint: Taint) -> dict[str, str]:
    """Return the entry of a managed node group's ``taints``."""
    return {"key": taint.key, "value": taint.value, "effect": _EFFECTS[taint.effect]}


SPELLING: Final = Spelling(
    lifecycle_input="capacityType",
    lifecycles={Lifecycle.ON_DEMAND: "ON_DEMAND", Lifecycle.SPOT: "SPOT"},
    labels_input="labels",
    taints_input="taints",
    effects=_EFFECTS,
    write_taint=taint_entry,
)
