import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError

from emulators.aws.client import Emulator
from emulators.core.client import EmulatorError
from emulators.core.faults import NotYetVisibleRule
from support.aws import refused
from support.eks_account import Account, account

TRUST = '{"Version": "2012-10-17", "Statement": []}'


@pytest.fixture(scope="module")
def home(shared_aws: Emulator) -> Account:
    return account(shared_aws)


def auto_scaling_group(home: Account) -> str:
    cluster = home.cluster()
    found = home.read_group(cluster, home.group(cluster))
    return str(found["resources"]["autoScalingGroups"][0]["name"])


def test_tags_that_come_at_once_are_all_kept(aws: Emulator, home: Account) -> None:
    group = auto_scaling_group(home)
    before = set(own_tags(aws, group))

    def tag(number: int) -> None:
        tag = {"ResourceId": group, "ResourceType": "auto-scaling-group", "Key": f"k{number}", "Value": "v"}
        aws.api("autoscaling").create_or_update_tags(Tags=[{**tag, "PropagateAtLaunch": False}])

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(tag, range(60)))
    assert {tag["Key"] for tag in aws.api("autoscaling").describe_tags()["Tags"] if tag["ResourceId"] == group} >= {
        f"k{number}" for number in range(60)
    }
    assert set(own_tags(aws, group)) - before == {f"{group},k{number}" for number in range(60)}


def own_tags(aws: Emulator, group: str) -> list[str]:
    """Return the tags that a program made."""
    return [tag for tag in aws.inventory().get("aws:autoscaling/tag:Tag", []) if tag.startswith(f"{group},")]


def test_tags_that_eks_made_are_not_the_programs(aws: Emulator, home: Account) -> None:
    group = auto_scaling_group(home)
    assert own_tags(aws, group) == []
    tags = aws.api("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group])["AutoScalingGroups"][0][
        "Tags"
    ]
    assert "eks:cluster-name" in {tag["Key"] for tag in tags}


def test_the_autoscaler_moves_a_group_inside_its_bounds(aws: Emulator, home: Account) -> None:
    group = auto_scaling_group(home)
    aws.move(group, 3)
    autoscaling = aws.api("autoscaling")
    found = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[group])["AutoScalingGroups"][0]
    assert (found["DesiredCapacity"], len(found["Instances"])) == (3, 3)
    with pytest.raises(EmulatorError, match="has 1 to 3 nodes, given 9"):
        aws.move(group, 9)


@pytest.mark.parametrize(("desired", "bound"), [(0, "below min value 1"), (4, "above max value 3")])
def test_a_group_cannot_be_moved_beyond_its_bounds(aws: Emulator, home: Account, desired: int, bound: str) -> None:
    autoscaling, group = aws.api("autoscaling"), auto_scaling_group(home)
    with pytest.raises(ClientError, match=f"ValidationError.* New SetDesiredCapacity value {desired} is {bound} "):
        autoscaling.set_desired_capacity(AutoScalingGroupName=group, DesiredCapacity=desired)
    autoscaling.set_desired_capacity(AutoScalingGroupName=group, DesiredCapacity=1)
    with refused("ValidationError"):
        autoscaling.set_desired_capacity(AutoScalingGroupName="eks-gone", DesiredCapacity=1)


def test_a_new_role_is_seen_after_so_many_calls(aws: Emulator, home: Account) -> None:
    iam = aws.api("iam")
    trust = iam.get_role(RoleName=home.cluster_role.rpartition("/")[2])["Role"]["AssumeRolePolicyDocument"]
    arn = iam.create_role(RoleName="young", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    aws.set_faults(NotYetVisibleRule(operation="eks:Create*", calls=2))
    wanted = home.cluster_args(roleArn=arn)
    with refused("InvalidParameterException"):
        home.eks.create_cluster(**wanted)
    iam.list_roles()
    assert home.eks.create_cluster(**wanted)["cluster"]["roleArn"] == arn


@pytest.mark.parametrize(
    ("operation", "params", "code", "named"),
    [
        ("ec2.create_subnet", {"VpcId": "v", "CidrBlock": "c", "AvailabilityZone": "z"}, "InvalidVpcID", "v"),
        ("ec2.create_vpc_endpoint", {"VpcId": "v", "VpcEndpointType": "Gate"}, "InvalidParameterValue", "Interface"),
        ("iam.create_role", {"RoleName": "a b", "AssumeRolePolicyDocument": TRUST}, "ValidationError", "RoleName"),
        ("kms.enable_key_rotation", {"KeyId": "k", "RotationPeriodInDays": 3000}, "ValidationException", "at most"),
        ("logs.create_log_group", {"logGroupName": "a b"}, "ValidationException", "logGroupName must match"),
        (
            "eks.associate_access_policy",
            {"clusterName": "c", "principalArn": "p", "policyArn": "q", "accessScope": {"type": "world"}},
            "InvalidParameterException",
            "accessScope.type must be one of cluster, namespace",
        ),
    ],
)
def test_what_the_model_does_not_allow_is_refused_in_the_services_own_words(
    aws: Emulator, operation: str, params: dict[str, object], code: str, named: str
) -> None:
    service, _, method = operation.partition(".")
    with pytest.raises(ClientError, match=code) as caught:
        getattr(aws.api(service, attempts=1), method)(**params)
    assert named in str(caught.value)


def test_an_operation_that_eks_does_not_have_here_is_told(aws: Emulator) -> None:
    with refused("NotImplemented"):
        aws.api("eks", attempts=1).list_eks_anywhere_subscriptions()
