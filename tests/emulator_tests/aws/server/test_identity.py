"""Roles, policies and keys: made, read, their tags changed, deleted, as the provider does it."""

import json

import pytest

from components.clusters.eks.identity import CLUSTER_POLICIES, CNI_POLICIES, EBS_POLICIES, NODE_POLICIES
from emulators.aws.client import Emulator
from support.aws import exists, refused

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}],
    }
)
POLICY = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": "*"}]}
)
MANAGED = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"


def test_role_its_policy_and_its_attachment(aws: Emulator) -> None:
    iam = aws.api("iam")
    role = iam.create_role(RoleName="of-test", AssumeRolePolicyDocument=TRUST, Tags=[{"Key": "team", "Value": "a"}])[
        "Role"
    ]
    assert role["Arn"] == "arn:aws:iam::111122223333:role/of-test"
    with refused("EntityAlreadyExists"):
        iam.create_role(RoleName="of-test", AssumeRolePolicyDocument=TRUST)
    iam.tag_role(RoleName="of-test", Tags=[{"Key": "team", "Value": "b"}, {"Key": "more", "Value": "c"}])
    iam.untag_role(RoleName="of-test", TagKeys=["more"])
    assert iam.list_role_tags(RoleName="of-test")["Tags"] == [{"Key": "team", "Value": "b"}]
    assert iam.get_role(RoleName="of-test")["Role"]["AssumeRolePolicyDocument"] == json.loads(TRUST)
    iam.update_assume_role_policy(RoleName="of-test", PolicyDocument=TRUST)
    iam.update_role(RoleName="of-test", Description="d", MaxSessionDuration=7200)
    iam.put_role_policy(RoleName="of-test", PolicyName="own", PolicyDocument=POLICY)
    assert iam.get_role_policy(RoleName="of-test", PolicyName="own")["PolicyDocument"] == json.loads(POLICY)
    iam.attach_role_policy(RoleName="of-test", PolicyArn=MANAGED)
    attached = iam.list_attached_role_policies(RoleName="of-test")["AttachedPolicies"]
    assert [policy["PolicyArn"] for policy in attached] == [MANAGED]
    assert exists(aws, "aws:iam/rolePolicy:RolePolicy", "of-test:own")
    assert exists(aws, "aws:iam/rolePolicyAttachment:RolePolicyAttachment", f"of-test/{MANAGED}")
    with refused("DeleteConflict"):
        iam.delete_role(RoleName="of-test")
    iam.detach_role_policy(RoleName="of-test", PolicyArn=MANAGED)
    with refused("NoSuchEntity"):
        iam.detach_role_policy(RoleName="of-test", PolicyArn=MANAGED)
    with refused("DeleteConflict"):
        iam.delete_role(RoleName="of-test")
    iam.delete_role_policy(RoleName="of-test", PolicyName="own")
    iam.delete_role(RoleName="of-test")
    with refused("NoSuchEntity"):
        iam.get_role(RoleName="of-test")


@pytest.mark.parametrize("policy", ["NoSuchPolicy", "AmazonEKSNoSuchPolicy"])
def test_a_managed_policy_that_aws_does_not_have_is_not_attached(aws: Emulator, policy: str) -> None:
    iam = aws.api("iam")
    iam.create_role(RoleName=f"with-{policy}", AssumeRolePolicyDocument=TRUST)
    with refused("NoSuchEntity"):
        iam.attach_role_policy(RoleName=f"with-{policy}", PolicyArn=f"arn:aws:iam::aws:policy/{policy}")


def test_key_and_alias(aws: Emulator) -> None:
    kms = aws.api("kms")
    key = kms.create_key(Description="d", Tags=[{"TagKey": "team", "TagValue": "a"}])["KeyMetadata"]["KeyId"]
    kms.enable_key_rotation(KeyId=key, RotationPeriodInDays=180)
    rotation = kms.get_key_rotation_status(KeyId=key)
    assert (rotation["KeyRotationEnabled"], rotation["RotationPeriodInDays"]) == (True, 180)
    kms.tag_resource(KeyId=key, Tags=[{"TagKey": "team", "TagValue": "b"}, {"TagKey": "more", "TagValue": "c"}])
    kms.untag_resource(KeyId=key, TagKeys=["more"])
    assert kms.list_resource_tags(KeyId=key)["Tags"] == [{"TagKey": "team", "TagValue": "b"}]
    assert json.loads(kms.get_key_policy(KeyId=key, PolicyName="default")["Policy"])["Statement"]
    alias = "alias/eks/of-test"
    kms.create_alias(AliasName=alias, TargetKeyId=key)
    with refused("AlreadyExistsException"):
        kms.create_alias(AliasName=alias, TargetKeyId=key)
    assert [each["AliasName"] for each in kms.list_aliases(KeyId=key)["Aliases"]] == [alias]
    assert exists(aws, "aws:kms/alias:Alias", alias)
    kms.delete_alias(AliasName=alias)
    with refused("NotFoundException"):
        kms.delete_alias(AliasName=alias)
    kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=30)
    assert kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "PendingDeletion"
    assert not exists(aws, "aws:kms/key:Key", key)
    with refused("KMSInvalidStateException"):
        kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=30)
    with refused("KMSInvalidStateException"):
        kms.create_alias(AliasName=alias, TargetKeyId=key)


@pytest.mark.parametrize("policy", [*CLUSTER_POLICIES, *NODE_POLICIES, *CNI_POLICIES, *EBS_POLICIES])
def test_aws_has_each_managed_policy_that_we_attach(aws: Emulator, policy: str) -> None:
    arn = f"arn:aws:iam::aws:policy/{policy}"
    assert aws.api("iam").get_policy(PolicyArn=arn)["Policy"]["Arn"] == arn
