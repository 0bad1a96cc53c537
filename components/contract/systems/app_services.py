"""Application services of a full Iguazio platform: where they run, in the form of its API.

Keys are those of igz_mgmt 0.4.2 (https://pypi.org/project/igz-mgmt/0.4.2/), ``schemas/app_services.py``. The API has no
tolerations; the installer itself places core services, such as MLRun, Nuclio and Grafana.
"""

from collections.abc import Mapping
from typing import Any, Final

from components.contract.gpus import DEFAULT_GPU_RESOURCE
from components.contract.priorities import DEFAULT_USER_PRIORITY
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues

NOTEBOOKS: Final = "jupyter"

SERVICES: Final = ("shell", "presto", "hive", "mariadb", "spark_history_server", "tensorboard")
"""Kinds of services that users start, besides notebooks."""

GPU_NOTEBOOKS: Final = "jupyter-with-gpu"
"""A service of kind ``NOTEBOOKS`` that requests a GPU."""

_IDLE: Final = "10m"
"""Window of one of the API's presets."""


def services(cluster: PlatformCluster) -> dict[str, dict[str, Any]]:
    """Return the settings of each service, by its name.

    Notebooks with GPUs scale to zero (Iguazio best practices, Jupyter service considerations), so their nodes can too.
    """
    found = {NOTEBOOKS: _service(NOTEBOOKS, cluster.notebook_selector)}
    found |= {kind: _service(kind, cluster.service_selector) for kind in SERVICES}
    if DEFAULT_GPU_RESOURCE in cluster.service_gpus:
        metrics = ("num_of_requests", "jupyter_kernel_busyness")
        rules = [{"metric_name": name, "window_size": _IDLE, "threshold": 0} for name in metrics]
        found[GPU_NOTEBOOKS] = {
            **_service(NOTEBOOKS, cluster.gpu_selector),
            "resources": {"limits": {"nvidia_gpu": "1"}},
            "scale_to_zero": {"mode": "enabled", "scale_resources": rules},
        }
    return found


def values(cluster: PlatformCluster, _: SystemChoices) -> SystemValues:
    """Return the settings of each service, under its name."""
    notes = ("services without a GPU stay off nodes with a taint: the API has no tolerations",)
    return SystemValues(content=services(cluster), notes=notes, next="set this in each service, after `up`")


def _service(kind: str, selector: Mapping[str, str]) -> dict[str, Any]:
    entries = [{"key": key, "value": value} for key, value in selector.items()]
    placement = {"node_selector": {"entries": entries}, "priority_class_name": DEFAULT_USER_PRIORITY.value}
    return {"kind": kind, "advanced": placement}
