"""Pods whose container does nothing."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from components.contract.groups import NodeGroup
from components.contract.labels import LabelKey

NOBODY: Final = 65534
"""User and group without privileges."""


def pause_pod(groups: Iterable[NodeGroup], image: str, resources: Mapping[str, str], priority: str) -> dict[str, Any]:
    """Return the spec of a pod without privileges for the nodes of one pool.

    Parameters
    ----------
    groups
        The groups of the pool; at least one.
    image
        Image of the container, which needs no file system and no network.
    resources
        Used as requests and limits.
    priority
        Name of the priority class.
    """
    members = list(groups)
    taints = dict.fromkeys(taint for group in members for taint in group.taints)
    return {
        "automountServiceAccountToken": False,
        "priorityClassName": priority,
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": {LabelKey.POOL.value: members[0].pool},
        **({"tolerations": [taint.toleration() for taint in taints]} if taints else {}),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "pause",
                "image": image,
                "resources": {"requests": dict(resources), "limits": dict(resources)},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
