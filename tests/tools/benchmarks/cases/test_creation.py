"""The time that AWS itself needs for a cluster."""

from typing import Any

import pytest

from emulators.aws.server.clock import SECONDS
from tools.benchmarks.cases.creation import LEAST, MAKES, critical_path, own_time

CLUSTER, ADDON, GROUP = "aws:eks/cluster:Cluster", "aws:eks/addon:Addon", "aws:eks/nodeGroup:NodeGroup"
NAT = "aws:ec2/natGateway:NatGateway"


def resource(type_: str, name: str, *dependencies: str, **more: str) -> dict[str, Any]:
    return {"type": type_, "urn": name, "dependencies": list(dependencies), **more}


def test_what_is_made_at_the_same_time_counts_once() -> None:
    cluster = resource(CLUSTER, "cluster")
    groups = [resource(GROUP, f"group-{index}", "cluster") for index in range(3)]
    both = own_time(cluster) + own_time(groups[0])
    assert critical_path([cluster, resource(NAT, "nat"), *groups]) == both == 660


def test_what_waits_for_another_comes_after_it_whoever_is_between() -> None:
    between = resource("aws:autoscaling/tag:Tag", "tag", "first")
    after = [resource(GROUP, "first"), between, resource(GROUP, "second", "tag"), resource(ADDON, "addon", "second")]
    assert critical_path(after) == 2 * SECONDS["eks:CreateNodegroup"] + SECONDS["eks:CreateAddon"]


@pytest.mark.parametrize("link", [{"parent": "cluster"}, {"provider": "cluster::id"}])
def test_a_parent_and_a_provider_come_first_too(link: dict[str, str]) -> None:
    found = critical_path([resource(CLUSTER, "cluster"), resource(ADDON, "addon", **link)])
    assert found == SECONDS["eks:CreateCluster"] + SECONDS["eks:CreateAddon"]


def test_the_least_is_made_of_calls_on_which_aws_works() -> None:
    assert set(LEAST) <= set(MAKES.values()) <= set(SECONDS)
