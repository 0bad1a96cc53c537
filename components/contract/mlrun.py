"""Settings of MLRun, as environment variables of its API (MLRun 1.12.1, ``mlrun/config.py``).

A variable is ``MLRUN_`` and the upper-cased path of the setting, levels joined by ``__``. Selectors and tolerations
are base64 of JSON: raw JSON makes MLRun fail at import. The list of classes has no spaces: MLRun does not strip them.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from components.contract.groups import NodeGroup, role_for_jobs
from components.contract.labels import TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.mlrun_choices import FOREVER, STATE_THRESHOLDS, MlrunChoices
from components.contract.pod_resources import PodResources
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from components.contract.taints import Taint

OVERRIDE_CONFIG_MAP: Final = "mlrun-override-env"
"""ConfigMap that the MLRun CE chart reads last and never creates, so that others can provide it."""


class MlrunVariable(StrEnum):
    """Variables that place a function's pods and give them their volumes."""

    AUTO_MOUNT_TYPE = "MLRUN_STORAGE__AUTO_MOUNT_TYPE"
    """What MLRun mounts into functions that mount nothing themselves, an ``AutoMountType``."""

    AUTO_MOUNT_PARAMETERS = "MLRUN_STORAGE__AUTO_MOUNT_PARAMS"
    """Its parameters."""

    DEFAULT_CLASS = "MLRUN_DEFAULT_FUNCTION_PRIORITY_CLASS_NAME"
    """Priority class of functions that set none."""

    DEFAULT_SELECTOR = "MLRUN_DEFAULT_FUNCTION_NODE_SELECTOR"
    """Node selector of every function."""

    PREEMPTION_MODE = "MLRUN_FUNCTION_DEFAULTS__PREEMPTION_MODE"
    """Default preemption mode of functions, a ``PreemptionMode``."""

    REGISTRY = "MLRUN_HTTPDB__BUILDER__DOCKER_REGISTRY"
    """Registry of the images that MLRun builds."""

    REGISTRY_SECRET = "MLRUN_HTTPDB__BUILDER__DOCKER_REGISTRY_SECRET"  # noqa: S105 MLRun's name of the variable
    """Name of the Secret with its credentials."""

    SERVICE_ACCOUNT = "MLRUN_FUNCTION__SPEC__SERVICE_ACCOUNT__DEFAULT"
    """Service account of functions that set none, if their project sets none either (mlrun/mlrun#2151)."""

    SPOT_SELECTOR = "MLRUN_PREEMPTIBLE_NODES__NODE_SELECTOR"
    """Label by which MLRun recognises a spot node."""

    SPOT_TOLERATIONS = "MLRUN_PREEMPTIBLE_NODES__TOLERATIONS"
    """Tolerations for the taint of spot nodes."""

    VALID_CLASSES = "MLRUN_VALID_FUNCTION_PRIORITY_CLASS_NAMES"
    """Priority classes that a function may name."""


STATE_THRESHOLD_PREFIX: Final = "MLRUN_FUNCTION__SPEC__STATE_THRESHOLDS__DEFAULT__"
"""Prefix of the variables that limit how long a run may stay in a state before it is aborted."""

DEFAULT_NODE_SELECTOR: Final[Mapping[str, str]] = {LabelKey.USER_WORKLOADS.value: TRUE}
"""Selector of all pools for user work, of any role."""


def default_node_selector(groups: Iterable[NodeGroup], *, corrects: bool) -> dict[str, str]:
    """Return the selector of every function that sets none, which keeps user work off the initial group.

    It also names the role of pools for plain jobs, so that jobs stay off pools for notebooks. From 1.7 on MLRun merges
    it with a function's own selector, whose values win; before, a function's own selector replaces it.

    Parameters
    ----------
    groups
        The cluster's groups.
    corrects
        Whether the API server moves pods that request a GPU to the GPU role (``pod_corrections``). If not, the role of
        plain jobs would strand functions that request a GPU, so it is left out if there are GPU groups.
    """
    groups = tuple(groups)
    role = role_for_jobs(groups)
    is_safe = corrects or not any(group.role.needs_a_device for group in groups)
    return {**DEFAULT_NODE_SELECTOR, **({LabelKey.ROLE.value: role} if role and is_safe else {})}


PREEMPTIBLE_NODE_SELECTOR: Final[Mapping[str, str]] = {LabelKey.LIFECYCLE.value: Lifecycle.SPOT.label_value}
"""How MLRun recognises a spot node. It has a single key: MLRun ANDs several in one mode and ORs them in another."""


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
    thresholds = {state: str(getattr(chosen, state)) for state in STATE_THRESHOLDS}
    environment = {
        MlrunVariable.DEFAULT_SELECTOR.value: _encode(default_node_selector(groups, corrects=corrects)),
        MlrunVariable.DEFAULT_CLASS.value: DEFAULT_USER_PRIORITY.value,
        MlrunVariable.VALID_CLASSES.value: ",".join(UserPriority),
        MlrunVariable.PREEMPTION_MODE.value: chosen.preemption_mode.value,
        # MLRun parses values as JSON, and -1 without quotes would be a number.
        **{threshold_variable(s): f'"{t}"' if t == FOREVER else t for s, t in thresholds.items()},
    }
    for side in ("requests", "limits"):
        for name in ("cpu", "memory"):
            environment[default_resource_variable(side, name)] = getattr(getattr(resources, side), name)
    if any(group.lifecycle is Lifecycle.SPOT for group in groups):
        environment[MlrunVariable.SPOT_SELECTOR.value] = _encode(dict(PREEMPTIBLE_NODE_SELECTOR))
        if spot_taint:
            environment[MlrunVariable.SPOT_TOLERATIONS.value] = _encode([spot_taint.toleration()])
    if mount := chosen.auto_mount:
        environment[MlrunVariable.AUTO_MOUNT_TYPE.value] = mount.type.value
        if mount.parameters:
            environment[MlrunVariable.AUTO_MOUNT_PARAMETERS.value] = _encode(mount.parameters)
    if registry := chosen.registry:
        environment[MlrunVariable.REGISTRY.value] = registry.url
        if registry.secret:
            environment[MlrunVariable.REGISTRY_SECRET.value] = registry.secret
    return environment


def account_environment(service_account: str) -> dict[str, str]:
    """Return the variable for the service account of functions that set none; empty keeps Kubernetes' default."""
    return {MlrunVariable.SERVICE_ACCOUNT.value: service_account} if service_account else {}


def default_resource_variable(side: str, name: str) -> str:
    """Return the variable for the default of ``requests`` or ``limits`` (``side``) of a resource."""
    return f"MLRUN_DEFAULT_FUNCTION_POD_RESOURCES__{side}__{name}".upper()


def threshold_variable(state: str) -> str:
    """Return the variable that holds the threshold of ``state``."""
    return f"{STATE_THRESHOLD_PREFIX}{state.upper()}"


def _encode(value: Any) -> str:
    return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()
