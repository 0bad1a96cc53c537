"""NVIDIA's device plug-in: it tells the kubelet of a node's GPUs, so that pods can ask for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import ServiceAccount

from components.base import PlatformComponent
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from components.contract.taints import Taint
from components.ownership import owned

NAME: Final = "nvidia-device-plugin"
NAMESPACE: Final = "kube-system"
KUBELET_SOCKETS: Final = "/var/lib/kubelet/device-plugins"
"""Where the kubelet listens: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/."""

RESOURCES: Final = {"cpu": "100m", "memory": "256Mi"}
"""Requests and limits alike: a node agent must not be what the kernel kills first."""


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """Inputs of the plug-in."""

    image: str
    taints: Sequence[Taint]
    """Taints of the GPU nodes; it tolerates these and no others."""


class DevicePlugin(PlatformComponent):
    """A pod on every GPU node, and nowhere else.

    It runs as root, since the kubelet's sockets are root's, and with nothing else that root could do.
    """

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:DevicePlugin", name, None, opts)
        labels = {"app.kubernetes.io/name": NAME}
        metadata = owned(NAME, namespace=NAMESPACE, labels=labels)
        account = ServiceAccount(f"{name}-account", metadata=metadata, opts=self.child())
        DaemonSet(
            name,
            metadata=metadata,
            spec={
                "selector": {"matchLabels": labels},
                "updateStrategy": {"type": "RollingUpdate"},
                "template": {"metadata": {"labels": labels}, "spec": _pod(args)},
            },
            opts=self.child(depends_on=[account]),
        )
        self.register_outputs({})


def _pod(args: DevicePluginArgs) -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "nodeSelector": {LabelKey.ROLE.value: PoolRole.GPU.value},
        "tolerations": [taint.toleration() for taint in args.taints],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": NAME,
                "image": args.image,
                "env": [{"name": "FAIL_ON_INIT_ERROR", "value": "true"}],
                "resources": {"requests": RESOURCES, "limits": RESOURCES},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": "kubelet-sockets", "mountPath": KUBELET_SOCKETS}],
            }
        ],
        "volumes": [{"name": "kubelet-sockets", "hostPath": {"path": KUBELET_SOCKETS, "type": "Directory"}}],
    }
