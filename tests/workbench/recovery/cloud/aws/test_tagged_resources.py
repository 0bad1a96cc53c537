from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest

from components.contract.aws import BACKUP_NAME_MAX, ROLE_NAME_MAX
from components.contract.names import automatic
from emulators.aws.client import Emulator, running
from support.aws_cloud_resources import BACKUP, MORE, NEAR, account_at, build_in_aws
from support.cloud_state import Resource
from workbench.recovery.cloud.aws.account import AwsAccount
from workbench.recovery.cloud.aws.tagged_resources import tagged_resources
from workbench.recovery.cloud.cloud_resource import CloudResource

UNTAGGED = {
    "aws:autoscaling/tag:Tag",
    "aws:backup/selection:Selection",
    "aws:backup/vaultLockConfiguration:VaultLockConfiguration",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:ec2/route:Route",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
    "aws:efs/backupPolicy:BackupPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:efs/mountTarget:MountTarget",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:kms/alias:Alias",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
}
"""They come and go with what they are a part of."""


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def patch(emulator: Emulator) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as found:
        yield found


@pytest.fixture(scope="module")
def account(emulator: Emulator, patch: pytest.MonkeyPatch) -> AwsAccount:
    return account_at(emulator, patch)


@pytest.fixture(scope="module")
def made(account: AwsAccount) -> list[Resource]:
    return build_in_aws({"environment": "prod", "cluster.publicAccessCidrs": None, **MORE, **BACKUP, **NEAR})


@pytest.fixture(scope="module")
def resources(account: AwsAccount, made: list[Resource]) -> list[CloudResource]:
    return tagged_resources(account)


def test_everything_that_carries_the_tag_is_listed_and_nothing_else(
    made: list[Resource], resources: list[CloudResource]
) -> None:
    listed = {(resource.type, resource.id) for resource in resources if not resource.is_byproduct}
    assert listed == {(each.type, each.id) for each in made if each.type not in UNTAGGED}


def test_nothing_is_listed_twice(resources: list[CloudResource]) -> None:
    assert len({(resource.type, resource.id) for resource in resources}) == len(resources)


def test_another_stack_has_nothing_of_this_one(account: AwsAccount, made: list[Resource]) -> None:
    assert tagged_resources(replace(account, stack="another", cluster="another")) == []
    assert tagged_resources(replace(account, session=boto3.Session(region_name="us-east-1"))) == []


def test_what_a_stack_with_a_long_name_made_is_found_by_how_its_names_begin(account: AwsAccount) -> None:
    mine = replace(account, stack="a-team-with-a-long-name-in-a-region-far-away", cluster="far")
    role, vault = (
        f"{automatic(f'{mine.stack}-addons-aws-ebs-csi-driver', limit)}-0a1b2c3"
        for limit in (ROLE_NAME_MAX, BACKUP_NAME_MAX)
    )
    tags = [{"Key": key, "Value": value} for key, value in mine.tags.items()]
    boto3.client("iam").create_role(RoleName=role, AssumeRolePolicyDocument="{}", Tags=tags)
    boto3.client("backup").create_backup_vault(BackupVaultName=vault, BackupVaultTags=mine.tags)
    assert {each.id for each in tagged_resources(mine)} == {role, vault}


def test_what_cannot_be_had_back_is_marked(resources: list[CloudResource]) -> None:
    kinds = {resource.type for resource in resources if resource.holds_data and not resource.is_byproduct}
    assert kinds == {
        "aws:backup/vault:Vault",
        "aws:cloudwatch/logGroup:LogGroup",
        "aws:efs/fileSystem:FileSystem",
        "aws:eks/nodeGroup:NodeGroup",
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "aws:kms/key:Key",
    }
    groups = {resource.id for resource in resources if resource.holds_data and "NodeGroup" in resource.type}
    assert groups
    assert all("data" in name for name in groups)


def test_what_a_destroy_keeps_says_why(resources: list[CloudResource]) -> None:
    kept = [resource for resource in resources if resource.kept]
    assert [resource.type for resource in kept] == ["aws:backup/vault:Vault", "aws:iam/role:Role"]
    vault, role = (resource.removal.splitlines() for resource in kept)
    assert vault[0].endswith(": is empty")
    assert role[0].endswith(": AWS Backup deletes expired backups with it; delete it after the vaults")
    assert vault[1].startswith("  aws backup delete-backup-vault --backup-vault-name ")
    detach, _, delete = role[1].partition(" && ")
    assert "/AWSBackupServiceRolePolicyForBackup " in detach
    assert delete.startswith("aws iam delete-role --role-name ")


def test_each_thing_comes_with_the_commands_that_show_and_delete_it(resources: list[CloudResource]) -> None:
    said = {resource.type: (resource.look, resource.delete) for resource in resources}
    subnet = next(resource.id for resource in resources if resource.type == "aws:ec2/subnet:Subnet")
    looks = [resource.look for resource in resources]
    assert f"aws ec2 describe-subnets --subnet-ids {subnet} --region eu-west-1" in looks
    assert said["aws:eks/cluster:Cluster"] == (
        "aws eks describe-cluster --name research --region eu-west-1",
        "aws eks delete-cluster --name research --region eu-west-1",
    )


def test_every_command_is_one_that_aws_has(resources: list[CloudResource]) -> None:
    for description in (command.split() for resource in resources for command in (resource.look, resource.delete)):
        client = boto3.client(description[1], region_name="eu-west-1")
        operation = description[2].replace("-", "_")
        shape = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[operation]).input_shape
        options = {word.removeprefix("--").replace("-", "").lower() for word in description if word.startswith("--")}
        assert options - {"region"} <= {member.lower() for member in shape.members}, description


def test_what_controllers_made_is_listed_by_the_clusters_name(account: AwsAccount, made: list[Resource]) -> None:
    owned = [{"Key": "kubernetes.io/cluster/research", "Value": "owned"}]
    volume = boto3.client("ec2").create_volume(
        AvailabilityZone="eu-west-1a", Size=1, TagSpecifications=[{"ResourceType": "volume", "Tags": owned}]
    )["VolumeId"]
    subnets = [each.id for each in made if each.type == "aws:ec2/subnet:Subnet"]
    by_aws = [{"Key": "elbv2.k8s.aws/cluster", "Value": "research"}]
    arns = [
        boto3.client("elbv2").create_load_balancer(Name=name, Subnets=subnets[:2], Tags=tags)["LoadBalancers"][0][
            "LoadBalancerArn"
        ]
        for name, tags in (("svc", owned), ("ingress", by_aws), ("strange", [{**by_aws[0], "Value": "another"}]))
    ]
    found = {resource.id: resource for resource in tagged_resources(account) if resource.is_byproduct}
    assert found[volume].holds_data
    assert arns[2] not in found
    for arn in arns[:2]:
        assert found[arn].delete == f"aws elbv2 delete-load-balancer --load-balancer-arn {arn} --region eu-west-1"


def test_what_is_left_of_load_balancers_is_listed_and_what_eks_takes_along_is_not(
    account: AwsAccount, made: list[Resource]
) -> None:
    ec2, by_name = boto3.client("ec2"), {"Key": "elbv2.k8s.aws/cluster", "Value": "research"}
    vpc = next(each.id for each in made if each.type == "aws:ec2/vpc:Vpc")
    owned = {"Key": "kubernetes.io/cluster/research", "Value": "owned"}
    groups = [
        ec2.create_security_group(
            GroupName=name,
            Description=name,
            VpcId=vpc,
            TagSpecifications=[{"ResourceType": "security-group", "Tags": [tag]}],
        )["GroupId"]
        for name, tag in (
            ("k8s-traffic", by_name),
            ("k8s-elb-a1b2", owned),
            ("k8s-other", {**by_name, "Value": "another"}),
        )
    ]
    target = boto3.client("elbv2").create_target_group(
        Name="k8s-mlrun", Protocol="TCP", Port=80, VpcId=vpc, TargetType="ip", Tags=[by_name]
    )["TargetGroups"][0]["TargetGroupArn"]
    found = {resource.id: resource for resource in tagged_resources(account) if resource.is_byproduct}
    assert {each for each in groups if each in found} == set(groups[:2])
    assert found[groups[0]].description == f"security group {groups[0]} 'k8s-traffic'"
    assert found[groups[0]].delete == f"aws ec2 delete-security-group --group-id {groups[0]} --region eu-west-1"
    assert found[target].delete == f"aws elbv2 delete-target-group --target-group-arn {target} --region eu-west-1"
    of_eks = [{"Name": "tag:aws:eks:cluster-name", "Values": ["research"]}]
    (cluster,) = ec2.describe_security_groups(Filters=of_eks)["SecurityGroups"]
    assert cluster["GroupId"] not in found


def test_a_deleted_gateway_that_aws_still_shows_is_not_left(account: AwsAccount, made: list[Resource]) -> None:
    gateway = next(each.id for each in made if each.type == "aws:ec2/natGateway:NatGateway")
    boto3.client("ec2").delete_nat_gateway(NatGatewayId=gateway)
    assert gateway not in {resource.id for resource in tagged_resources(account)}
