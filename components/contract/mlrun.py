"""What MLRun is told, as the environment of its API (MLRun 1.12.1, ``mlrun/config.py``).

A variable is ``MLRUN_`` and the upper-cased path of the setting, levels joined by ``__``. Selectors and tolerations
are base64 of JSON: raw JSON makes MLRun fail at import. The list of classes has no spaces: MLRun does not strip.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.pod_resources import PodResources
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from components.contract.taints import Taint

OVERRIDE_CONFIG_MAP: Final = "mlrun-override-env"
"""ConfigMap that the MLRun CE chart reads last and never creates: the hook for provisioning."""

DEFAULT_NODE_SELECTOR: Final[Mapping[str, str]] = {LabelKey.USER_WORKLOADS.value: TRUE}
"""Selector of every function that names none: keeps user work off the initial group."""

PREEMPTIBLE_NODE_SELECTOR: Final[Mapping[str, str]] = {LabelKey.LIFECYCLE.value: Lifecycle.SPOT.label_value}
"""How MLRun recognises a spot node. One key only: several would be ANDed in one mode and ORed in another."""


def override_environment(
    groups: tuple[NodeGroup, ...], spot_taint: Taint | None, resources: PodResources
) -> dict[str, str]:
    """Return the variables of ``mlrun-override-env``.

    Without a spot group nothing is said about preemptible nodes, which switches the feature off. Tolerations are
    given only where spot nodes really carry the taint: otherwise the mode ``prevent`` would protect nothing.
    """
    environment = {
        "MLRUN_DEFAULT_FUNCTION_NODE_SELECTOR": _encode(dict(DEFAULT_NODE_SELECTOR)),
        "MLRUN_DEFAULT_FUNCTION_PRIORITY_CLASS_NAME": DEFAULT_USER_PRIORITY.value,
        "MLRUN_VALID_FUNCTION_PRIORITY_CLASS_NAMES": ",".join(UserPriority),
        "MLRUN_FUNCTION_DEFAULTS__PREEMPTION_MODE": "prevent",
    }
    for side in ("requests", "limits"):
        for name in ("cpu", "memory"):
            environment[default_resource_variable(side, name)] = getattr(getattr(resources, side), name)
    if any(group.lifecycle is Lifecycle.SPOT for group in groups):
        environment["MLRUN_PREEMPTIBLE_NODES__NODE_SELECTOR"] = _encode(dict(PREEMPTIBLE_NODE_SELECTOR))
        if spot_taint:
            environment["MLRUN_PREEMPTIBLE_NODES__TOLERATIONS"] = _encode([spot_taint.toleration()])
    return environment


def default_resource_variable(side: str, name: str) -> str:
    """Return the variable for the default of ``requests`` or ``limits`` (``side``) of a resource."""
    return f"MLRUN_DEFAULT_FUNCTION_POD_RESOURCES__{side}__{name}".upper()


def _encode(value: Any) -> str:
    return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode()
