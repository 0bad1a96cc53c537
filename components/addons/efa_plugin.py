"""AWS's device plug-in for Elastic Fabric Adapters: it registers a node's adapters, so that pods can request them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import ServiceAccount

from components.addons.device_plugin import KUBELET_SOCKETS
from components.base import PlatformComponent
from components.contract.fabric import EFA
from components.contract.labels import LabelKey
from components.contract.taints import Taint
from components.ownership import owned

NAME: Final = "aws-efa-device-plugin"
NAMESPACE: Final = "kube-system"

RESOURCES: Final = {"cpu": "10m", "memory": "64Mi"}
"""Used as requests and limits. AWS's chart requests 10m and 20Mi and sets no limits."""

_FOLDERS: Final = {
    "kubelet-sockets": (KUBELET_SOCKETS, "Directory"),
    "adapters": ("/dev/infiniband", "Directory"),
    "neuron-tools": ("/opt/aws/neuron", "DirectoryOrCreate"),
}


@dataclass(frozen=True, kw_only=True)
class EfaPluginArgs:
    """Inputs of the plug-in."""

    image: str
    taints: Sequence[Taint]
    """Taints of these nodes; the plug-in tolerates only these."""


class EfaPlugin(PlatformComponent):
    """One privileged pod on every node with such adapters, in the node's network, as AWS runs it.

    aws/eks-charts 5239609, ``stable/aws-efa-k8s-device-plugin`` (0.5.30). The plug-in's source is not public.
    """

    def __init__(self, name: str, args: EfaPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:EfaPlugin", name, None, opts)
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


def _pod(args: EfaPluginArgs) -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "hostNetwork": True,
        "nodeSelector": {LabelKey.FABRIC.value: EFA},
        "tolerations": [taint.toleration() for taint in args.taints],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": NAME,
                "image": args.image,
                "resources": {"requests": RESOURCES, "limits": RESOURCES},
                "securityContext": {"privileged": True, "runAsUser": 0},
                "volumeMounts": [{"name": name, "mountPath": path} for name, (path, _) in _FOLDERS.items()],
            }
        ],
        "volumes": [
            {"name": name, "hostPath": {"path": path, "type": kind}} for name, (path, kind) in _FOLDERS.items()
        ],
    }
