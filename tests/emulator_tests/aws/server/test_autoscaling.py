"""In this process: no request of AWS's makes a group as EKS does. What boto3 sees of it is tested with EKS."""

from collections.abc import Iterator

import pytest

from emulators.aws.server import autoscaling, store
from emulators.aws.server.autoscaling import GroupArgs, Size
from emulators.aws.server.inventory import inventory

NAME = "eks-gpu-1"


@pytest.fixture
def group() -> Iterator[str]:
    ec2 = store.ec2()
    vpc = ec2.create_vpc("10.0.0.0/16")
    subnets = [ec2.create_subnet(vpc.id, f"10.0.{n}.0/24", availability_zone=f"eu-west-1{'ab'[n]}") for n in range(2)]
    tags = {"eks:cluster-name": "dev", "eks:nodegroup-name": "gpu"}
    autoscaling.make(GroupArgs(NAME, Size(1, 5, 2), [subnet.id for subnet in subnets], "m6i.large", tags))
    yield NAME
    autoscaling.delete(NAME)
    for subnet in subnets:
        ec2.delete_subnet(subnet.id)
    ec2.delete_vpc(vpc.id)


def test_a_group_has_its_size_its_tags_and_its_instances(group: str) -> None:
    assert autoscaling.size_of(group) == Size(1, 5, 2)
    assert len(autoscaling.instances(group)) == 2
    found = store.autoscaling().describe_auto_scaling_groups([group])[0]
    assert {tag["Key"]: tag["Value"] for tag in found.tags} == {
        "eks:cluster-name": "dev",
        "eks:nodegroup-name": "gpu",
    }
    assert sorted(found.availability_zones) == ["eu-west-1a", "eu-west-1b"]


def test_instances_come_and_go_with_the_size(group: str) -> None:
    for desired in (5, 1, 0, 3):
        autoscaling.resize(group, Size(0, 5, desired))
        assert autoscaling.size_of(group).desired == len(autoscaling.instances(group)) == desired
        assert len(inventory().get("AWS::EC2::Instance", [])) == desired
        assert len(inventory().get("AWS::EC2::NetworkInterface", [])) == desired


def test_a_group_that_is_deleted_leaves_nothing(group: str) -> None:
    assert inventory()["AWS::AutoScaling::AutoScalingGroup"] == [group]
    autoscaling.delete(group)
    assert [type_ for type_ in inventory() if type_.startswith("AWS::")] == []
    autoscaling.delete(group)


def test_a_group_that_is_not_there_is_named_with_those_that_are(group: str) -> None:
    with pytest.raises(LookupError, match=f"no Auto Scaling group eks-gone; there are: {group}"):
        autoscaling.size_of("eks-gone")
