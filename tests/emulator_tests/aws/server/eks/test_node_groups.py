import base64
from typing import Any

import pytest

from components.contract.certificates import EXAMPLE
from components.contract.eks.user_data import user_data as multipart
from emulators.core.faults import FailedRule, Issue, StuckRule
from support.aws import eventually, refused
from support.eks_account import Account, role, unique
from support.minors import EARLIER, OLDER

TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster()


def scaling_group(home: Account, mine: str, group: str) -> Any:
    name = home.read_group(mine, group)["resources"]["autoScalingGroups"][0]["name"]
    found = home.aws.api("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
    return found[0] if found else None


def test_a_group_is_creating_and_then_active_with_an_auto_scaling_group(home: Account, mine: str) -> None:
    made = home.eks.create_nodegroup(**home.group_args(mine))["nodegroup"]
    assert made["status"] == "CREATING"
    name = made["nodegroupName"]
    assert home.read_group(mine, name)["status"] == "ACTIVE"
    found = scaling_group(home, mine, name)
    assert found["AutoScalingGroupName"].startswith(f"eks-{name}-")
    assert (found["MinSize"], found["MaxSize"], found["DesiredCapacity"]) == (1, 3, 2)
    assert len(found["Instances"]) == 2
    tags = {tag["Key"]: tag["Value"] for tag in found["Tags"]}
    assert tags["eks:cluster-name"] == mine
    assert tags["eks:nodegroup-name"] == name
    assert tags[f"kubernetes.io/cluster/{mine}"] == "owned"


def test_everything_that_was_sent_is_read_back(home: Account, mine: str) -> None:
    sent = {
        "labels": {"igz-clusters.io/role": "gpu"},
        "taints": [TAINT],
        "tags": {"Name": "gpu"},
        "capacityType": "SPOT",
        "amiType": "AL2023_x86_64_NVIDIA",
        "instanceTypes": ["g4dn.xlarge", "g5.xlarge"],
        "updateConfig": {"maxUnavailablePercentage": 33},
        "nodeRepairConfig": {"enabled": True},
        "releaseVersion": f"{OLDER}.2-20261105",
    }
    template = home.template()
    name = home.group(mine, launchTemplate={"id": template, "version": "$Latest"}, **sent)
    found = home.read_group(mine, name)
    assert sent.items() <= found.items()
    assert (found["launchTemplate"]["id"], found["launchTemplate"]["version"]) == (template, "1")
    assert "diskSize" not in found
    assert found["scalingConfig"] == {"minSize": 1, "maxSize": 3, "desiredSize": 2}
    assert found["nodegroupArn"].startswith(f"arn:aws:eks:eu-west-1:111122223333:nodegroup/{mine}/{name}/")


def test_a_group_may_have_other_processors(home: Account, mine: str) -> None:
    name = home.group(mine, instanceTypes=["m7g.large"], amiType="AL2023_ARM_64_STANDARD")
    assert home.read_group(mine, name)["status"] == "ACTIVE"


def test_what_was_not_sent_gets_eks_defaults(home: Account, mine: str) -> None:
    required = ("clusterName", "nodegroupName", "subnets", "nodeRole")
    args = {member: value for member, value in home.group_args(mine).items() if member in required}
    found = home.eks.create_nodegroup(**args)["nodegroup"]
    assert found["scalingConfig"] == {"minSize": 1, "maxSize": 2, "desiredSize": 2}
    assert found["updateConfig"] == {"maxUnavailable": 1}
    assert (found["capacityType"], found["diskSize"], found["instanceTypes"]) == ("ON_DEMAND", 20, ["t3.medium"])
    assert found["version"] == OLDER
    assert found["releaseVersion"].startswith(f"{OLDER}.")


def test_the_size_shown_is_the_one_that_the_autoscaler_left(home: Account, mine: str) -> None:
    name = home.group(mine)
    home.aws.move(scaling_group(home, mine, name)["AutoScalingGroupName"], 3)
    assert home.read_group(mine, name)["scalingConfig"]["desiredSize"] == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nodeRole": "arn:aws:iam::111122223333:role/nobody"}, "cannot be found"),
        ({"subnets": ["subnet-0123456789abcdef0"]}, "does not exist"),
        ({"instanceTypes": ["m6i.huge"]}, "do not exist: [m6i.huge]"),
        ({"instanceTypes": ["m7g.large"]}, "[m7g.large] is not a valid instance type for requested amiType"),
        ({"version": EARLIER}, "must be equal to cluster"),
        ({"releaseVersion": f"{EARLIER}.2-20261105"}, f"is not valid for kubernetes version {OLDER}"),
        ({"launchTemplate": {"id": "lt-0123456789abcdef0"}}, "launchTemplate"),
        ({"launchTemplate": {"id": "lt-0123456789abcdef0", "name": "a"}}, "Either provide launch template ID or"),
        ({"scalingConfig": {"minSize": 1, "maxSize": 3}}, "all or none"),
        ({"scalingConfig": {"minSize": 3, "maxSize": 3, "desiredSize": 2}}, "Minimum capacity 3 can't be greater"),
        ({"scalingConfig": {"minSize": 1, "maxSize": 3, "desiredSize": 4}}, "can't be greater than maxSize 3"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_does_not_exist_or_fit_is_refused(home: Account, mine: str, changes: dict[str, Any], words: str) -> None:
    with refused("InvalidParameterException") as caught:
        home.group(mine, **changes)
    assert words in str(caught.value)
    assert home.eks.list_nodegroups(clusterName=mine)["nodegroups"] == []


def test_a_role_for_something_else_is_refused(home: Account, mine: str) -> None:
    with refused("InvalidParameterException") as caught:
        home.group(mine, nodeRole=home.cluster_role)
    assert "[ec2.amazonaws.com] were not found in the trust relationships" in str(caught.value)


def test_a_template_and_a_disk_size_exclude_each_other(home: Account, mine: str) -> None:
    with refused("InvalidParameterException") as caught:
        home.group(mine, launchTemplate={"id": home.template()}, diskSize=50)
    assert "diskSize" in str(caught.value)


def test_a_cluster_that_is_not_active_gets_no_group(home: Account) -> None:
    home.aws.set_faults(StuckRule(operation="eks:CreateCluster"))
    with refused("InvalidRequestException") as caught:
        home.group(home.cluster())
    assert "not in ACTIVE status" in str(caught.value)


def test_a_group_of_no_cluster_is_not_found(home: Account) -> None:
    with refused("ResourceNotFoundException"):
        home.group("nowhere")


def test_a_name_is_taken_once(home: Account, mine: str) -> None:
    name = home.group(mine)
    with refused("ResourceInUseException"):
        home.group(mine, nodegroupName=name)


@pytest.mark.parametrize(
    ("user_data", "status"),
    [
        (multipart({"HTTP_PROXY": "http://proxy.corp.example:3128"}, [EXAMPLE], {}), "ACTIVE"),
        ("#!/bin/bash\nupdate-ca-trust\n", "CREATE_FAILED"),
    ],
    ids=["multipart", "a script"],
)
def test_a_group_needs_user_data_that_can_be_merged(home: Account, mine: str, user_data: str, status: str) -> None:
    template = home.template(UserData=base64.b64encode(user_data.encode()).decode())
    found = home.read_group(mine, home.group(mine, launchTemplate={"id": template}))
    assert found["status"] == status
    issues = [(issue["code"], issue["message"]) for issue in found["health"]["issues"]]
    words = ("Ec2LaunchTemplateInvalidConfiguration", "User data was not in the MIME multipart format.")
    assert issues == ([] if status == "ACTIVE" else [words])


def test_user_data_is_bounded(home: Account) -> None:
    home.template(UserData=base64.b64encode(b"x" * 16384).decode())
    with refused("InvalidUserData.Malformed"):
        home.template(UserData=base64.b64encode(b"x" * 16385).decode())


def test_a_group_that_could_not_be_made_says_why_and_others_go_on(home: Account, mine: str) -> None:
    issue = Issue(
        code="AsgInstanceLaunchFailures", message="Could not launch Spot Instances. InsufficientInstanceCapacity"
    )
    home.aws.set_faults(FailedRule(operation="eks:CreateNodegroup", times=1, issues=(issue,)))
    failed, well = home.group(mine), home.group(mine)
    found = home.read_group(mine, failed)
    assert found["status"] == "CREATE_FAILED"
    assert found["health"]["issues"] == [
        {
            "code": issue.code,
            "message": issue.message,
            "resourceIds": [found["resources"]["autoScalingGroups"][0]["name"]],
        }
    ]
    assert home.read_group(mine, well)["status"] == "ACTIVE"
    with refused("ResourceInUseException"):
        home.eks.update_nodegroup_config(clusterName=mine, nodegroupName=failed, scalingConfig={"maxSize": 5})
    home.eks.delete_nodegroup(clusterName=mine, nodegroupName=failed)
    assert home.eks.list_nodegroups(clusterName=mine)["nodegroups"] == [well]


def test_a_group_that_is_stuck_can_be_removed(home: Account, mine: str) -> None:
    home.aws.set_faults(StuckRule(operation="eks:CreateNodegroup"))
    name = home.group(mine)
    assert home.read_group(mine, name)["status"] == "CREATING"
    home.eks.delete_nodegroup(clusterName=mine, nodegroupName=name)
    assert home.eks.list_nodegroups(clusterName=mine)["nodegroups"] == []


def test_a_group_that_could_not_be_removed_can_be_removed_again(home: Account, mine: str) -> None:
    name = home.group(mine)
    issue = Issue(code="Ec2SecurityGroupDeletionFailure", message="a dependent object")
    home.aws.set_faults(FailedRule(operation="eks:DeleteNodegroup", times=1, issues=(issue,)))
    for _ in range(2):
        home.eks.delete_nodegroup(clusterName=mine, nodegroupName=name)
        left = home.eks.list_nodegroups(clusterName=mine)["nodegroups"]
        assert not left or home.read_group(mine, name)["status"] == "DELETE_FAILED"
    assert left == []


def test_the_auto_scaling_group_goes_with_the_node_group(home: Account, mine: str) -> None:
    home.aws.set_scale(0.008)
    home.wait(mine)
    name = home.group(mine)
    own = scaling_group(home, mine, name)["AutoScalingGroupName"]
    autoscaling = home.aws.api("autoscaling")
    home.eks.delete_nodegroup(clusterName=mine, nodegroupName=name)
    assert home.read_group(mine, name)["status"] == "DELETING"
    assert eventually(lambda: not home.eks.list_nodegroups(clusterName=mine)["nodegroups"])
    assert not autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[own])["AutoScalingGroups"]


def test_a_group_that_is_removed_while_it_is_made_does_not_come_back(home: Account, mine: str) -> None:
    home.aws.set_scale(0.008)
    name = home.group(mine)
    home.eks.delete_nodegroup(clusterName=mine, nodegroupName=name)
    seen = set()

    def is_gone() -> bool:
        try:
            seen.add(home.read_group(mine, name)["status"])
        except home.eks.exceptions.ResourceNotFoundException:
            return True
        return False

    assert eventually(is_gone)
    assert seen == {"DELETING"}


def test_a_group_without_its_auto_scaling_group_is_degraded_and_can_be_removed(home: Account, mine: str) -> None:
    name = home.group(mine)
    own = scaling_group(home, mine, name)["AutoScalingGroupName"]
    home.aws.api("autoscaling").delete_auto_scaling_group(AutoScalingGroupName=own, ForceDelete=True)
    found = home.read_group(mine, name)
    assert found["status"] == "DEGRADED"
    assert found["health"]["issues"][0]["code"] == "AutoScalingGroupNotFound"
    with refused("ResourceInUseException"):
        home.eks.update_nodegroup_config(clusterName=mine, nodegroupName=name, scalingConfig={"maxSize": 5})
    home.eks.delete_nodegroup(clusterName=mine, nodegroupName=name)
    assert home.eks.list_nodegroups(clusterName=mine)["nodegroups"] == []


def test_eks_lets_the_nodes_of_a_group_in_and_out_again(home: Account, mine: str) -> None:
    own_role = role(home.aws, "ec2.amazonaws.com")
    groups = [home.group(mine, nodeRole=own_role) for _ in range(2)]
    entry = home.eks.describe_access_entry(clusterName=mine, principalArn=own_role)["accessEntry"]
    assert (entry["type"], entry["kubernetesGroups"]) == ("EC2_LINUX", ["system:nodes"])
    for group, left in zip(groups, ([own_role], []), strict=True):
        home.eks.delete_nodegroup(clusterName=mine, nodegroupName=group)
        assert home.eks.list_access_entries(clusterName=mine)["accessEntries"] == left


def test_a_placement_group_is_in_the_zone_of_its_machines_and_stays_while_there_are_any(
    home: Account, mine: str
) -> None:
    ec2, near = home.aws.api("ec2"), unique("near")
    ec2.create_placement_group(GroupName=near, Strategy="cluster")
    template = {"id": home.template(Placement={"GroupName": near})}
    one = home.group(mine, launchTemplate=template, subnets=[home.subnets[0]])
    assert scaling_group(home, mine, one)["PlacementGroup"] == near
    with refused("InvalidRequestException") as caught:
        home.group(mine, launchTemplate=template, subnets=[home.subnets[1]])
    assert "must be launched in the eu-west-1a Availability Zone" in str(caught.value)
    with refused("InvalidPlacementGroup.InUse"):
        ec2.delete_placement_group(GroupName=near)
    home.eks.delete_nodegroup(clusterName=mine, nodegroupName=one)
    assert eventually(lambda: one not in home.eks.list_nodegroups(clusterName=mine)["nodegroups"])
    ec2.delete_placement_group(GroupName=near)
    with refused("InvalidPlacementGroup.Unknown"):
        home.group(mine, launchTemplate=template)


def test_a_group_gets_its_adapters_and_leaves_its_placement_group_with_its_template(home: Account, mine: str) -> None:
    ec2, near = home.aws.api("ec2"), unique("near")
    ec2.create_placement_group(GroupName=near, Strategy="cluster")
    own = home.eks.describe_cluster(name=mine)["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"]
    interfaces = [
        {"NetworkCardIndex": card, "DeviceIndex": 0, "InterfaceType": kind, "Groups": [own]}
        for card, kind in enumerate(("efa", "efa-only", "efa-only", "efa-only"))
    ]
    template = home.template(Placement={"GroupName": near}, NetworkInterfaces=interfaces)
    machines = {"instanceTypes": ["p4d.24xlarge"], "amiType": "AL2023_x86_64_NVIDIA", "subnets": [home.subnets[0]]}
    name = home.group(mine, launchTemplate={"id": template}, **machines)
    with refused("InvalidParameterException"):
        home.group(mine, launchTemplate={"id": template}, **{**machines, "instanceTypes": ["g5.2xlarge"]})
    ec2.create_launch_template_version(
        LaunchTemplateId=template, LaunchTemplateData={"NetworkInterfaces": interfaces[:1]}
    )
    home.eks.update_nodegroup_version(
        clusterName=mine, nodegroupName=name, launchTemplate={"id": template, "version": "2"}
    )
    assert eventually(lambda: home.read_group(mine, name)["status"] == "ACTIVE")
    assert "PlacementGroup" not in scaling_group(home, mine, name)
