"""Every shipped stack as Karpenter has it: the same nodes, labels, taints, zones and sizes as its node groups."""

import json
from typing import Any

import pytest

from components.contract.labels import AnnotationKey
from infra.config import StackConfig
from support.rehearsal_stacks import stack
from support.shipped_stacks import SHIPPED, changed, shipped
from workbench.prices.book import PriceBook
from workbench.prices.stack_cost import stack_cost
from workbench.rehearsal.cluster.load import load_of
from workbench.rehearsal.cluster.nodes import autoscaler_maps, group_facts
from workbench.rehearsal.cluster.scaling import Scaling, autoscaling
from workbench.rehearsal.cluster.tuning import tuning
from workbench.rehearsal.duel.karpenter import ZONE, karpenter
from workbench.rehearsal.prices import Prices
from workbench.rehearsal.settings import Pace, Scaler

BOOK = PriceBook.load()
ELASTIC = [name for name in SHIPPED if any(group.is_elastic for group in shipped(name).groups)]


def scaling(config: StackConfig, scaler: Scaler = Scaler.KARPENTER, pace: Pace | None = None) -> Scaling:
    return karpenter(scaler, lambda each: Prices(stack_cost(each, BOOK)))(config, pace or Pace())


def pools(found: Scaling) -> dict[str, Any]:
    return {each["metadata"]["name"]: each["spec"] for each in found.objects if each["kind"] == "NodePool"}


def requirement(pool: Any, key: str) -> list[str]:
    (values,) = (each["values"] for each in pool["template"]["spec"]["requirements"] if each["key"] == key)
    return list(values)


def test_there_are_stacks_to_translate() -> None:
    assert {"local", "dev", "prod", "aks-dev"} <= set(ELASTIC)


@pytest.mark.parametrize("name", ELASTIC)
def test_a_pool_may_grow_by_as_many_nodes_as_its_groups(name: str) -> None:
    config = shipped(name)
    found = {pool: int(spec["limits"]["nodes"]) for pool, spec in pools(scaling(config)).items()}
    expected: dict[str, int] = {}
    for group in config.groups:
        if group.is_elastic:
            expected[group.pool] = expected.get(group.pool, 0) + group.size.max - group.size.min
    assert found == expected


@pytest.mark.parametrize("name", ELASTIC)
def test_the_minimum_of_every_group_exists_and_is_not_karpenters(name: str) -> None:
    config = shipped(name)
    names = [node["metadata"]["name"] for node in scaling(config).nodes]
    assert names == [f"{group.name}-{index}" for group in config.groups for index in range(group.size.min)]
    assert not any(AnnotationKey.GROUP.value in node["metadata"]["annotations"] for node in scaling(config).nodes)


@pytest.mark.parametrize("name", ELASTIC)
def test_new_nodes_are_those_that_the_autoscaler_would_add(name: str) -> None:
    config = shipped(name)
    found, facts = scaling(config), {each.name: each for each in group_facts(config)}
    templates = autoscaler_maps(config, Pace())
    assert templates
    machines = {each["name"]: each for each in found.machines}
    for group in config.groups:
        if not group.is_elastic:
            continue
        spec, fact, machine = pools(found)[group.pool], facts[group.name], machines[group.instances[0].name]
        labels = spec["template"]["metadata"]["labels"]
        assert group.labels.items() <= labels.items()
        assert not {"eks.amazonaws.com/nodegroup", "agentpool"} & labels.keys()
        assert labels.get("igz-clusters.io/gpu-model", "") == group.instances[0].gpu_model
        assert spec["template"]["spec"].get("taints", []) == [each.to_kubernetes() for each in group.taints]
        assert requirement(spec, "karpenter.sh/capacity-type") == [group.lifecycle.value]
        assert group.instances[0].name in requirement(spec, "node.kubernetes.io/instance-type")
        resources = machine["resources"]
        assert (resources["cpu"], resources["memory"]) == (f"{fact.cpu_millis}m", f"{fact.memory_mib}Mi")
        assert resources.get(fact.gpu_resource or "", "0") == str(fact.gpus)
        simulated = json.loads(machine["annotations"][AnnotationKey.ALLOCATABLE.value])
        assert {**simulated, "nodes": "1"} == resources
        assert machine["annotations"][AnnotationKey.STARTS_IN.value] == "2000ms"


@pytest.mark.parametrize("name", ELASTIC)
def test_every_node_that_a_pool_may_get_has_an_offer_and_a_group(name: str) -> None:
    config = shipped(name)
    found = scaling(config)
    groups = {group.name for group in config.groups}
    for pool, spec in pools(found).items():
        (lifecycle,) = requirement(spec, "karpenter.sh/capacity-type")
        allowed = requirement(spec, "node.kubernetes.io/instance-type")
        for machine in (each for each in found.machines if each["name"] in allowed):
            offers = {
                tuple(each["values"][0] for each in offer["Requirements"]): offer["Price"]
                for offer in machine["offerings"]
            }
            for zone in requirement(spec, "topology.kubernetes.io/zone"):
                assert offers[lifecycle, zone] > 0
                assert machine["groups"][f"{pool}/{zone}"] in groups


@pytest.mark.parametrize("name", ELASTIC)
def test_each_pool_has_a_weight_of_its_own_and_the_cheapest_goes_first(name: str) -> None:
    config = shipped(name)
    weights = {pool: spec["weight"] for pool, spec in pools(scaling(config)).items()}
    assert sorted(weights.values(), reverse=True) == [100 - index for index in range(len(weights))]
    if name == "dev":
        assert weights["spot"] > weights["workload"] > weights["gpu"]


def test_the_two_ways_differ_in_what_they_disrupt_only() -> None:
    config = shipped("dev")
    first, second = (scaling(config, each) for each in (Scaler.KARPENTER, Scaler.KARPENTER_EMPTY))
    assert {(each["disruption"]["consolidationPolicy"], each["disruption"]["consolidateAfter"])
            for each in pools(first).values()} == {("WhenEmptyOrUnderutilized", "0s")}  # fmt: skip
    for one, other in zip(pools(first).values(), pools(second).values(), strict=True):
        assert (other["disruption"]["consolidationPolicy"], other["disruption"]["consolidateAfter"]) == (
            "WhenEmpty", "10m")  # fmt: skip
        assert {**one, "disruption": {}} == {**other, "disruption": {}}
    assert (first.machines, first.nodes) == (second.machines, second.nodes)


def test_a_stack_without_zones_has_one_on_every_node() -> None:
    found = scaling(stack())
    zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in found.nodes}
    assert zones == {ZONE}
    assert any("names no zones" in each for each in found.assumptions)


def test_a_machine_without_a_price_is_compared_by_an_assumed_one_and_said() -> None:
    found = karpenter(Scaler.KARPENTER, lambda each: Prices(stack_cost(each, PriceBook(()))))(stack(), Pace())
    (machine,) = (each for each in found.machines if each["name"] == "m6i.2xlarge")
    assert {offer["Price"] for offer in machine["offerings"]} == {8 * 0.05 + 32 * 0.005}
    assert any("m6i.2xlarge, g5.2xlarge by an assumed price" in each for each in found.assumptions)


def test_karpenter_replaces_the_autoscaler_and_its_pods() -> None:
    config = shipped("dev")
    found = scaling(config, pace=Pace(speed=20))
    tuned = tuning(Pace(speed=20), found.flags, machines=found.machines)
    assert tuned.programs[-1] == "karpenter"
    assert tuned.flags["karpenter"]["speed"] == "20"
    assert "cluster-autoscaler" not in tuned.flags
    names = {scaler: {each.name for each in load_of(config, scaler).loads} for scaler in Scaler}
    assert names[Scaler.KARPENTER] == names[Scaler.KARPENTER_EMPTY]
    assert names[Scaler.KARPENTER] ^ names[Scaler.CLUSTER_AUTOSCALER] == {"karpenter", "cluster-autoscaler"}


def test_the_autoscaler_itself_is_as_before() -> None:
    config = changed("dev")
    found = autoscaling(config, Pace())
    assert (found.scaler, found.machines) == (Scaler.CLUSTER_AUTOSCALER, ())
    assert {each["metadata"]["name"] for each in found.objects} == set(autoscaler_maps(config, Pace()))
    assert tuning(Pace(), found.flags).programs[-1] == "cluster-autoscaler"
