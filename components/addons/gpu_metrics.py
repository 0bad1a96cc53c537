"""NVIDIA's DCGM exporter: utilization, temperature and errors of a node's GPUs, as metrics for Prometheus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apps.v1 import DaemonSet
from pulumi_kubernetes.core.v1 import ConfigMap, ServiceAccount

from components.addons.device_plugin import whole_gpus_only
from components.base import PlatformComponent
from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, LabelKey
from components.contract.pools import PoolRole
from components.contract.taints import Taint
from components.ownership import owned

NAME: Final = "nvidia-dcgm-exporter"
NAMESPACE: Final = "kube-system"
PORT: Final = 9400

RESOURCES: Final = {
    "requests": {"cpu": "100m", "memory": "128Mi"},
    "limits": {"cpu": "200m", "memory": "512Mi"},
}
"""As in NVIDIA's chart: NVIDIA/dcgm-exporter d5e5f510, ``deployment/values.yaml``."""

POD_RESOURCES: Final = "/var/lib/kubelet/pod-resources"
"""Where the kubelet says which pod has which GPU: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/."""

METRICS: Final = {
    "DCGM_FI_DEV_GPU_UTIL": ("gauge", "GPU utilization in percent"),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("gauge", "Memory bandwidth utilization in percent"),
    "DCGM_FI_DEV_FB_USED": ("gauge", "Memory in use in MiB"),
    "DCGM_FI_DEV_FB_FREE": ("gauge", "Free memory in MiB"),
    "DCGM_FI_DEV_GPU_TEMP": ("gauge", "Temperature in degrees Celsius"),
    "DCGM_FI_DEV_POWER_USAGE": ("gauge", "Power draw in watts"),
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": ("counter", "NVLink bandwidth of all lanes"),
    "DCGM_FI_DEV_XID_ERRORS": ("gauge", "Last XID error"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": ("counter", "Memory rows remapped after uncorrectable errors"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": ("gauge", "Whether the remapping of a row failed"),
}
"""Kind and meaning by name: NVIDIA/dcgm-exporter d5e5f510, ``etc/default-counters.csv``.

Profiling metrics are left out: only one process of a node can use the profiler, which may be EKS's monitoring agent or
a user's own profiler (NVIDIA/dcgm-exporter#7).
"""

_FOLDER: Final = "/metrics"
_FILE: Final = "metrics.csv"


@dataclass(frozen=True, kw_only=True)
class GpuMetricsArgs:
    """Inputs of the exporter."""

    image: str
    taints: Sequence[Taint]
    """Taints of the nodes with whole GPUs; the exporter tolerates only these."""


def gpu_metrics(
    name: str, groups: Sequence[NodeGroup], child: Callable[[], pulumi.ResourceOptions], image: str
) -> None:
    """Declare the exporter for all nodes with whole GPUs, if there are any. Parameters: as in ``device_plugins``."""
    whole = [group for group in groups if group.gpu_resource and not group.sharing]
    taints = dict.fromkeys(taint for group in whole for taint in group.taints)
    if taints:
        GpuMetrics(f"{name}-gpu-metrics", GpuMetricsArgs(image=image, taints=list(taints)), child())


class GpuMetrics(PlatformComponent):
    """One pod on every node with whole GPUs.

    Nodes with shared GPUs are left out: slices only have profiling metrics, which need SYS_ADMIN
    (NVIDIA/dcgm-exporter#216, #430), and pods that take turns request another resource, which it does not know (#151).

    It runs as root, because the kubelet's socket belongs to root, but without any capability. A Prometheus without the
    operator finds it by its annotations, one with the operator by the port ``metrics``.
    """

    def __init__(self, name: str, args: GpuMetricsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:GpuMetrics", name, None, opts)
        labels = {"app.kubernetes.io/name": NAME}
        found = {"prometheus.io/scrape": TRUE, "prometheus.io/port": str(PORT)}
        metadata = owned(NAME, namespace=NAMESPACE, labels=labels)
        account = ServiceAccount(f"{name}-account", metadata=metadata, opts=self.child())
        table = "".join(f"{metric}, {kind}, {text}\n" for metric, (kind, text) in METRICS.items())
        settings = ConfigMap(f"{name}-metrics", metadata=metadata, data={_FILE: table}, opts=self.child())
        DaemonSet(
            name,
            metadata=metadata,
            spec={
                "selector": {"matchLabels": labels},
                "updateStrategy": {"type": "RollingUpdate"},
                "template": {"metadata": {"labels": labels, "annotations": found}, "spec": _pod(args)},
            },
            opts=self.child(depends_on=[account, settings]),
        )
        self.register_outputs({})


def _pod(args: GpuMetricsArgs) -> dict[str, Any]:
    """Return the pod's spec: NVIDIA/dcgm-exporter d5e5f510, ``deployment/templates/daemonset.yaml``."""
    folders = {"pod-resources": POD_RESOURCES, "metrics": _FOLDER}
    health = {"httpGet": {"path": "/health", "port": "metrics"}, "initialDelaySeconds": 45}
    return {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "nodeSelector": {LabelKey.ROLE.value: PoolRole.GPU.value},
        "affinity": whole_gpus_only(),
        "tolerations": [taint.toleration() for taint in args.taints],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": NAME,
                "image": args.image,
                "args": ["-f", f"{_FOLDER}/{_FILE}"],
                "env": [
                    {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
                    {"name": "DCGM_EXPORTER_LISTEN", "value": f":{PORT}"},
                    {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                ],
                "ports": [{"name": "metrics", "containerPort": PORT}],
                "livenessProbe": {**health, "periodSeconds": 5},
                "readinessProbe": health,
                "resources": RESOURCES,
                "securityContext": {
                    "runAsUser": 0,
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": name, "mountPath": path, "readOnly": True} for name, path in folders.items()],
            }
        ],
        "volumes": [
            {"name": "pod-resources", "hostPath": {"path": POD_RESOURCES, "type": "Directory"}},
            {"name": "metrics", "configMap": {"name": NAME}},
        ],
    }
