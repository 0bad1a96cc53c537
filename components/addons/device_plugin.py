"""NVIDIA's device plug-in: it registers a node's GPUs with the kubelet, so that pods can request them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import yaml
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import ConfigMap, ServiceAccount

from components.base import PlatformComponent
from components.contract.gpus import DEFAULT_GPU_RESOURCE
from components.contract.groups import NodeGroup
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from components.contract.sharing import Shares
from components.contract.taints import Taint
from components.ownership import owned

NAME: Final = "nvidia-device-plugin"
NAMESPACE: Final = "kube-system"
KUBELET_SOCKETS: Final = "/var/lib/kubelet/device-plugins"
"""Where the kubelet listens: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/."""

RESOURCES: Final = {"cpu": "100m", "memory": "256Mi"}
"""Used as requests and limits, so that the kernel does not kill the node agent first."""

_SETTINGS: Final = "/config"
_FILE: Final = "config.yaml"
_SLICES: Final = "slices"


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """Inputs of the plug-in."""

    image: str
    taints: Sequence[Taint]
    """Taints of the GPU nodes; the plug-in tolerates only these."""
    sharing: Shares | None = None
    """How pods share the GPUs of its nodes. Default: each pod has whole ones."""
    spares_shared: bool = False
    """Whether other nodes have shared GPUs, which another plug-in registers."""
    divider: str = ""
    """Image of the tool that divides GPUs. Default: the cloud divides them."""


def device_plugins(
    name: str,
    groups: Sequence[NodeGroup],
    child: Callable[[], pulumi.ResourceOptions],
    *,
    image: str,
    divider: str = "",
) -> None:
    """Declare one plug-in for the nodes with whole GPUs, and one for each way of sharing them; none without GPUs.

    Parameters
    ----------
    name
        Prefix of the plug-ins' names.
    groups
        All groups of the cluster.
    child
        Returns the options of each plug-in.
    image, divider
        As in ``DevicePluginArgs``.
    """
    found: dict[Shares | None, list[NodeGroup]] = {}
    for group in groups:
        if group.gpu_resource:
            found.setdefault(group.sharing, []).append(group)
    for sharing, alike in found.items():
        args = DevicePluginArgs(
            image=image,
            taints=list(dict.fromkeys(taint for group in alike for taint in group.taints)),
            sharing=sharing,
            spares_shared=len(found) > 1,
            divider=divider,
        )
        DevicePlugin(f"{name}-device-plugin" + (f"-{sharing.label}" if sharing else ""), args, child())


def whole_gpus_only() -> dict[str, Any]:
    """Return the affinity of a pod that leaves out nodes whose GPUs are shared."""
    others = {"key": LabelKey.GPU_SHARING.value, "operator": "DoesNotExist"}
    required = {"nodeSelectorTerms": [{"matchExpressions": [others]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


class DevicePlugin(PlatformComponent):
    """One pod on every GPU node, or on those that share their GPUs in one way.

    It runs as root, because the kubelet's sockets belong to root, but without any capability, except where GPUs have
    slices.
    """

    def __init__(self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:DevicePlugin", name, None, opts)
        called = f"{NAME}-{args.sharing.label}" if args.sharing else NAME
        labels = {"app.kubernetes.io/name": called}
        metadata = owned(called, namespace=NAMESPACE, labels=labels)
        needed: list[pulumi.Resource] = [ServiceAccount(f"{name}-account", metadata=metadata, opts=self.child())]
        if args.sharing and (args.divider or not args.sharing.profile):
            # Its name changes with its content, so the pods that mount it restart: the plug-in reads it only at start.
            data = {_FILE: yaml.safe_dump(_settings(args.sharing))}
            needed.append(ConfigMap(f"{name}-settings", metadata=metadata, data=data, opts=self.child()))
        DaemonSet(
            name,
            metadata=metadata,
            spec={
                "selector": {"matchLabels": labels},
                "updateStrategy": {"type": "RollingUpdate"},
                "template": {"metadata": {"labels": labels}, "spec": _pod(called, args)},
            },
            opts=self.child(depends_on=needed),
        )
        self.register_outputs({})


def _settings(sharing: Shares) -> dict[str, Any]:
    """Return the settings of the tool that divides GPUs, or of the plug-in for pods that take turns.

    A request for two turns fails, since it would get no more time (NVIDIA/k8s-device-plugin 0.19.3, ``README.md``).
    """
    if sharing.profile:
        divided = {"devices": "all", "mig-enabled": True, "mig-devices": {sharing.profile: sharing.per_gpu}}
        return {"version": "v1", "mig-configs": {_SLICES: [divided]}}
    turns = {
        "renameByDefault": True,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": DEFAULT_GPU_RESOURCE, "replicas": sharing.per_gpu}],
    }
    return {"version": "v1", "sharing": {"timeSlicing": turns}}


def _pod(called: str, args: DevicePluginArgs) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "serviceAccountName": called,
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
    if args.sharing:
        spec["nodeSelector"][LabelKey.GPU_SHARING.value] = args.sharing.label
        _share(called, args, spec)
    elif args.spares_shared:
        spec["affinity"] = whole_gpus_only()
    return spec


def _share(called: str, args: DevicePluginArgs, spec: dict[str, Any]) -> None:
    """Add to the pod's spec what the plug-in needs where pods share GPUs.

    To watch slices it needs a capability, with which Kubernetes rejects ``allowPrivilegeEscalation: false``
    (NVIDIA/k8s-device-plugin 016a7903, ``deployments/helm/nvidia-device-plugin/templates/_helpers.tpl``).
    """
    (container,) = spec["containers"]
    mount = {"name": "settings", "mountPath": _SETTINGS, "readOnly": True}
    settings = {"name": "settings", "configMap": {"name": called}}
    if not (args.sharing and args.sharing.profile):
        container["env"].append({"name": "CONFIG_FILE", "value": f"{_SETTINGS}/{_FILE}"})
        container["volumeMounts"].append(mount)
        spec["volumes"].append(settings)
        return
    container["env"] += [
        {"name": "MIG_STRATEGY", "value": "mixed"},
        {"name": "NVIDIA_MIG_MONITOR_DEVICES", "value": "all"},
    ]
    context = container["securityContext"]
    del context["allowPrivilegeEscalation"]
    context["capabilities"]["add"] = ["SYS_ADMIN"]
    if args.divider:
        spec["initContainers"] = [_divider(args.divider, mount)]
        spec["volumes"] += [settings, {"name": "sys", "hostPath": {"path": "/sys", "type": "Directory"}}]


def _divider(image: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the container that divides the GPUs before the plug-in counts them: at each start of the node.

    It changes nothing if they are already divided. Its rights are those in NVIDIA's manifest (NVIDIA/mig-parted
    0d9252a4, ``deployments/container/nvidia-mig-manager-example-hopper-blackwell.yaml``).
    """
    return {
        "name": "divide",
        "image": image,
        "command": ["nvidia-mig-parted", "apply", "-f", f"{_SETTINGS}/{_FILE}", "-c", _SLICES],
        "resources": {"requests": RESOURCES, "limits": RESOURCES},
        "securityContext": {"privileged": True, "readOnlyRootFilesystem": True},
        "volumeMounts": [settings, {"name": "sys", "mountPath": "/sys"}],
    }
