"""Settings of AKS's own Cluster Autoscaler: one set for all pools of a cluster.

The autoscaler learns labels and taints of an empty pool from AKS, so pools need no settings of their own.
"""

from collections.abc import Mapping
from typing import Final

from components.contract.aks.config import JobMix

_COMMON: Final = {
    "expander": "least-waste",
    "balance_similar_node_groups": "true",
    # A finished job no longer uses its scratch volume; an evicted job loses it.
    "skip_nodes_with_local_storage": "true",
    # DNS and metrics may be moved: they have disruption budgets. Otherwise, one of them can keep a node of every pool.
    "skip_nodes_with_system_pods": "false",
    "max_graceful_termination_sec": "600",
    "max_node_provision_time": "15m",
    "scan_interval": "10s",
    "new_pod_scale_up_delay": "0s",
}

_BY_MIX: Final[Mapping[JobMix, Mapping[str, str]]] = {
    JobMix.BATCH: {
        "scale_down_delay_after_add": "10m",
        "scale_down_unneeded_time": "10m",
        "scale_down_utilization_threshold": "0.5",
        "max_empty_bulk_delete": "20",
    },
    JobMix.INTERACTIVE: {
        "scale_down_delay_after_add": "30m",
        "scale_down_unneeded_time": "30m",
        "scale_down_utilization_threshold": "0.3",
        "max_empty_bulk_delete": "5",
    },
}


def autoscaler_profile(mix: JobMix) -> dict[str, str]:
    """Return the inputs of a cluster's ``autoScalerProfile``, by their names in Python.

    Meaning and units: https://learn.microsoft.com/azure/aks/cluster-autoscaler-overview. All values are text.
    """
    return {**_COMMON, **_BY_MIX[mix]}
