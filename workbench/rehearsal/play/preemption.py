"""How MLRun's preemption modes change a pod's placement.

Read from mlrun/mlrun dcbfb390, ``mlrun/k8s_utils.py``, ``enrich_preemption_mode`` and the handler of each mode; Nuclio
does the same with the same settings. ``tests/workbench/rehearsal/play/test_preemption.py`` has the cases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.contract.mlrun import PREEMPTIBLE_NODE_SELECTOR
from components.contract.mlrun_choices import PreemptionMode
from components.contract.taints import Taint


@dataclass(frozen=True)
class Placement:
    """Fields of a pod's spec that say where it may run."""

    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ()
    affinity: Mapping[str, Any] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that are set, as the pod's spec has them."""
        found = {
            "nodeSelector": dict(self.node_selector),
            "tolerations": [dict(each) for each in self.tolerations],
            "affinity": self.affinity,
        }
        return {key: value for key, value in found.items() if value}


def with_mode(placed: Placement, mode: PreemptionMode, *, has_spot: bool, taint: Taint | None) -> Placement:
    """Return a placement as MLRun renders it in a mode.

    Parameters
    ----------
    placed
        What the function's author and the default selector say; without an affinity.
    mode
        The function's mode, or the default one.
    has_spot
        Whether MLRun knows how to recognise spot nodes. If not, no mode has an effect.
    taint
        Taint of spot nodes, which MLRun can tolerate; None if there is none.
    """
    if not has_spot or mode is PreemptionMode.NONE:
        return placed
    toleration = taint.toleration() if taint else None
    others = [each for each in placed.tolerations if dict(each) != toleration]
    spot = [toleration] if toleration else []
    free = {key: value for key, value in placed.node_selector.items() if PREEMPTIBLE_NODE_SELECTOR.get(key) != value}
    if mode is PreemptionMode.ALLOW:
        return Placement(free, [*others, *spot])
    if mode is PreemptionMode.CONSTRAIN:
        return Placement(placed.node_selector, [*others, *spot], _demand("In"))
    return Placement(free, others, None if taint else _demand("NotIn"))


def _demand(operator: str) -> dict[str, Any]:
    demands = [
        {"key": key, "operator": operator, "values": [value]} for key, value in PREEMPTIBLE_NODE_SELECTOR.items()
    ]
    terms = {"nodeSelectorTerms": [{"matchExpressions": demands}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
