"""Where Iguazio's application services run."""

from components.contract.systems.app_services import GPU_NOTEBOOKS, services
from support.platform_cluster import platform_cluster, with_gpus_on_spot


def selected(*without: str, service: str) -> dict[str, str]:
    cluster = platform_cluster(*without, spot_taint=None)
    entries = services(cluster)[service]["advanced"]["node_selector"]["entries"]
    return {each["key"]: each["value"] for each in entries}


def test_services_stay_off_spot_nodes_and_notebooks_have_a_pool_of_their_own_if_there_is_one() -> None:
    on_demand = {"app.iguazio.com/lifecycle": "non-preemptible"}
    assert selected(service="presto") == {"igz-clusters.io/role": "workload", **on_demand}
    assert selected(service="jupyter") == {"igz-clusters.io/role": "jupyter", **on_demand}
    assert selected("notebooks", service="jupyter") == {"igz-clusters.io/role": "workload", **on_demand}


def test_notebooks_with_gpus_scale_to_zero_and_need_an_on_demand_pool_with_gpus() -> None:
    found = services(platform_cluster())[GPU_NOTEBOOKS]
    assert (found["kind"], found["scale_to_zero"]["mode"]) == ("jupyter", "enabled")
    assert found["resources"] == {"limits": {"nvidia_gpu": "1"}}
    assert GPU_NOTEBOOKS not in services(platform_cluster("gpu"))
    assert GPU_NOTEBOOKS not in services(with_gpus_on_spot(platform_cluster()))
