"""The outputs of the shipped cloud stacks, beside the node groups that their programs declare."""

from functools import cache
from typing import Any

import pytest

from infra.program import run
from support.recorder import Recorder, record
from workbench.engine.pool_status import declared_groups, recorded_groups
from workbench.report.events import STACK_TYPE
from workbench.stacks import find

STACKS = ("dev", "prod", "aks-dev", "aks-prod")


@cache
def built(stack: str) -> Recorder:
    return record(lambda: run(find(stack).config))


def largest(pool: dict[str, Any]) -> int:
    return int(pool["maxCount"] if pool["enableAutoScaling"] else pool["count"])


def declared(recorder: Recorder) -> dict[str, int]:
    """Return the largest size of every group that the program declares, by the name that it has there."""
    groups = recorder.of_type("aws:eks/nodeGroup:NodeGroup")
    pools = recorder.of_type("azure-native:containerservice:AgentPool")
    (*clusters,) = recorder.of_type("azure-native:containerservice:ManagedCluster").values()
    return {
        **{name.removeprefix("test-"): int(group["scalingConfig"]["maxSize"]) for name, group in groups.items()},
        **{name.removeprefix("test-pools-"): largest(pool) for name, pool in pools.items()},
        **{pool["name"]: largest(pool) for cluster in clusters for pool in cluster["agentPoolProfiles"]},
    }


@pytest.mark.parametrize("stack", STACKS)
def test_outputs_name_exactly_the_groups_that_exist_with_their_sizes(stack: str) -> None:
    recorder = built(stack)
    said = {name: group["max"] for name, group in recorder.exports["pools"].items()}
    assert said == declared(recorder)
    assert said.keys() == {group.name for group in find(stack).config.groups}


@pytest.mark.parametrize("stack", STACKS)
def test_a_status_reads_a_group_of_the_stack_file_as_one_of_the_outputs(stack: str) -> None:
    above = {"urn": f"urn:pulumi:{stack}::p::{STACK_TYPE}::p-{stack}", "type": STACK_TYPE}
    state = {"resources": [{**above, "outputs": built(stack).exports}]}
    assert recorded_groups(state) == declared_groups(find(stack).config)


@pytest.mark.parametrize(("stack", "nodes"), [("aks-dev", 84), ("aks-prod", 125)])
def test_the_largest_sizes_add_up_to_what_the_cloud_may_make(stack: str, nodes: int) -> None:
    assert sum(group["max"] for group in built(stack).exports["pools"].values()) == nodes


def test_a_zonal_pool_is_named_in_every_zone() -> None:
    assert {name for name in built("dev").exports["pools"] if name.startswith("jupyter")} == {
        "jupyter-a",
        "jupyter-b",
        "jupyter-c",
    }


def test_another_pool_changes_no_entry_of_the_others() -> None:
    config = find("dev").config
    pool = config.pools["workload"].model_copy(update={"labels": {"team": "vision"}})
    more = record(lambda: run(config.model_copy(update={"pools": {"another": pool, **config.pools}})))
    assert built("dev").exports["pools"].items() <= more.exports["pools"].items()
    assert more.exports["pools"].keys() - built("dev").exports["pools"].keys() >= {"another"}


def test_a_group_says_what_one_of_its_nodes_offers() -> None:
    group = built("prod").exports["pools"]["gpu"]
    assert group["gpus"] >= 1
    assert group["vcpus"] >= 1
    assert group["architecture"] == "amd64"
