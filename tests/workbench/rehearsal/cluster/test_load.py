"""What every shipped stack's cluster runs before any work arrives."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from components.contract.quantities import parse_quantity
from infra.config import StackConfig
from support.shipped_stacks import SHIPPED, changed, shipped
from workbench.rehearsal.cluster.load import LOAD, CoreLoad, entries, load_of
from workbench.rehearsal.cluster.nodes import group_facts
from workbench.system.paths import PROJECT_ROOT


def pods(load: CoreLoad) -> dict[str, Mapping[str, Any]]:
    return {each.name: each.manifest["spec"]["template"]["spec"] for each in load.loads}


def of_system(load: CoreLoad, kind: str) -> set[str]:
    return {
        each.name
        for each in load.loads
        if each.manifest["kind"] == kind and each.manifest["metadata"]["namespace"] == "kube-system"
    }


def iguazio() -> StackConfig:
    return changed("dev", profile="iguazio", servers="pulumi", namespaces={"default-tenant": {"coreServices": True}})


@pytest.mark.parametrize("name", list(entries().loads))
def test_every_entry_has_a_source_or_says_that_it_is_assumed(name: str) -> None:
    entry = entries().loads[name]
    assert bool(entry.source) != entry.assumed
    assert bool(entry.clusters) != bool(entry.profiles)
    assert entry.source is None or entry.source in entries().sources
    for requests in entry.containers.values():
        assert all(parse_quantity(amount) > 0 for amount in requests.values())


def test_every_source_is_used_and_is_a_commit_or_a_file_of_ours() -> None:
    used = {entry.source for entry in entries().loads.values() if entry.source}
    assert used == entries().sources.keys()
    for source in entries().sources.values():
        assert re.search(r"/(blob|tree)/[0-9a-f]{40}/", source) or (PROJECT_ROOT / source).is_file()


@pytest.mark.parametrize("name", SHIPPED)
def test_every_pod_carries_the_name_of_its_entry(name: str) -> None:
    for load in load_of(shipped(name)).loads:
        spec = load.manifest["spec"]
        assert spec["selector"]["matchLabels"] == {LOAD: load.name}
        assert spec["template"]["metadata"]["labels"][LOAD] == load.name
        assert load.manifest["kind"] in ("DaemonSet", "Deployment")


@pytest.mark.parametrize("name", SHIPPED)
def test_services_of_the_platform_are_in_the_namespace_with_core_services(name: str) -> None:
    config = shipped(name)
    core = [each for each in load_of(config).loads if each.manifest["metadata"]["namespace"] != "kube-system"]
    declared = [namespace for namespace, choices in config.namespaces.items() if choices.core_services]
    assert {each.manifest["metadata"]["namespace"] for each in core} == set(declared[:1])
    assert {each.name for each in core} >= {"nuclio-dashboard", "nuclio-controller"}


@pytest.mark.parametrize("name", ["local", "dev"])
def test_admission_gives_core_services_their_place_where_it_can(name: str) -> None:
    found = pods(load_of(shipped(name)))
    assert "nodeSelector" not in found["mlrun-api-chief"]
    assert "priorityClassName" not in found["mlrun-api-chief"]


def test_where_admission_gives_no_places_core_services_have_those_of_their_values() -> None:
    cluster = shipped("dev").cluster.model_dump(mode="json", by_alias=True)
    load = load_of(changed("dev", cluster={**cluster, "version": "1.35"}))
    (chief,) = (each for each in load.loads if each.name == "mlrun-api-chief")
    template = chief.manifest["spec"]["template"]
    assert template["metadata"]["labels"]["igz-clusters.io/core-service"] == "true"
    assert template["spec"]["nodeSelector"] == {"igz-clusters.io/role": "initial"}
    assert template["spec"]["priorityClassName"] == "igz-system-medium"
    assert "nodeSelector" not in pods(load)["node-exporter"]


def test_each_cloud_has_its_own_daemons() -> None:
    eks, aks, local = (of_system(load_of(shipped(name)), "DaemonSet") for name in ("dev", "aks-dev", "local"))
    assert {"aws-node", "ebs-csi-node", "eks-pod-identity-agent", "kube-proxy", "nvidia-device-plugin"} <= eks
    assert {"cloud-node-manager", "csi-azuredisk-node", "csi-azurefile-node", "ama-logs", "cilium"} <= aks
    assert "kube-proxy" not in aks  # its data plane is Cilium's
    assert local == {"kube-proxy", "network-agent", "csi-node"}


def test_daemons_of_a_cloud_run_on_every_node() -> None:
    for name in ("dev", "aks-dev"):
        found = pods(load_of(shipped(name)))
        for daemon in of_system(load_of(shipped(name)), "DaemonSet") - {"nvidia-device-plugin", "dcgm-server"}:
            assert found[daemon]["tolerations"] == [{"operator": "Exists"}], daemon
            assert "nodeSelector" not in found[daemon]


def test_the_device_plug_in_runs_on_gpu_nodes_alone_and_tolerates_their_taints() -> None:
    plugin = pods(load_of(shipped("dev")))["nvidia-device-plugin"]
    assert plugin["nodeSelector"] == {"igz-clusters.io/role": "gpu"}
    (gpu,) = (each for each in group_facts(shipped("dev")) if each.role == "gpu")
    assert {f"{each['key']}={each['value']}:{each['effect']}" for each in plugin["tolerations"]} == set(gpu.taints)


def test_what_a_stack_does_not_have_does_not_run() -> None:
    cluster = shipped("dev").cluster.model_dump(mode="json", by_alias=True)
    pools = {"initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}}
    small = pods(load_of(changed("dev", cluster={**cluster, "nodeMonitoring": False}, pools=pools)))
    absent = {"cluster-autoscaler", "nvidia-device-plugin", "dcgm-server", "eks-node-monitoring-agent"}
    assert not absent & small.keys()
    assert absent <= pods(load_of(shipped("dev"))).keys()


def test_the_daemons_of_eks_request_what_their_charts_say() -> None:
    found = pods(load_of(shipped("dev")))
    requests = [each["resources"]["requests"] for each in found["ebs-csi-node"]["containers"]]
    assert requests == [{"cpu": "10m", "memory": "40Mi"}] * 3
    assert "resources" not in found["eks-pod-identity-agent"]["containers"][0]


def test_the_full_platform_has_other_core_services() -> None:
    load = load_of(iguazio())
    names = {each.name for each in load.loads if each.manifest["metadata"]["namespace"] == "default-tenant"}
    assert {"mlrun-api-chief", "ml-pipeline", "grafana"} <= pods(load_of(shipped("dev"))).keys()
    assert {"v3iod", "v3iod-locator", "nuclio-dashboard", "mlrun-api"} <= names
    assert not names & {"ml-pipeline", "seaweedfs-filer", "mlrun-api-chief"}


def test_without_core_services_only_the_cluster_itself_runs_and_the_report_says_so() -> None:
    load = load_of(changed("local", namespaces={"jobs": {}}))
    assert {each.manifest["metadata"]["namespace"] for each in load.loads} == {"kube-system"}
    assert "No namespace has core services, so the platform itself is not simulated." in load.assumptions


def test_the_report_names_assumed_requests() -> None:
    load = load_of(shipped("dev"))
    assert "Requests of kube-proxy, coredns are assumed." in load.assumptions
    assert load.assumptions[0] == "The cluster runs 8 DaemonSets and 31 services before any work arrives."


def test_images_are_of_an_approved_registry() -> None:
    load = load_of(changed("local", policies={"approvedRegistries": ["registry.example.com/ml/"]}))
    images = {container["image"] for pod in pods(load).values() for container in pod["containers"]}
    assert images == {"registry.example.com/ml/pause:3.10"}


@pytest.mark.parametrize("name", SHIPPED)
def test_daemons_are_made_first_and_core_services_last(name: str) -> None:
    order = [
        (each.manifest["kind"], each.manifest["metadata"]["namespace"] != "kube-system", each.name)
        for each in load_of(shipped(name)).loads
    ]
    assert order == sorted(order)
    assert order[0][0] == "DaemonSet"


@pytest.mark.parametrize("name", SHIPPED)
def test_the_initial_group_of_every_shipped_stack_has_room_for_its_load(name: str) -> None:
    config = shipped(name)
    (initial,) = (each for each in group_facts(config) if each.role == "initial")
    default = parse_quantity(config.pod_resources.requests.cpu)
    needed = 0.0
    for load in load_of(config).loads:
        template = load.manifest["spec"]["template"]["spec"]
        if template.get("nodeSelector", {}).get("igz-clusters.io/role", "initial") == "initial":
            missing = 0 if load.manifest["metadata"]["namespace"] == "kube-system" else default
            requests = (each.get("resources", {}).get("requests", {}) for each in template["containers"])
            cpu = sum(parse_quantity(each["cpu"]) if "cpu" in each else missing for each in requests)
            copies = initial.min if load.manifest["kind"] == "DaemonSet" else load.manifest["spec"]["replicas"]
            needed += float(cpu) * copies
    assert 0 < needed * 1000 <= initial.min * initial.cpu_millis
