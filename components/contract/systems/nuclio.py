"""Settings of Nuclio (nuclio 9e837f6a, ``pkg/platformconfig/types.go``)."""

from typing import Any

from components.contract.mlrun import PREEMPTIBLE_NODE_SELECTOR
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from components.contract.systems.platform_cluster import PlatformCluster


def platform_settings(cluster: PlatformCluster) -> dict[str, Any]:
    """Return where and with what functions run that their authors do not place: ``platform.kube`` of the chart.

    Nuclio's dashboard and controller restart by themselves when they change. Where spot nodes have no taint, the key
    ``tolerations`` must be absent: an empty list turns the affinity of the mode ``prevent`` off.
    """
    settings: dict[str, Any] = {
        "defaultFunctionNodeSelector": cluster.job_selector,
        "defaultFunctionPriorityClassName": DEFAULT_USER_PRIORITY.value,
        "validFunctionPriorityClassNames": [each.value for each in UserPriority],
        "defaultFunctionPodResources": cluster.pod_resources.model_dump(),
    }
    if cluster.has_spot:
        settings["preemptibleNodes"] = {
            "defaultMode": cluster.mlrun.preemption_mode.value,
            "nodeSelector": dict(PREEMPTIBLE_NODE_SELECTOR),
            **({"tolerations": [cluster.spot_taint.toleration()]} if cluster.spot_taint else {}),
        }
    return settings
