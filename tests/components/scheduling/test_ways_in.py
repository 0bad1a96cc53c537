"""Who reaches the platform's services from outside, by the network policies of a stack with ways in."""

from functools import cache
from typing import Any

import pytest
import yaml

from components.contract.ingress import ENDPOINTS, Endpoint
from components.contract.labels import LabelKey
from infra.config import parse
from infra.program import run
from support import eks, stack_cases
from support.network import Address, Connection, Pod, allows
from support.recorder import record
from workbench.system.paths import PROJECT_ROOT

USER_WORK = {LabelKey.USER_WORKLOADS.value: "true"}
KIT = yaml.safe_load((PROJECT_ROOT / "tests" / "kit" / "shapes" / "chart.yaml").read_text())["shapes"]
"""Pods of MLRun CE's chart, with the labels of their sources."""


def pod(shape: str) -> Pod:
    return Pod("mlrun", KIT[shape]["labels"], USER_WORK)


SERVICES = {
    "mlrun": "mlrun-ui",
    "mlrun-api": "mlrun-api-chief",
    "nuclio": "nuclio-dashboard",
    "jupyter": "jupyter",
    "grafana": "grafana",
}
NOTEBOOK = pod("jupyter")
SOLVER = Pod("mlrun", {"acme.cert-manager.io/http01-solver": "true"}, USER_WORK)
JOB = Pod("mlrun", {"mlrun/class": "job"}, USER_WORK)
DATABASE_PORT = 3306
PORTS = (DATABASE_PORT, 443, 3000, 8070, 8080, 8089, 8090, 8888)
KINDS = ("eks", "local")


@cache
def policies(kind: str, *, is_reached: bool = True, issuer: str = "") -> list[dict[str, Any]]:
    namespaces = {"mlrun": {"coreServices": True}, "jobs": {}}
    if kind == "eks":
        ingress = {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"]}
        document = eks.document({"namespaces": namespaces, **({"cluster.ingress": ingress} if is_reached else {})})
    else:
        document = {**stack_cases.bases()["local-ingress" if is_reached else "local"], "namespaces": namespaces}
        if issuer:
            document["cluster"] = {
                **document["cluster"],
                "ingress": {**document["cluster"]["ingress"], "clusterIssuer": issuer},
            }
    config = parse(document)
    recorder = record(lambda: run(config, kubeconfig="/nowhere/kubeconfig"))
    return list(recorder.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy").values())


def comes_in(kind: str, to: Pod, port: int, source: Pod | Address | None = None) -> bool:
    """Return whether requests of clients, or of ``source``, reach a pod."""
    way_in = {"eks": Address("10.20.200.7"), "local": Pod("ingress", {"app.kubernetes.io/name": "traefik"})}[kind]
    return allows(policies(kind), Connection(source or way_in, to, port))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: each.name)
def test_clients_reach_each_service_and_nothing_else_of_its_pod(kind: str, endpoint: Endpoint) -> None:
    to = pod(SERVICES[endpoint.name])
    assert [port for port in PORTS if comes_in(kind, to, port)] == [endpoint.pod_port]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("port", sorted({each.pod_port for each in ENDPOINTS} | {DATABASE_PORT, 443}))
def test_jobs_functions_and_databases_stay_closed(kind: str, port: int) -> None:
    function = Pod("mlrun", {"nuclio.io/app": "functionres", "nuclio.io/class": "function"}, USER_WORK)
    for closed in (JOB, function, pod("mlrun-db"), pod("nuclio-controller"), Pod("jobs", {}, USER_WORK)):
        assert not comes_in(kind, closed, port)


def test_challenges_of_certificates_are_answered_if_cert_manager_makes_them() -> None:
    source = Pod("ingress")
    assert allows(policies("local", issuer="letsencrypt"), Connection(source, SOLVER, 8089))
    assert not allows(policies("local", issuer="letsencrypt"), Connection(source, NOTEBOOK, 8089))
    assert not allows(policies("local"), Connection(source, SOLVER, 8089))


def test_only_the_load_balancers_network_comes_in_on_eks() -> None:
    assert not comes_in("eks", NOTEBOOK, 8888, Address("203.0.113.7"))
    assert not comes_in("eks", NOTEBOOK, 8888, Address("10.99.0.7"))


def test_only_the_namespace_of_the_controller_comes_in_elsewhere() -> None:
    assert not comes_in("local", NOTEBOOK, 8888, Pod("default", {"app.kubernetes.io/name": "traefik"}))
    assert not comes_in("local", NOTEBOOK, 8888, Address("10.20.200.7"))


@pytest.mark.parametrize("kind", KINDS)
def test_without_ways_in_notebooks_are_closed_as_before(kind: str) -> None:
    source = Pod("ingress") if kind == "local" else Address("10.20.200.7")
    assert not allows(policies(kind, is_reached=False), Connection(source, NOTEBOOK, 8888))


def test_pods_of_other_namespaces_come_in_neither_by_name_nor_by_the_egress_of_their_own() -> None:
    assert not comes_in("local", NOTEBOOK, 8888, Pod("jobs", {}, USER_WORK))
    # With the VPC CNI pods have addresses of the load balancer's network, so it is their own egress that holds them.
    assert not allows(policies("eks"), Connection(Pod("jobs", {}, USER_WORK), Address("10.20.200.7"), 8888))
