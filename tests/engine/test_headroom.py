"""Headroom, images pulled early, warm pools and other machines, from `up` to their end, on emulators of the clouds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import azure_emulator
from support.aws_emulator import Account, identities, left_by_destroy, writes
from support.azure_emulator import Subscription
from support.cloud_account import CloudAccount
from support.lives import bring_up, hollow, kill

pytestmark = [pytest.mark.engine, pytest.mark.full]

STACK = "dev"
UP = ("up", STACK, "--hermetic", "--yes")
UPDATE = "eks:UpdateNodegroupConfig"
ROOM = {"pods": 2, "cpu": "3", "memory": "12Gi"}
IMAGES = ["nvcr.io/nvidia/pytorch:25.06-py3"]


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Account]:
    with hollow(Account, tmp_path, STACK, pools__workload__size={"min": 1, "max": 5}) as made:
        yield made


def warm_pools(cloud: Account) -> list[dict[str, Any]]:
    api = cloud.aws.api("autoscaling")
    names = [each["AutoScalingGroupName"] for each in api.describe_auto_scaling_groups()["AutoScalingGroups"]]
    answers = (api.describe_warm_pool(AutoScalingGroupName=name).get("WarmPoolConfiguration") for name in names)
    return [each for each in answers if each]


def in_the_cluster(cloud: CloudAccount, stack: str = STACK) -> set[str]:
    """Return what the state has of headroom and early images, by kind and name."""
    resources = cloud.state(stack)["resources"]
    made = (each["urn"].split("::") for each in resources if each["type"].startswith("kubernetes:"))
    return {f"{urn[2].rpartition(':')[2]} {urn[3]}" for urn in made if "igz-headroom" in urn[3] or "prepull" in urn[3]}


def test_all_three_come_change_survive_a_kill_and_go(cloud: Account) -> None:
    cloud.edit(STACK, pools__workload__headroom=ROOM, pools__workload__prepullImages=IMAGES)
    cloud.run(*UP)
    assert in_the_cluster(cloud) == {
        "PriorityClass igz-headroom",
        "Namespace igz-headroom",
        "Deployment igz-headroom/workload",
        "DaemonSet igz-prepull/workload",
    }
    assert warm_pools(cloud) == []

    cloud.edit(STACK, pools__workload__warmPool={"nodes": 2})
    kill(cloud, STACK, UPDATE)
    in_state, in_aws = identities(cloud, STACK)
    assert in_state == in_aws
    (warm,) = warm_pools(cloud)
    assert (warm["MinSize"], warm["MaxGroupPreparedCapacity"], warm["PoolState"]) == (2, 2, "Stopped")

    last = cloud.last
    cloud.edit(STACK, pools__workload__warmPool={"nodes": 3, "state": "running"})
    cloud.run(*UP)
    assert [call.operation for call in writes(cloud.aws.calls(last))] == [UPDATE]  # no node is replaced
    (warm,) = warm_pools(cloud)
    assert (warm["MinSize"], warm["PoolState"]) == (3, "Running")
    assert "no drift" in cloud.run("drift", STACK, "--hermetic").stdout.lower()

    last = cloud.last
    cloud.edit(
        STACK, pools__workload__warmPool=None, pools__workload__headroom=None, pools__workload__prepullImages=None
    )
    cloud.run(*UP)
    assert [call.operation for call in writes(cloud.aws.calls(last))] == [UPDATE]
    assert warm_pools(cloud) == []
    assert in_the_cluster(cloud) == set()
    assert left_by_destroy(cloud, STACK) == set()


POOLS = "Microsoft.ContainerService/managedClusters/agentPools"


def machines(azure: Subscription) -> set[str]:
    """Return the machine types of the agent pools of the pool ``workload``."""
    return {each["properties"]["vmSize"] for each in azure.agent_pools("workload")}


def test_early_images_and_machines_by_shape_live_on_aks(azure: Subscription) -> None:
    bring_up(azure, "aks-dev", pools__workload__prepullImages=IMAGES)
    assert in_the_cluster(azure, "aks-dev") == {"DaemonSet igz-prepull/workload"}
    before = machines(azure)

    # One agent pool for each type: killed after the first of the new ones, the others come, and then the old one goes.
    azure.edit("aks-dev", pools__workload__shape={"vcpus": 8, "memoryGib": 64})
    azure.run("machines", "aks-dev", "workload", "--write")
    kill(azure, "aks-dev", f"{POOLS}/write")
    selected = machines(azure)
    assert len(selected) == 3
    assert before.isdisjoint(selected)
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_state == in_azure
    assert "no drift" in azure.run("drift", "aks-dev", "--hermetic").stdout.lower()

    # Without the key nothing changes in Azure.
    assert bring_up(azure, "aks-dev", pools__workload__prepullImages=None) == []
    assert in_the_cluster(azure, "aks-dev") == set()
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())
