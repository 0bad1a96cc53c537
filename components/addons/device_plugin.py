"""NVIDIA's device plug-in: it registers a node's GPUs with the kubelet, so that pods can request them."""

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
"""Used as requests and limits, so that the kernel does not kill the node agent first."""


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """Inputs of the plug-in."""

    image: str
    taints: Sequence[Taint]
    """Taints of the GPU nodes; the plug-in tolerates only these."""


class DevicePlugin(PlatformComponent):
    """One pod on every GPU node.

    It runs as root, because the kubelet's sockets belong to root, but without any capability.
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
