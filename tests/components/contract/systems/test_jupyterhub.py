"""JupyterHub's values: where hub and notebooks run, and when notebooks on GPUs stop."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.environments import Environment
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole
from components.contract.systems.jupyterhub import values
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices
from components.contract.taints import ARM_TAINT
from policies.rules.jupyter.ju_05_autoscaler_spares_notebooks import SAFE_TO_EVICT
from support.platform_cluster import platform_cluster, with_gpus_on_spot
from support.recorded_keys import sections, unknown

PLAIN = SystemChoices(namespace="mlrun")
INITIAL = {"igz-clusters.io/role": "initial"}
CORE = {"igz-clusters.io/core-service": "true"}


def content(cluster: PlatformCluster, choices: SystemChoices = PLAIN) -> dict[str, Any]:
    return values(cluster, choices).content


def notebooks(cluster: PlatformCluster) -> dict[str, Any]:
    found: dict[str, Any] = content(cluster)["singleuser"]
    return found


@pytest.mark.parametrize(
    ("without", "selector"),
    [
        ((), {"igz-clusters.io/role": "jupyter"}),
        (("notebooks",), {"igz-clusters.io/role": "workload"}),
    ],
)
def test_notebooks_run_on_their_pool_else_with_jobs(without: tuple[str, ...], selector: dict[str, str]) -> None:
    assert notebooks(platform_cluster(*without))["nodeSelector"] == selector


@pytest.mark.parametrize("change", [{"lifecycle": Lifecycle.SPOT}, {"taints": (ARM_TAINT,)}])
def test_notebooks_without_a_place_on_their_pool_run_with_jobs(change: dict[str, Any]) -> None:
    cluster = platform_cluster()
    groups = tuple(replace(group, **change) if group.role is PoolRole.JUPYTER else group for group in cluster.groups)
    assert notebooks(replace(cluster, groups=groups))["nodeSelector"]["igz-clusters.io/role"] == "workload"


def test_notebooks_stay_off_spot_nodes_without_a_taint() -> None:
    selector = notebooks(platform_cluster(spot_taint=None))["nodeSelector"]
    assert selector["app.iguazio.com/lifecycle"] == "non-preemptible"


def test_notebooks_are_neither_drained_nor_privileged_and_reach_no_more_than_their_namespace() -> None:
    found = notebooks(platform_cluster())
    assert found["extraAnnotations"] == {SAFE_TO_EVICT: "false"}
    assert found["extraPodConfig"] == {"priorityClassName": "igz-workload-medium"}
    assert found["cloudMetadata"] == {"blockWithIptables": False}
    assert found["networkPolicy"] == {"egressAllowRules": {"nonPrivateIPs": False}}
    assert content(platform_cluster())["proxy"]["service"] == {"type": "ClusterIP"}


def test_amounts_are_the_namespaces_in_jupyterhubs_units() -> None:
    """Its schema takes numbers of CPUs alone, and its units of memory are powers of 1024 without an i."""
    found = notebooks(platform_cluster())
    assert found["cpu"] == {"guarantee": 0.5, "limit": 2.0}
    assert found["memory"] == {"guarantee": "1024M", "limit": "4096M"}


def test_a_notebook_with_a_gpu_runs_on_gpu_nodes_and_stops_when_idle() -> None:
    default, gpu = notebooks(platform_cluster())["profileList"]
    assert default["default"] is True
    assert "kubespawner_override" not in default
    override = gpu["kubespawner_override"]
    assert override["node_selector"] == {"igz-clusters.io/role": "gpu"}
    assert override["extra_resource_limits"] == {"nvidia.com/gpu": "1"}
    options = dict(each.removeprefix("--").split("=") for each in override["args"])
    assert {name for name, value in options.items() if value == "600"} == options.keys() - {
        "MappingKernelManager.cull_connected"
    }
    assert options["MappingKernelManager.cull_connected"] == "True", (
        "else an open page keeps kernels and their GPU memory"
    )
    assert options.keys() == {key for source in sections("jupyterhub")["options"] for key in source["keys"]}
    assert [unknown(each, "jupyterhub", "profile") for each in (default, gpu)] == [[], []]


@pytest.mark.parametrize("found", [platform_cluster("gpu"), with_gpus_on_spot(platform_cluster())])
def test_without_gpus_on_demand_there_is_no_choice(found: PlatformCluster) -> None:
    """On spot nodes alone a notebook with a GPU would wait forever: it selects on-demand nodes or has no toleration."""
    assert "profileList" not in notebooks(found)
    assert not any("GPU" in note for note in values(found, PLAIN).notes)


def test_before_1_36_hub_and_proxy_get_place_class_and_mark() -> None:
    found = content(platform_cluster(places=False))
    klass = {"priorityClassName": "igz-system-medium"}
    assert found["hub"] == {"nodeSelector": INITIAL, "extraPodSpec": klass, "labels": CORE}
    assert found["proxy"]["chp"] == {"nodeSelector": INITIAL, "extraPodSpec": klass}
    assert found["proxy"]["labels"] == CORE
    assert "hub" not in content(platform_cluster())


def test_homes_and_the_hubs_database_get_the_class_of_volumes() -> None:
    found = content(platform_cluster(), SystemChoices(namespace="mlrun", storage_class="ssd", ingress_class="nginx"))
    assert found["singleuser"]["storage"] == {"dynamic": {"storageClass": "ssd"}}
    assert found["hub"]["db"] == {"pvc": {"storageClassName": "ssd"}}
    assert found["ingress"] == {"ingressClassName": "nginx"}


@pytest.mark.parametrize("environment", Environment)
def test_production_learns_that_notebooks_must_be_listed(environment: Environment) -> None:
    notes = " ".join(values(platform_cluster(environment=environment), PLAIN).notes)
    assert ("EN-05" in notes) is (environment is Environment.PROD)
