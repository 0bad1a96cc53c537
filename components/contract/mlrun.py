"""Settings of MLRun, as environment variables of its API (MLRun 1.12.1, ``mlrun/config.py``).

A variable is ``MLRUN_`` and the upper-cased path of the setting, levels joined by ``__``. Selectors and tolerations
are base64 of JSON: raw JSON makes MLRun fail at import. The list of classes has no spaces: MLRun does not strip.
"""

import base64
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.pod_resources import PodResources
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from components.contract.taints import Taint

OVERRIDE_CONFIG_MAP: Final = "mlrun-override-env"
"""ConfigMap that the MLRun CE chart reads last and never creates: the hook for provisioning."""


class MlrunVariable(StrEnum):
    """Variables that place a function's pods."""

    DEFAULT_CLASS = "MLRUN_DEFAULT_FUNCTION_PRIORITY_CLASS_NAME"
    """Priority class of functions that set none."""

    DEFAULT_SELECTOR = "MLRUN_DEFAULT_FUNCTION_NODE_SELECTOR"
    """Node selector of every function."""

    PREEMPTION_MODE = "MLRUN_FUNCTION_DEFAULTS__PREEMPTION_MODE"
    """Default preemption mode of functions, a ``PreemptionMode``."""

    SPOT_SELECTOR = "MLRUN_PREEMPTIBLE_NODES__NODE_SELECTOR"
    """Label by which MLRun recognises a spot node."""

    SPOT_TOLERATIONS = "MLRUN_PREEMPTIBLE_NODES__TOLERATIONS"
    """Tolerations for the taint of spot nodes."""

    VALID_CLASSES = "MLRUN_VALID_FUNCTION_PRIORITY_CLASS_NAMES"
    """Priority classes that a function may name."""


class PreemptionMode(StrEnum):
    """Whether a function's pods may run on spot nodes, in MLRun's and Nuclio's spelling (MLRun job resources)."""

    ALLOW = "allow"
    CONSTRAIN = "constrain"
    """Nowhere else."""

    PREVENT = "prevent"
    NONE = "none"
    """MLRun leaves the pods unchanged."""


DEFAULT_PREEMPTION_MODE: Final = PreemptionMode.PREVENT

STATE_THRESHOLD_PREFIX: Final = "MLRUN_FUNCTION__SPEC__STATE_THRESHOLDS__DEFAULT__"
"""Prefix of the variables that limit how long a run may stay in a state before it is aborted."""

STATE_THRESHOLDS: Final[Mapping[str, str]] = {
    "pending_scheduled": "1h",
    "pending_not_scheduled": "24h",
    "image_pull_backoff": "1h",
    "executing": "24h",
}
"""How long a run may stay in each state: MLRun's defaults, but a run without a node is aborted after a day."""

DEFAULT_NODE_SELECTOR: Final[Mapping[str, str]] = {LabelKey.USER_WORKLOADS.value: TRUE}
"""Selector of every function that sets none: keeps user work off the initial group."""

PREEMPTIBLE_NODE_SELECTOR: Final[Mapping[str, str]] = {LabelKey.LIFECYCLE.value: Lifecycle.SPOT.label_value}
"""How MLRun recognises a spot node. A single key: several would be ANDed in one mode and ORed in another."""


def override_environment(
    groups: tuple[NodeGroup, ...], spot_taint: Taint | None, resources: PodResources
) -> dict[str, str]:
    """Return the variables of ``mlrun-override-env``.

    Without a spot group they contain nothing about preemptible nodes, which switches the feature off. Tolerations are
    set only if spot nodes have the taint; otherwise the mode ``prevent`` would have no effect.
    """
    environment = {
        MlrunVariable.DEFAULT_SELECTOR.value: _encode(dict(DEFAULT_NODE_SELECTOR)),
        MlrunVariable.DEFAULT_CLASS.value: DEFAULT_USER_PRIORITY.value,
        MlrunVariable.VALID_CLASSES.value: ",".join(UserPriority),
        MlrunVariable.PREEMPTION_MODE.value: DEFAULT_PREEMPTION_MODE.value,
        **{threshold_variable(state): threshold for state, threshold in STATE_THRESHOLDS.items()},
    }
    for side in ("requests", "limits"):
        for name in ("cpu", "memory"):
            environment[default_resource_variable(side, name)] = getattr(getattr(resources, side), name)
    if any(group.lifecycle is Lifecycle.SPOT for group in groups):
        environment[MlrunVariable.SPOT_SELECTOR.value] = _encode(dict(PREEMPTIBLE_NODE_SELECTOR))
        if spot_taint:
            environment[MlrunVariable.SPOT_TOLERATIONS.value] = _encode([spot_taint.toleration()])
    return environment


def default_resource_variable(side: str, name: str) -> str:
    """Return the variable for the default of ``requests`` or ``limits`` (``side``) of a resource."""
    return f"MLRUN_DEFAULT_FUNCTION_POD_RESOURCES__{side}__{name}".upper()


def threshold_variable(state: str) -> str:
    """Return the variable that holds the threshold of ``state``."""
    return f"{STATE_THRESHOLD_PREFIX}{state.upper()}"


def _encode(value: Any) -> str:
    return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()
