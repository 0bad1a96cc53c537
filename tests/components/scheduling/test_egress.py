"""What pods of user namespaces reach, by the network policies of each shipped stack."""

from functools import cache
from typing import Any

import pytest

from components.contract.existing.cluster_inventory import ClusterInventory
from components.contract.labels import LabelKey
from infra.config import CONFIG_KEY, StackConfig, parse
from infra.program import run
from support import aks, eks, existing
from support.network import Address, Connection, Pod, allows
from support.recorder import record
from workbench.stacks import find

JOBS, CORE = {"igz-clusters.io/user-workloads": "true"}, {LabelKey.CORE_SERVICE.value: "true"}
JOB = Pod("mlrun", {"mlrun/class": "job"}, JOBS)
SEEN: dict[str, Any] = {"api_server": ("10.233.0.1/32", "192.0.2.10/32"), "api_ports": (443, 6443)}
"""An existing cluster's API server: its Service, and the endpoint behind it."""

API = {
    "dev": [("172.20.0.1", 443), ("10.20.1.2", 443)],
    "prod": [("172.20.0.1", 443), ("10.40.1.2", 443)],
    "aks-dev": [("172.20.0.1", 443), ("20.1.2.3", 443)],
    "aks-prod": [("172.20.0.1", 443), ("10.50.1.2", 443)],
    "local": [("10.96.0.1", 443)],
    "existing": [("10.233.0.1", 443), ("192.0.2.10", 6443)],
}
STACKS = tuple(API)
STORED = Address("3.5.140.2")  # S3, Azure Blob or a registry


@cache
def policies_of(stack: str, *, by_default: bool) -> list[dict[str, Any]]:
    """Return the policies of a shipped stack; ``by_default`` leaves out the destinations that its file names."""
    document = find(stack).document["config"][CONFIG_KEY]
    [said, *_] = document["namespaces"].values()
    return policies(parse({**document, "namespaces": {"mlrun": {"coreServices": True} if by_default else said}}))


def policies(config: StackConfig) -> list[dict[str, Any]]:
    sighting = existing.sighting_of(config)
    if sighting:
        sighting = ClusterInventory(sighting.cluster_id, sighting.nodes, **SEEN)
    recorder = record(lambda: run(config, kubeconfig="/nowhere/kubeconfig", sighting=sighting))
    return list(recorder.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy").values())


def reaches(
    stack: str, to: Pod | Address, port: int, protocol: str = "TCP", source: Pod = JOB, *, by_default: bool = False
) -> bool:
    return allows(policies_of(stack, by_default=by_default), Connection(source, to, port, protocol))


@pytest.mark.parametrize("stack", STACKS)
def test_jobs_of_all_systems_reach_the_api_server(stack: str) -> None:
    """Spark drivers, MPI launchers and steps of pipelines call it; those of users have no mark."""
    systems = (
        {"spark-role": "driver"},
        {"training.kubeflow.org/job-role": "launcher"},
        {"workflows.argoproj.io/x": ""},
    )
    for labels in systems:
        pod = Pod("mlrun", labels, JOBS)
        found = [reaches(stack, Address(ip), port, source=pod, by_default=True) for ip, port in API[stack]]
        assert found == [True] * len(API[stack])


@pytest.mark.parametrize("stack", STACKS)
def test_jobs_reach_their_workers_the_mlrun_api_and_dns(stack: str) -> None:
    assert reaches(stack, Pod("mlrun", {"dask.org/component": "scheduler"}, JOBS), 8786)
    assert reaches(stack, Pod("mlrun", {"spark-role": "executor"}, JOBS), 7079)
    assert reaches(stack, Pod("mlrun", {"app.kubernetes.io/name": "mlrun", **CORE}, JOBS), 8080)
    dns = Pod("kube-system", {"k8s-app": "kube-dns"})
    assert [reaches(stack, dns, 53, protocol) for protocol in ("UDP", "TCP")] == [True, True]
    assert reaches(stack, Address("169.254.20.10"), 53, "UDP")
    assert not reaches(stack, dns, 443)


@pytest.mark.parametrize("stack", STACKS)
def test_shipped_stacks_of_real_clusters_reach_registries_and_stores_by_https_only(stack: str) -> None:
    assert reaches(stack, STORED, 443) is (stack != "local")  # its nodes are simulated
    assert not reaches(stack, STORED, 80)
    assert not reaches(stack, STORED, 443, "UDP")


@pytest.mark.parametrize("stack", STACKS)
def test_what_a_stack_file_does_not_name_stays_closed(stack: str) -> None:
    is_public_api = stack == "aks-dev"  # its API server has some public address
    assert reaches(stack, STORED, 443, by_default=True) is is_public_api
    for network in ("10.99.0.5", "192.168.3.4"):
        assert not reaches(stack, Address(network), 443, by_default=True)
    assert not reaches(stack, STORED, 80, by_default=True)


@pytest.mark.parametrize("stack", STACKS)
def test_v3io_is_reached_on_a_full_platform_only(stack: str) -> None:
    node = Address("10.50.0.9")  # its web API has the network of its node
    assert [reaches(stack, node, port) for port in (8081, 8443)] == [stack == "aks-prod"] * 2
    assert not reaches(stack, node, 10250)


@pytest.mark.parametrize("stack", STACKS)
def test_nobody_reaches_the_machines_credentials(stack: str) -> None:
    for address in ("169.254.169.254", "168.63.129.16"):
        assert [reaches(stack, Address(address), port) for port in (80, 443, 32526)] == [False] * 3
    assert not reaches(stack, Address("169.254.170.2"), 80)
    assert not reaches(stack, Address("fd00:ec2::254"), 80)


@pytest.mark.parametrize("stack", STACKS)
def test_jobs_get_the_credentials_of_their_own_service_account_on_eks(stack: str) -> None:
    assert reaches(stack, Address("169.254.170.23"), 80) is (stack in ("dev", "prod"))
    assert not reaches(stack, Address("169.254.170.23"), 2703)


@pytest.mark.parametrize("stack", STACKS)
def test_jobs_do_not_reach_other_namespaces(stack: str) -> None:
    assert not reaches(stack, Pod("kube-system", {"k8s-app": "metrics-server"}), 443)
    assert not reaches(stack, Pod("team", {}), 8080)
    assert not reaches(stack, Pod("team", CORE), 8080)  # the mark counts in user namespaces only


def api(config: StackConfig, ip: str, port: int = 443) -> bool:
    return allows(policies(config), Connection(Pod("mlrun", {}, JOBS), Address(ip), port))


def test_a_private_api_of_aks_is_in_the_subnet_of_nodes_and_a_public_one_at_any_public_address() -> None:
    private = aks.config({"cluster.authorizedRanges": None})
    assert [api(private, ip) for ip in ("10.30.0.4", "10.30.200.4", "20.1.2.3")] == [True, False, False]
    public = aks.config({"cluster.authorizedRanges": ["203.0.113.0/24"]})
    assert [api(public, ip) for ip in ("20.1.2.3", "10.30.0.4", "100.64.0.9")] == [True, False, False]


def test_a_namespace_names_the_ranges_of_the_api_server_or_none() -> None:
    chosen = {"namespaces": {"mlrun": {"apiServerCidrs": ["198.51.100.0/28"]}}}
    config = aks.config({"cluster.authorizedRanges": ["203.0.113.0/24"], **chosen})
    assert [api(config, ip) for ip in ("198.51.100.3", "20.1.2.3")] == [True, False]
    none = eks.config({"namespaces": {"mlrun": {"apiServerCidrs": []}}})
    assert not api(none, "172.20.0.1")
    assert allows(policies(none), Connection(JOB, Address("169.254.170.23"), 80))


def test_without_a_sight_of_the_api_server_a_choice_opens_both_usual_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SEEN, "api_server", ())
    assert not api(existing.config(), "192.0.2.10", 6443)
    config = existing.config({"namespaces": {"mlrun": {"apiServerCidrs": ["192.0.2.0/28"]}}})
    assert [api(config, "192.0.2.10", port) for port in (443, 6443, 8443)] == [True, True, False]


def test_a_destination_is_open_on_its_ports_and_a_plain_range_on_all() -> None:
    stores = {"reason": "stores", "cidrs": ["10.8.0.0/24", "10.9.0.0/24"], "ports": [443, 9000]}
    clock = {"reason": "time", "cidrs": ["10.8.1.0/24"], "ports": [123], "protocol": "UDP"}
    jobs = {"egress": [stores, clock], "egressCidrs": ["10.7.0.0/24"]}
    here = policies(parse(eks.document({"namespaces": {"jobs": jobs}})))

    def open_to(ip: str, port: int, protocol: str = "TCP") -> bool:
        return allows(here, Connection(Pod("jobs", {}, JOBS), Address(ip), port, protocol))

    assert open_to("10.8.0.1", 443)
    assert open_to("10.9.0.1", 9000)
    assert not open_to("10.8.0.1", 80)
    assert open_to("10.8.1.1", 123, "UDP")
    assert not open_to("10.8.1.1", 123)
    assert open_to("10.7.0.1", 1)
