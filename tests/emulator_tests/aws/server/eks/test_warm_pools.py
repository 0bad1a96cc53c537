"""Warm pools of node groups, as EKS keeps them and as Auto Scaling sees them."""

from typing import Any

import pytest

from support.aws import refused
from support.eks_account import Account

TWO = {"enabled": True, "minSize": 2, "maxGroupPreparedCapacity": 2}


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster()


def warm_pool(home: Account, mine: str, group: str) -> Any:
    name = home.read_group(mine, group)["resources"]["autoScalingGroups"][0]["name"]
    answer = home.aws.api("autoscaling").describe_warm_pool(AutoScalingGroupName=name)
    return answer.get("WarmPoolConfiguration")


def change(home: Account, mine: str, group: str, **config: Any) -> None:
    home.eks.update_nodegroup_config(clusterName=mine, nodegroupName=group, warmPoolConfig=config)


def test_a_group_has_none_unless_it_is_asked_for(home: Account, mine: str) -> None:
    group = home.group(mine)
    assert "warmPoolConfig" not in home.read_group(mine, group)
    assert not warm_pool(home, mine, group)


def test_it_is_made_with_the_group_and_described_with_what_was_not_sent(home: Account, mine: str) -> None:
    group = home.group(mine, warmPoolConfig=TWO)
    described = {**TWO, "poolState": "STOPPED", "reuseOnScaleIn": False}
    assert home.read_group(mine, group)["warmPoolConfig"] == described
    found = warm_pool(home, mine, group)
    assert (found["MinSize"], found["MaxGroupPreparedCapacity"], found["PoolState"]) == (2, 2, "Stopped")


def test_it_comes_changes_and_goes_with_updates(home: Account, mine: str) -> None:
    group = home.group(mine)
    change(home, mine, group, **TWO)
    assert warm_pool(home, mine, group)["MinSize"] == 2
    change(home, mine, group, poolState="RUNNING")  # what it does not name stays
    found = home.read_group(mine, group)["warmPoolConfig"]
    assert (found["enabled"], found["minSize"], found["poolState"]) == (True, 2, "RUNNING")
    change(home, mine, group, enabled=False)
    assert "warmPoolConfig" not in home.read_group(mine, group)
    assert not warm_pool(home, mine, group)


def test_other_updates_leave_it_alone(home: Account, mine: str) -> None:
    group = home.group(mine, warmPoolConfig=TWO)
    home.eks.update_nodegroup_config(clusterName=mine, nodegroupName=group, updateConfig={"maxUnavailable": 2})
    assert warm_pool(home, mine, group)["MinSize"] == 2


def test_more_machines_than_may_be_prepared_are_refused(home: Account, mine: str) -> None:
    with refused("InvalidParameterException"):
        home.group(mine, warmPoolConfig={**TWO, "minSize": 3})
