"""Settings of MLRun, as environment variables of its API (MLRun 1.12.1, ``mlrun/config.py``).

A variable is ``MLRUN_`` and the upper-cased path of the setting, levels joined by ``__``. Selectors and tolerations
are base64 of JSON: raw JSON makes MLRun fail at import. The list of classes has no spaces: MLRun does not strip.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.groups import NodeGroup, role_for_jobs
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
"""Selector of all pools for user work, whatever their role."""

FOREVER: Final = "-1"
"""Threshold of a state in which a run may stay without limit."""


def default_node_selector(groups: Iterable[NodeGroup], *, corrects: bool) -> dict[str, str]:
    """Return the selector of every function that sets none, which keeps user work off the initial group.

    It also names the role of pools for plain jobs, so that jobs stay off pools for notebooks. From 1.7 on MLRun merges
    it with a function's own selector, whose values win; before, a function's own selector replaces it.

    Parameters
    ----------
    groups
        The cluster's groups.
    corrects
        Whether the API server leads pods that request a GPU to the GPU role (``pod_corrections``). Where it does not,
        the role would strand the functions that request a GPU, so it is left out if there are GPU groups.
    """
    groups = tuple(groups)
    role = role_for_jobs(groups)
    is_safe = corrects or not any(group.role.needs_a_device for group in groups)
    return {**DEFAULT_NODE_SELECTOR, **({LabelKey.ROLE.value: role} if role and is_safe else {})}


PREEMPTIBLE_NODE_SELECTOR: Final[Mapping[str, str]] = {LabelKey.LIFECYCLE.value: Lifecycle.SPOT.label_value}
"""How MLRun recognises a spot node. A single key: several would be ANDed in one mode and ORed in another."""


_WAIT: Final = rf"{FOREVER}|[1-9][0-9]{{0,5}}[smhdw]"


def _wait(text: str) -> str:
    if not re.fullmatch(_WAIT, text):
        raise ValueError(f"must be a whole number of s, m, h, d or w, such as 24h, or {FOREVER} for no limit")
    return text


class MlrunChoices(ContractModel):
    """Settings of MLRun that differ between organisations."""

    preemption_mode: Annotated[
        PreemptionMode,
        Explained(
            "MLRun's own default: functions run on spot nodes only if their authors say so.",
            "MLRUN_FUNCTION_DEFAULTS__PREEMPTION_MODE.",
        ),
    ] = Field(
        DEFAULT_PREEMPTION_MODE,
        description="Preemption mode of functions that set none. SP-03 advises against others than prevent.",
        examples=["allow"],
    )
    pending_not_scheduled: Annotated[
        Annotated[str, AfterValidator(_wait), Field(json_schema_extra={"pattern": f"^({_WAIT})$"})],
        Explained(
            "A day: elastic pools add nodes within minutes. MLRun's own default is no limit.",
            "MLRun's state threshold pending_not_scheduled.",
        ),
    ] = Field(
        STATE_THRESHOLDS["pending_not_scheduled"],
        description="How long a run may wait for a node before MLRun aborts it; '-1', in quotes, is no limit.",
        examples=["-1"],
    )


def override_environment(
    groups: tuple[NodeGroup, ...],
    spot_taint: Taint | None,
    resources: PodResources,
    choices: MlrunChoices | None = None,
    *,
    corrects: bool = False,
) -> dict[str, str]:
    """Return the variables of ``mlrun-override-env``; ``corrects`` is that of ``default_node_selector``.

    Without a spot group they contain nothing about preemptible nodes, which switches the feature off. Tolerations are
    set only if spot nodes have the taint; otherwise the mode ``prevent`` would have no effect.
    """
    chosen = choices or MlrunChoices()
    thresholds = {**STATE_THRESHOLDS, "pending_not_scheduled": chosen.pending_not_scheduled}
    environment = {
        MlrunVariable.DEFAULT_SELECTOR.value: _encode(default_node_selector(groups, corrects=corrects)),
        MlrunVariable.DEFAULT_CLASS.value: DEFAULT_USER_PRIORITY.value,
        MlrunVariable.VALID_CLASSES.value: ",".join(UserPriority),
        MlrunVariable.PREEMPTION_MODE.value: chosen.preemption_mode.value,
        # MLRun reads values as JSON, and a bare -1 would be a number.
        **{threshold_variable(s): f'"{t}"' if t == FOREVER else t for s, t in thresholds.items()},
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
