"""Headroom, images pulled early and a warm pool on an EKS stack, from `up` to their end, on an emulator of AWS."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.aws_emulator import Account, identities, left_by_destroy, writes
from support.lives import hollow, kill

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


def in_the_cluster(cloud: Account) -> set[str]:
    """Return what the state has of headroom and early images, by kind and name."""
    resources = cloud.state(STACK)["resources"]
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
