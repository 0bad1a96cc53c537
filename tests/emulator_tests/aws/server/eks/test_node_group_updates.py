from typing import Any

import pytest

from emulators.core.faults import FailedRule, Issue
from support.aws import eventually, refused
from support.eks_account import Account
from support.minors import CHOSEN, EARLIER, NEWEST, OLDER, after

TAINT = {"key": "spot", "value": "true", "effect": "NO_SCHEDULE"}


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster(version=EARLIER)


def change(home: Account, mine: str, group: str, **config: Any) -> dict[str, Any]:
    update: dict[str, Any] = home.eks.update_nodegroup_config(clusterName=mine, nodegroupName=group, **config)["update"]
    return update


def upgrade(home: Account, mine: str, group: str, **version: Any) -> dict[str, Any]:
    return dict(home.eks.update_nodegroup_version(clusterName=mine, nodegroupName=group, **version)["update"])


def move(home: Account, mine: str, group: str, desired: int) -> None:
    home.aws.move(home.read_group(mine, group)["resources"]["autoScalingGroups"][0]["name"], desired)


def test_a_size_changes_in_the_auto_scaling_group(home: Account, mine: str) -> None:
    group = home.group(mine)
    update = change(home, mine, group, scalingConfig={"minSize": 0, "maxSize": 5, "desiredSize": 4})
    assert update["type"] == "ConfigUpdate"
    assert {"type": "MaxSize", "value": "5"} in update["params"]
    found = home.read_group(mine, group)
    assert found["scalingConfig"] == {"minSize": 0, "maxSize": 5, "desiredSize": 4}
    own = found["resources"]["autoScalingGroups"][0]["name"]
    seen = home.aws.api("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[own])["AutoScalingGroups"][0]
    assert (seen["MinSize"], seen["MaxSize"], seen["DesiredCapacity"]) == (0, 5, 4)


def test_a_change_of_anything_else_leaves_the_autoscalers_size(home: Account, mine: str) -> None:
    group = home.group(mine)
    move(home, mine, group, 3)
    change(home, mine, group, labels={"addOrUpdateLabels": {"a": "b"}})
    change(home, mine, group, scalingConfig={"maxSize": 9})
    assert home.read_group(mine, group)["scalingConfig"] == {"minSize": 1, "maxSize": 9, "desiredSize": 3}


def test_a_size_that_the_autoscaler_moves_during_an_update_stays(home: Account, mine: str) -> None:
    group = home.group(mine)
    home.aws.set_scale(0.03)
    change(home, mine, group, scalingConfig={"maxSize": 9})
    move(home, mine, group, 3)
    assert eventually(lambda: home.read_group(mine, group)["status"] == "ACTIVE")
    assert home.read_group(mine, group)["scalingConfig"] == {"minSize": 1, "maxSize": 9, "desiredSize": 3}


def test_an_update_ends_although_the_auto_scaling_group_is_gone(home: Account, mine: str) -> None:
    group = home.group(mine)
    own = home.read_group(mine, group)["resources"]["autoScalingGroups"][0]["name"]
    home.aws.set_scale(0.03)
    change(home, mine, group, scalingConfig={"maxSize": 9})
    home.aws.api("autoscaling").delete_auto_scaling_group(AutoScalingGroupName=own, ForceDelete=True)
    assert eventually(lambda: home.read_group(mine, group)["status"] == "DEGRADED")


def test_a_minimum_above_the_live_size_is_refused(home: Account, mine: str) -> None:
    group = home.group(mine)
    with refused("InvalidParameterException") as caught:
        change(home, mine, group, scalingConfig={"minSize": 3})
    assert "Minimum capacity 3 can't be greater than desired size 2" in str(caught.value)
    assert home.read_group(mine, group)["status"] == "ACTIVE"


def test_labels_and_taints_come_change_and_go(home: Account, mine: str) -> None:
    group = home.group(mine, labels={"a": "1", "b": "1"}, taints=[TAINT])
    other = {**TAINT, "key": "gpu"}
    change(
        home,
        mine,
        group,
        labels={"addOrUpdateLabels": {"a": "2", "c": "1"}, "removeLabels": ["b"]},
        taints={"addOrUpdateTaints": [{**TAINT, "value": "false"}, other]},
        updateConfig={"maxUnavailable": 2},
        nodeRepairConfig={"enabled": True},
    )
    found = home.read_group(mine, group)
    assert found["labels"] == {"a": "2", "c": "1"}
    assert found["taints"] == [{**TAINT, "value": "false"}, other]
    assert found["updateConfig"] == {"maxUnavailable": 2}
    assert found["nodeRepairConfig"] == {"enabled": True}
    change(home, mine, group, taints={"removeTaints": [other]})
    assert home.read_group(mine, group)["taints"] == [{**TAINT, "value": "false"}]


def test_a_request_for_nothing_is_refused(home: Account, mine: str) -> None:
    group = home.group(mine)
    with refused("InvalidParameterException"):
        change(home, mine, group)


def test_a_group_has_one_update_at_a_time(home: Account, mine: str) -> None:
    group = home.group(mine)
    home.aws.set_scale(1)
    change(home, mine, group, scalingConfig={"maxSize": 9})
    assert home.read_group(mine, group)["status"] == "UPDATING"
    with refused("ResourceInUseException"):
        change(home, mine, group, scalingConfig={"maxSize": 8})
    with refused("ResourceInUseException"):
        upgrade(home, mine, group)
    home.aws.advance(3600)
    assert home.read_group(mine, group)["status"] == "ACTIVE"
    assert home.read_group(mine, group)["scalingConfig"]["maxSize"] == 9


def test_groups_follow_the_control_plane(home: Account, mine: str) -> None:
    group = home.group(mine)
    with refused("InvalidParameterException") as caught:
        upgrade(home, mine, group, version=OLDER)
    assert "cannot be ahead of cluster" in str(caught.value)
    home.eks.update_cluster_version(name=mine, version=OLDER)
    update = upgrade(home, mine, group, version=OLDER)
    assert update["type"] == "VersionUpdate"
    found = home.read_group(mine, group)
    assert found["version"] == OLDER
    assert found["releaseVersion"].startswith(f"{OLDER}.")
    with refused("InvalidParameterException"):
        upgrade(home, mine, group, version=after(EARLIER, -1))


def test_a_group_may_lag_three_versions_and_no_more(home: Account, mine: str) -> None:
    group = home.group(mine)
    for version in (OLDER, CHOSEN, NEWEST):
        home.eks.update_cluster_version(name=mine, version=version)
    assert home.read_group(mine, group)["version"] == EARLIER
    older = home.cluster(version=after(EARLIER, -1))
    behind = home.group(older)
    for version in (EARLIER, OLDER, CHOSEN):
        home.eks.update_cluster_version(name=older, version=version)
    with refused("InvalidRequestException") as caught:
        home.eks.update_cluster_version(name=older, version=NEWEST)
    assert f"Nodegroups {behind} must be updated" in str(caught.value)


def test_the_launch_template_stays_and_its_version_changes(home: Account, mine: str) -> None:
    template = home.template()
    group = home.group(mine, launchTemplate={"id": template, "version": "1"})
    data = {"EbsOptimized": True}
    home.aws.api("ec2").create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData=data)
    update = upgrade(home, mine, group, launchTemplate={"id": template, "version": "2"})
    assert {"type": "LaunchTemplateVersion", "value": "2"} in update["params"]
    assert home.read_group(mine, group)["launchTemplate"]["version"] == "2"
    with refused("InvalidParameterException") as caught:
        upgrade(home, mine, group, launchTemplate={"id": home.template()})
    assert "must be the one" in str(caught.value)
    with refused("InvalidParameterException"):
        upgrade(home, mine, home.group(mine), launchTemplate={"id": template})


def test_an_update_that_failed_leaves_the_group_as_it_was(home: Account, mine: str) -> None:
    group = home.group(mine)
    home.eks.update_cluster_version(name=mine, version=OLDER)
    issue = Issue(code="PodEvictionFailure", message="Reached max retries while trying to evict pods")
    home.aws.set_faults(FailedRule(operation="eks:UpdateNodegroupVersion", issues=(issue,)))
    update = upgrade(home, mine, group)
    found = home.eks.describe_update(name=mine, nodegroupName=group, updateId=update["id"])["update"]
    assert found["status"] == "Failed"
    assert found["errors"] == [{"errorCode": issue.code, "errorMessage": issue.message}]
    later = home.read_group(mine, group)
    assert (later["status"], later["version"]) == ("ACTIVE", EARLIER)
