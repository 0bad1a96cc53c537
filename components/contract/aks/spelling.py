"""AKS's terms for lifecycles and taints: https://learn.microsoft.com/rest/api/aks/agent-pools/create-or-update."""

from typing import Final

from components.contract.lifecycle import Lifecycle
from components.contract.spelling import Spelling
from components.contract.taints import TaintEffect

SPELLING: Final = Spelling(
    lifecycle_input="scaleSetPriority",
    lifecycles={Lifecycle.ON_DEMAND: "Regular", Lifecycle.SPOT: "Spot", Lifecycle.RESERVED: "Regular"},
    labels_input="nodeLabels",
    taints_input="nodeTaints",
    effects={effect: effect.value for effect in TaintEffect},
    # As kubectl prints it: key=value:Effect.
    write_taint=str,
)
