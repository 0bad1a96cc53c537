"""Who reaches the platform's services from outside, by the network policies of a stack with ways in."""

from functools import cache
from typing import Any

import pytest

from components.contract.ingress import ENDPOINTS, POD_PORTS
from components.contract.labels import LabelKey
from infra.config import parse
from infra.program import run
from support import eks, stack_cases
from support.network import Address, Connection, Pod, allows
from support.recorder import record

USER_WORK = {LabelKey.USER_WORKLOADS.value: "true"}
NOTEBOOK = Pod("mlrun", {"app.kubernetes.io/component": "jupyter-notebook"}, USER_WORK)
JOB = Pod("mlrun", {"mlrun/class": "job"}, USER_WORK)
DATABASE_PORT = 3306
KINDS = ("eks", "local")


@cache
def policies(kind: str, *, is_reached: bool = True) -> list[dict[str, Any]]:
    namespaces = {"mlrun": {"coreServices": True}, "jobs": {}}
    if kind == "eks":
        ingress = {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"]}
        document = eks.document({"namespaces": namespaces, **({"cluster.ingress": ingress} if is_reached else {})})
    else:
        document = {**stack_cases.bases()["local-ingress" if is_reached else "local"], "namespaces": namespaces}
    config = parse(document)
    recorder = record(lambda: run(config, kubeconfig="/nowhere/kubeconfig"))
    return list(recorder.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy").values())


def comes_in(kind: str, to: Pod, port: int, source: Pod | Address | None = None) -> bool:
    """Return whether requests of clients, or of ``source``, reach a pod."""
    way_in = {"eks": Address("10.20.200.7"), "local": Pod("ingress", {"app.kubernetes.io/name": "traefik"})}[kind]
    return allows(policies(kind), Connection(source or way_in, to, port))


@pytest.mark.parametrize("kind", KINDS)
def test_clients_reach_notebooks_and_unmarked_services(kind: str) -> None:
    assert [comes_in(kind, NOTEBOOK, each.pod_port) for each in ENDPOINTS] == [True] * len(ENDPOINTS)
    for each in ENDPOINTS:
        assert each.pod_port in POD_PORTS


@pytest.mark.parametrize("kind", KINDS)
def test_other_ports_and_other_namespaces_stay_closed(kind: str) -> None:
    assert not comes_in(kind, JOB, DATABASE_PORT)
    assert not comes_in(kind, JOB, 443)
    assert not comes_in(kind, Pod("jobs", {}, USER_WORK), 8888)


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


@pytest.mark.parametrize("kind", KINDS)
def test_jobs_of_other_namespaces_do_not_come_in_by_the_way_of_clients(kind: str) -> None:
    other = Pod("jobs", {}, USER_WORK)
    assert not comes_in(kind, NOTEBOOK, 8888, other)
