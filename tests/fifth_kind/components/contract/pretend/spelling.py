"""The pretended cloud's words for lifecycles and taints."""

from typing import Final

from components.contract.lifecycle import Lifecycle
from components.contract.spelling import Spelling
from components.contract.taints import TaintEffect

SPELLING: Final = Spelling(
    lifecycle_input="bought",
    lifecycles={Lifecycle.ON_DEMAND: "standard", Lifecycle.SPOT: "interruptible"},
    labels_input="nodeLabels",
    taints_input="nodeTaints",
    effects={effect: effect.value for effect in TaintEffect},
    write_taint=str,
)
