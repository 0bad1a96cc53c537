from typing import Any

import pytest

from components.contract.clusters import cluster_egress
from components.contract.eks.egress import egress_problems
from components.contract.environments import PlatformProfile
from components.contract.namespaces import UserNamespace
from support.eks import PODS, config

IDENTITY = {"buckets": [{"bucket": "ml-data"}]}


def refused(namespace: dict[str, Any], *cidrs: str, ports: int, **changes: Any) -> list[str]:
    cluster = config(changes).cluster
    numbers = list(range(9000, 9000 + ports))
    choices = UserNamespace.model_validate(
        {**namespace, "egress": [{"reason": "stores", "cidrs": list(cidrs), "ports": numbers}] if ports else []}
    )
    found = egress_problems(cluster, choices, cluster_egress(cluster, PlatformProfile.MLRUN_CE))
    return [
        problem.removeprefix("opens ").partition(", with")[0].replace("pairs of port and protocol in ", "")
        for problem in found
    ]


@pytest.mark.parametrize(
    ("namespace", "cidrs", "ports"),
    [
        ({}, ["192.0.2.0/24"], 24),
        ({"coreServices": True}, ["192.0.2.0/24"], 23),  # core services may reach everything
        ({"identity": IDENTITY}, ["192.0.2.0/24"], 23),  # and so port 443 of public addresses
        ({"identity": IDENTITY}, ["10.0.0.0/24"], 24),
        ({}, ["10.20.0.0/16"], 21),  # the API server, and DNS by two protocols
        ({}, ["0.0.0.0/0"], 21),
        ({}, ["192.0.2.0/24", "198.51.100.0/24"], 24),
    ],
)
def test_the_agent_keeps_24_pairs_of_a_range_and_one_more_is_refused(
    namespace: dict[str, Any], cidrs: list[str], ports: int
) -> None:
    assert refused(namespace, *cidrs, ports=ports) == []
    assert refused(namespace, *cidrs, ports=ports + 1)


def test_of_ranges_inside_one_another_the_widest_is_named() -> None:
    assert refused({}, "192.0.0.0/16", "192.0.2.0/24", "198.51.100.0/24", ports=25) == [
        "25 192.0.0.0/16",
        "25 198.51.100.0/24",
    ]


def test_pods_with_a_range_of_their_own_are_where_dns_is() -> None:
    assert refused({}, "10.20.0.0/16", ports=23, **PODS) == []
    assert refused({}, "100.64.0.0/16", ports=23, **PODS) == ["25 100.64.0.0/16"]


def test_ranges_of_the_other_family_do_not_meet() -> None:
    assert refused({"egressCidrs": ["::/0"]}, "192.0.2.0/24", ports=24) == []
