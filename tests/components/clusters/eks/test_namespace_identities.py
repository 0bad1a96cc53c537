"""A namespace's jobs read their bucket and nothing else: by moto's IAM, and conditions by IAM's documented logic."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws, settings

from support.eks import ACCOUNT, build
from support.iam_conditions import allows, trusts
from support.recorder import Recorder

ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
CLUSTER = f"arn:aws:eks:eu-west-1:{ACCOUNT}:cluster/research"
KEY = f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"
REPOSITORY = f"arn:aws:ecr:eu-west-1:{ACCOUNT}:repository"

VISION: dict[str, Any] = {
    "buckets": [{"bucket": "ml-data", "prefix": "vision/", "access": "write"}, {"bucket": "corpus"}],
    "repositories": [{"repository": "vision/*", "access": "write"}, {"repository": "base/cuda"}],
    "keys": [KEY],
    "accounts": ["sparkapp"],
}
SPEECH: dict[str, Any] = {"buckets": [{"bucket": "speech", "prefix": "raw/"}], "keys": [KEY]}
NAMESPACES = {"mlrun": {"coreServices": True}, "vision": {"identity": VISION}, "speech": {"identity": SPEECH}}


@cache
def stack() -> Recorder:
    return build({"namespaces": NAMESPACES})


def policy(namespace: str) -> str:
    text: str = stack().of_type("aws:iam/rolePolicy:RolePolicy")[f"test-jobs-{namespace}"]["policy"]
    return text


def trust(namespace: str) -> str:
    text: str = stack().of_type("aws:iam/role:Role")[f"test-jobs-{namespace}"]["assumeRolePolicy"]
    return text


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """S3 as a job of the namespace vision has it, with two buckets of an owner."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "owner")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "owner")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        owner = boto3.client("s3", region_name="us-east-1")
        for bucket in ("ml-data", "speech"):
            owner.create_bucket(Bucket=bucket)
            for name in ("vision/a", "vision-secret/a", "raw/a"):
                owner.put_object(Bucket=bucket, Key=name, Body=b"text")
        iam = boto3.client("iam", region_name="us-east-1")
        role = iam.create_role(RoleName="jobs-vision", AssumeRolePolicyDocument=trust("vision"))["Role"]["Arn"]
        iam.put_role_policy(RoleName="jobs-vision", PolicyName="jobs", PolicyDocument=policy("vision"))
        given = boto3.client("sts", region_name="us-east-1").assume_role(RoleArn=role, RoleSessionName="job")
        # From here on moto asks its IAM.
        monkeypatch.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
        yield boto3.client(
            "s3",
            region_name="us-east-1",
            aws_access_key_id=given["Credentials"]["AccessKeyId"],
            aws_secret_access_key=given["Credentials"]["SecretAccessKey"],
            aws_session_token=given["Credentials"]["SessionToken"],
        )


def test_a_job_uses_its_bucket_and_is_refused_another_one(s3: Any) -> None:
    assert s3.get_object(Bucket="ml-data", Key="vision/a")["Body"].read() == b"text"
    s3.put_object(Bucket="ml-data", Key="vision/b", Body=b"more")
    s3.delete_object(Bucket="ml-data", Key="vision/b")
    for bucket, name in (("speech", "raw/a"), ("ml-data", "raw/a"), ("ml-data", "vision-secret/a")):
        with pytest.raises(ClientError, match="AccessDenied"):
            s3.get_object(Bucket=bucket, Key=name)
        with pytest.raises(ClientError, match="AccessDenied"):
            s3.put_object(Bucket=bucket, Key=name, Body=b"mine")


LISTED = [
    ("ml-data", "vision/", True),
    ("ml-data", "vision/2026/", True),
    ("ml-data", "", False),
    ("ml-data", "vision", False),
    ("ml-data", "vision-secret/", False),
    ("ml-data", "VISION/", False),
    ("ml-data", None, False),
    ("corpus", None, True),
    ("corpus", "any/", True),
    ("speech", "raw/", False),
]


@pytest.mark.parametrize(("bucket", "prefix", "is_allowed"), LISTED)
def test_a_bucket_is_listed_below_its_prefixes_only(bucket: str, prefix: str | None, is_allowed: bool) -> None:
    context = {} if prefix is None else {"s3:prefix": prefix}
    assert allows(policy("vision"), "s3:ListBucket", f"arn:aws:s3:::{bucket}", context) is is_allowed


USED = [
    ("s3:GetObject", "arn:aws:s3:::corpus/any", True),
    ("s3:PutObject", "arn:aws:s3:::corpus/any", False),
    ("s3:DeleteObject", "arn:aws:s3:::ml-data/vision/a", True),
    ("s3:GetObject", "arn:aws:s3:::ml-data/vision", False),
    ("s3:DeleteBucket", "arn:aws:s3:::ml-data", False),
    ("s3:PutBucketPolicy", "arn:aws:s3:::ml-data", False),
    ("s3:PutObjectAcl", "arn:aws:s3:::ml-data/vision/a", False),
    ("ecr:BatchGetImage", f"{REPOSITORY}/vision/train", True),
    ("ecr:PutImage", f"{REPOSITORY}/vision/train", True),
    ("ecr:PutImage", f"{REPOSITORY}/base/cuda", False),
    ("ecr:BatchGetImage", f"{REPOSITORY}/base/cuda", True),
    ("ecr:BatchGetImage", f"{REPOSITORY}/base/cuda-secret", False),
    ("ecr:BatchGetImage", f"{REPOSITORY}/visions/train", False),
    ("ecr:GetAuthorizationToken", "*", True),
    ("ecr:DeleteRepository", f"{REPOSITORY}/vision/train", False),
    ("kms:Decrypt", KEY, False),
    ("sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/deployer", False),
]


@pytest.mark.parametrize(("action", "resource", "is_allowed"), USED)
def test_a_job_does_only_what_its_namespace_names(action: str, resource: str, is_allowed: bool) -> None:
    assert allows(policy("vision"), action, resource) is is_allowed


def test_keys_are_used_through_s3_only_and_encrypt_only_for_writers() -> None:
    through_s3 = {"kms:ViaService": "s3.eu-west-1.amazonaws.com"}
    for namespace, writes in (("vision", True), ("speech", False)):
        assert allows(policy(namespace), "kms:Decrypt", KEY, through_s3)
        assert allows(policy(namespace), "kms:GenerateDataKey", KEY, through_s3) is writes
        assert not allows(policy(namespace), "kms:Decrypt", KEY, {"kms:ViaService": "ebs.eu-west-1.amazonaws.com"})
        assert not allows(policy(namespace), "kms:Decrypt", KEY.replace("1111", "9999"), through_s3)


def test_only_the_accounts_of_the_namespace_in_this_cluster_get_the_role() -> None:
    def is_trusted(**changes: str) -> bool:
        tags = {"eks-cluster-arn": CLUSTER, "kubernetes-namespace": "vision", "kubernetes-service-account": "igz-jobs"}
        context = {f"aws:RequestTag/{key}": value for key, value in {**tags, **changes}.items()}
        return trusts(trust("vision"), "pods.eks.amazonaws.com", "sts:AssumeRole", context)

    assert is_trusted()
    assert is_trusted(**{"kubernetes-service-account": "sparkapp"})
    assert not is_trusted(**{"kubernetes-service-account": "default"})
    assert not is_trusted(**{"kubernetes-namespace": "speech"})
    assert not is_trusted(**{"eks-cluster-arn": CLUSTER.replace("research", "other")})
    assert not trusts(trust("vision"), "ec2.amazonaws.com", "sts:AssumeRole", {})


def test_each_account_has_an_association_and_exists_only_after_it() -> None:
    pairs = {(each["namespace"], each["serviceAccount"]) for each in stack().of_type(ASSOCIATION).values()}
    assert pairs >= {("vision", "igz-jobs"), ("vision", "sparkapp"), ("speech", "igz-jobs")}
    accounts = stack().of_type(SERVICE_ACCOUNT)
    assert {name for name in accounts if not name.startswith("test-")} >= {"vision.igz-jobs", "vision.sparkapp"}
    for account in ("igz-jobs", "sparkapp"):
        needed = stack().needs((SERVICE_ACCOUNT, f"vision.{account}"))
        assert needed >= {(ASSOCIATION, "test-jobs-vision.igz-jobs"), (ASSOCIATION, "test-jobs-vision.sparkapp")}
    # Jobs need no token of the API; what a driver of Spark needs, its chart's role says.
    assert accounts["vision.igz-jobs"]["automountServiceAccountToken"] is False
    assert "automountServiceAccountToken" not in accounts["vision.sparkapp"]


def test_namespaces_and_accounts_that_read_alike_with_a_dash_have_different_names() -> None:
    buckets = [{"bucket": "ml-data"}]
    alike = {"ml": {"buckets": buckets, "accounts": ["prod-x"]}, "ml-prod": {"buckets": buckets, "accounts": ["x"]}}
    recorder = build({"namespaces": {name: {"identity": identity} for name, identity in alike.items()}})
    for type_ in (ASSOCIATION, SERVICE_ACCOUNT):
        names = [each.name for each in recorder.resources if each.type == type_]
        assert sorted(set(names)) == sorted(names)
        assert len([name for name in names if name.endswith(("ml.prod-x", "ml-prod.x"))]) == 2


def test_only_pods_of_these_namespaces_reach_the_clouds_apis() -> None:
    policies = {name for name in stack().of_type(NETWORK_POLICY) if name.endswith("-allow-cloud-apis")}
    assert policies == {"vision-allow-cloud-apis", "speech-allow-cloud-apis"}
    [rule] = stack().of_type(NETWORK_POLICY)["vision-allow-cloud-apis"]["spec"]["egress"]
    [block] = [each["ipBlock"] for each in rule["to"]]
    assert "10.0.0.0/8" in block["except"]
    assert "169.254.0.0/16" in block["except"]


def test_a_boundary_is_on_the_roles_too() -> None:
    boundary = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
    recorder = build({"namespaces": NAMESPACES, "cluster.permissionsBoundaryArn": boundary})
    assert recorder.of_type("aws:iam/role:Role")["test-jobs-vision"]["permissionsBoundary"] == boundary


def test_functions_of_mlrun_get_the_account_by_default() -> None:
    identity = {"buckets": [{"bucket": "ml-data"}]}
    recorder = build({"namespaces": {"mlrun": {"coreServices": True, "identity": identity}}})
    [settings] = recorder.of_type("kubernetes:core/v1:ConfigMap").values()
    assert settings["data"]["MLRUN_FUNCTION__SPEC__SERVICE_ACCOUNT__DEFAULT"] == "igz-jobs"


@pytest.mark.parametrize("element", [{"NotAction": "s3:*"}, {"Condition": {"ArnLike": {"aws:SourceArn": "*"}}}])
def test_what_the_evaluation_does_not_know_is_no_verdict(element: dict[str, Any]) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*", **element}
    with pytest.raises(NotImplementedError):
        allows(json.dumps({"Statement": [statement]}), "s3:GetObject", "arn:aws:s3:::any/a")


def test_a_denial_wins() -> None:
    statements = [{"Effect": effect, "Action": "s3:*", "Resource": "*"} for effect in ("Allow", "Deny")]
    assert allows(json.dumps({"Statement": statements[:1]}), "s3:GetObject", "arn:aws:s3:::any/a")
    assert not allows(json.dumps({"Statement": statements}), "s3:GetObject", "arn:aws:s3:::any/a")
