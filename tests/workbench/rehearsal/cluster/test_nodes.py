"""Simulated nodes of every shipped stack look as the nodes of its own kind of cluster do."""

import json
import subprocess
import sys
from typing import Any

import pytest
import yaml

from components.contract import autoscaler
from components.contract.clusters import descriptor_of
from components.contract.eks.autoscaling import autoscaling_tags
from components.contract.eks.config import EksConfig
from components.contract.labels import AnnotationKey, LabelKey
from infra.config import StackConfig
from support.autoscaler import node_template
from support.rehearsal_stacks import POOLS, stack
from support.shipped_stacks import SHIPPED, changed, shipped
from workbench.rehearsal.cluster.nodes import assumptions, autoscaler_maps, group_facts, static_nodes
from workbench.rehearsal.settings import Pace

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CLOUDS = ("dev", "prod", "aks-dev", "aks-prod")
ON_PREMISES = {"role": "workload", "size": {"min": 1, "max": 1}, "machine": {"vcpus": 32, "memoryGib": 128}}


def templates(config: StackConfig, pace: Pace | None = None) -> dict[str, dict[str, Any]]:
    maps = autoscaler_maps(config, pace or Pace())
    if not maps:
        return {}
    items = yaml.safe_load(maps[autoscaler.TEMPLATES]["templates"])["items"]
    return {item["metadata"]["annotations"][AnnotationKey.GROUP]: item for item in items}


def resources(node: dict[str, Any], key: AnnotationKey) -> dict[str, str]:
    found: dict[str, str] = json.loads(node["metadata"]["annotations"][key])
    return found


@pytest.mark.parametrize("name", SHIPPED)
def test_every_group_has_its_nodes_or_its_template(name: str) -> None:
    config = shipped(name)
    static = {group.name: group.size.min for group in config.groups if not group.is_elastic}
    nodes = static_nodes(config)
    assert len(nodes) == sum(static.values())
    assert len({node["metadata"]["name"] for node in nodes}) == len(nodes)
    assert templates(config).keys() == {group.name for group in config.groups if group.is_elastic}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_node_has_the_labels_and_taints_of_its_group_and_what_the_stages_read(name: str) -> None:
    config = shipped(name)
    groups = {group.name: group for group in config.groups}
    nodes = {node["metadata"]["name"].rpartition("-")[0]: node for node in static_nodes(config)}
    for group_name, node in {**nodes, **templates(config)}.items():
        group, metadata = groups[group_name], node["metadata"]
        assert metadata["labels"].items() >= group.labels.items()
        assert metadata["labels"][INSTANCE_TYPE] == group.instances[0].name
        assert metadata["labels"]["kubernetes.io/arch"] == group.instances[0].architecture
        assert node.get("spec", {}).get("taints", []) == [taint.to_kubernetes() for taint in group.taints]
        assert metadata["annotations"][AnnotationKey.SIMULATED] == "fake"
        assert resources(node, AnnotationKey.CAPACITY)["cpu"] == str(group.instances[0].vcpus)
        assert AnnotationKey.ALLOCATABLE in metadata["annotations"]


@pytest.mark.parametrize("name", SHIPPED)
def test_facts_of_a_group_are_those_of_its_nodes(name: str) -> None:
    config = shipped(name)
    facts = {each.name: each for each in group_facts(config)}
    assert list(facts) == [group.name for group in config.groups]
    nodes = {node["metadata"]["name"].rpartition("-")[0]: node for node in static_nodes(config)}
    for group_name, node in {**nodes, **templates(config)}.items():
        fact, offered = facts[group_name], resources(node, AnnotationKey.ALLOCATABLE)
        assert (f"{fact.cpu_millis}m", f"{fact.memory_mib}Mi") == (offered["cpu"], offered["memory"])
        assert str(fact.gpus) == offered.get(fact.gpu_resource or "", "0")
        assert fact.labels.items() <= node["metadata"]["labels"].items()
        assert fact.zone in (None, node["metadata"]["labels"].get(ZONE))


def test_headroom_is_known_in_full_because_work_may_hold_the_nodes_of_the_minimum() -> None:
    kept = POOLS["work"] | {"size": {"min": 1, "max": 5}, "headroom": {"pods": 2, "cpu": "6", "memory": "8Gi"}}
    facts = {each.name: each.headroom for each in group_facts(stack(pools=POOLS | {"work": kept}))}
    assert facts == dict.fromkeys(POOLS, 0) | {"work": 2}


@pytest.mark.parametrize("name", CLOUDS)
def test_static_nodes_of_a_group_over_all_zones_are_in_its_zones_in_turn(name: str) -> None:
    config = shipped(name)
    zones = sorted(descriptor_of(config.cluster).zones(config.cluster))
    initial = [node for node in static_nodes(config) if node["metadata"]["labels"][LabelKey.ROLE] == "initial"]
    found = [node["metadata"]["labels"][ZONE] for node in initial]
    region = initial[0]["metadata"]["labels"][REGION]
    assert len({zone.removeprefix(region).lstrip("-") for zone in found}) == min(len(initial), len(zones))
    assert all(zone.startswith(region) for zone in found)


def test_zones_have_the_names_of_their_cloud() -> None:
    assert {node["metadata"]["labels"][ZONE] for node in static_nodes(shipped("dev"))} <= {
        "eu-west-1a",
        "eu-west-1b",
        "eu-west-1c",
    }
    assert {node["metadata"]["labels"][ZONE] for node in static_nodes(shipped("aks-dev"))} <= {
        "westeurope-1",
        "westeurope-2",
        "westeurope-3",
    }


def test_a_zonal_group_is_in_its_own_zone_alone() -> None:
    for config in map(shipped, CLOUDS):
        found = templates(config)
        for fact in group_facts(config):
            if fact.zone and fact.is_elastic:
                assert found[fact.name]["metadata"]["labels"][ZONE] == fact.zone
                assert fact.zone.endswith(fact.name.rpartition("-")[2])


def test_an_elastic_group_over_several_zones_has_the_first_and_the_report_says_so() -> None:
    config = shipped("prod")
    (group,) = (each for each in config.groups if each.name == "workload")
    assert templates(config)[group.name]["metadata"]["labels"][ZONE] == "eu-west-1a"
    assert any(
        "workload" in each and "zone eu-west-1a; a cloud spreads" in each for each in assumptions(config, Pace())
    )


def test_local_and_existing_clusters_have_no_zones() -> None:
    for name in ("local", "existing"):
        assert all(ZONE not in node["metadata"]["labels"] for node in static_nodes(shipped(name)))


def test_aks_spot_nodes_have_the_label_and_the_taint_of_azure() -> None:
    spot = [node for node in templates(shipped("aks-dev")).values() if "spot" in node["metadata"]["name"]]
    assert spot
    for node in spot:
        assert node["metadata"]["labels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
        taint = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
        assert taint in node["spec"]["taints"]


def test_eks_nodes_say_their_capacity_type() -> None:
    found = {name: node["metadata"]["labels"] for name, node in templates(shipped("dev")).items()}
    types = {name: labels["eks.amazonaws.com/capacityType"] for name, labels in found.items()}
    assert types["spot"] == "SPOT"
    assert types["workload"] == "ON_DEMAND"


def test_gpu_nodes_have_their_model_and_offer_their_gpus() -> None:
    gpu = templates(shipped("dev"))["gpu"]
    assert gpu["metadata"]["labels"]["igz-clusters.io/gpu-model"]
    assert int(gpu["status"]["allocatable"]["nvidia.com/gpu"]) >= 1
    models = yaml.safe_load(autoscaler_maps(shipped("dev"), Pace())[autoscaler.CONFIG]["config"])["nodes"]["gpuConfig"]
    assert gpu["metadata"]["labels"][models["gpuLabelKey"]] in models["availableGPUTypes"]


def test_nodes_of_reserved_capacity_are_in_its_zone_and_say_so() -> None:
    reserved = {
        "role": "gpu",
        "lifecycle": "reserved",
        "size": {"min": 0, "max": 2},
        "instanceTypes": ["p5.48xlarge"],
        "zone": "b",
        "reservation": {"id": "cr-0a91582543292e10a", "block": True},
    }
    content = shipped("dev").model_dump(mode="json", by_alias=True)
    config = changed("dev", pools={**content["pools"], "train": reserved})
    (group,) = (each for each in group_facts(config) if each.pool == "train")
    assert (group.lifecycle, group.zone, group.gpus) == ("reserved", "eu-west-1b", 8)
    labels = templates(config)[group.name]["metadata"]["labels"]
    assert labels["igz-clusters.io/lifecycle"] == "reserved"
    assert labels["eks.amazonaws.com/capacityType"] == "CAPACITY_BLOCK"


def test_nodes_with_a_fast_network_offer_it_and_huge_pages_as_their_tags_promise() -> None:
    fast = {
        "role": "gpu",
        "size": {"min": 0, "max": 2},
        "instanceTypes": ["p5.48xlarge"],
        "zone": "b",
        "fabric": True,
    }
    content = shipped("dev").model_dump(mode="json", by_alias=True)
    config = changed("dev", pools={**content["pools"], "train": fast})
    assert isinstance(config.cluster, EksConfig)
    (facts,) = (each for each in group_facts(config) if each.pool == "train")
    (group,) = (each for each in config.groups if each.pool == "train")
    offered = resources(templates(config)["train"], AnnotationKey.ALLOCATABLE)
    assert (facts.gpus, offered["vpc.amazonaws.com/efa"], offered["hugepages-2Mi"]) == (8, "32", "42242Mi")
    assert offered["memory"] == f"{facts.memory_mib}Mi"
    promised = node_template(autoscaling_tags(group, config.cluster.name, config.cluster.root_volume_gib))
    assert promised.resources.items() <= templates(config)["train"]["status"]["allocatable"].items()


def test_nodes_reserve_what_those_of_their_kind_reserve() -> None:
    aks = static_nodes(shipped("aks-dev"))[0]
    whole, offered = (resources(aks, key) for key in (AnnotationKey.CAPACITY, AnnotationKey.ALLOCATABLE))
    assert (whole["memory"], offered["memory"]) == ("16384Mi", f"{16384 - 2250 - 100}Mi")
    assert (whole["cpu"], offered["cpu"]) == ("4", "3860m")
    eks = static_nodes(shipped("prod"))[0]
    assert resources(eks, AnnotationKey.ALLOCATABLE)["pods"] == "58"


def test_nodes_with_prefixes_take_more_pods() -> None:
    config = shipped("prod")
    prefixed = config.model_copy(update={"cluster": config.cluster.model_copy(update={"prefix_delegation": True})})
    before, after = (resources(static_nodes(each)[0], AnnotationKey.ALLOCATABLE) for each in (config, prefixed))
    assert after == {**before, "pods": "110"}


def test_the_autoscaler_expects_110_pods_of_an_empty_group_of_eks_whatever_its_nodes_take() -> None:
    gpu = templates(shipped("dev"))["gpu"]
    assert gpu["status"]["allocatable"]["pods"] == "110"
    assert resources(gpu, AnnotationKey.ALLOCATABLE)["pods"] == "58"


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_a_simulated_group_of_eks_is_what_its_tags_promise_the_real_autoscaler(name: str) -> None:
    config = shipped(name)
    assert isinstance(config.cluster, EksConfig)
    nodes = templates(config)
    for group in (each for each in config.groups if each.is_elastic):
        promised = node_template(autoscaling_tags(group, config.cluster.name, config.cluster.root_volume_gib))
        node = nodes[group.name]
        assert promised.resources.items() <= node["status"]["allocatable"].items()
        assert promised.labels.items() <= node["metadata"]["labels"].items()


def test_the_root_disk_has_the_size_that_the_stack_says() -> None:
    cluster = shipped("dev").cluster.model_dump(mode="json", by_alias=True)
    config = changed("dev", cluster={**cluster, "rootVolumeGib": 300})
    node = static_nodes(config)[0]
    assert resources(node, AnnotationKey.CAPACITY)["ephemeral-storage"] == "300Gi"
    small = resources(static_nodes(shipped("dev"))[0], AnnotationKey.ALLOCATABLE)["ephemeral-storage"]
    assert int(resources(node, AnnotationKey.ALLOCATABLE)["ephemeral-storage"][:-2]) > 2.9 * int(small[:-2])


def test_a_machine_of_ones_own_is_simulated_by_its_resources_and_selected_by_its_labels() -> None:
    existing = shipped("existing").model_dump(mode="json", by_alias=True)
    nodes = {**existing["cluster"]["nodes"], "own": {"selector": {"example.com/pool": "own"}}}
    pools = {name: pool for name, pool in existing["pools"].items() if name in nodes}
    config = changed(
        "existing", cluster={**existing["cluster"], "nodes": nodes}, pools={**_given(pools), "own": ON_PREMISES}
    )
    (node,) = (each for each in static_nodes(config) if each["metadata"]["name"] == "own-0")
    assert resources(node, AnnotationKey.CAPACITY)["memory"] == f"{128 * 1024}Mi"
    assert node["metadata"]["labels"]["example.com/pool"] == "own"
    assert node["metadata"]["labels"][INSTANCE_TYPE] == "32cpu-128gib"


def _given(pools: dict[str, Any]) -> dict[str, Any]:
    """Return pools without keys that may not be written together."""
    return {name: {key: value for key, value in pool.items() if value} for name, pool in pools.items()}


@pytest.mark.parametrize(
    ("pace", "wanted"),
    [
        (Pace(), "2000ms"),
        (Pace(speed=60, node_start=90), "1500ms"),
        (Pace(speed=1), "120000ms"),
        (Pace(node_start=0), None),
    ],
)
def test_only_nodes_of_the_autoscaler_start_late_in_real_time(pace: Pace, wanted: str | None) -> None:
    config = shipped("dev")
    found = {node["metadata"]["annotations"].get(AnnotationKey.STARTS_IN) for node in templates(config, pace).values()}
    assert found == {wanted}
    assert all(AnnotationKey.STARTS_IN not in node["metadata"]["annotations"] for node in static_nodes(config))


def test_a_stack_without_elastic_groups_has_no_autoscaler() -> None:
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    config = changed("local", pools=pools)
    assert autoscaler_maps(config, Pace()) == {}
    assert not any("autoscaler" in each for each in assumptions(config, Pace()))


def test_describing_nodes_loads_no_sdk() -> None:
    check = "import sys, workbench.rehearsal.cluster.nodes, workbench.rehearsal.cluster.autoscaler_flags; "
    check += "print([name for name in sys.modules if name.split('.')[0].startswith('pulumi')])"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
