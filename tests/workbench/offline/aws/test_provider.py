from typing import Any

import pytest
from pulumi.runtime.proto.provider_pb2 import PropertyDiff

from workbench.offline.aws.provider import OfflineAws
from workbench.offline.properties import UNKNOWN, Secret
from workbench.offline.provider import Changed

AWS = OfflineAws()
CLUSTER, GROUP = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


def compare(type_: str, old: dict[str, Any], new: dict[str, Any], *filled: str) -> Changed:
    return AWS.compare(type_, old, new, filled=frozenset(filled))


def check(type_: str, **inputs: Any) -> list[str]:
    checked = AWS.check(type_, "main", inputs, seed=b"seed", kept={})
    return [f"{problem.path}: {problem.reason}" for problem in checked.problems]


@pytest.mark.parametrize(
    ("type_", "old", "new", "changed", "replaces"),
    [
        (GROUP, {"labels": {"a": "1"}}, {"labels": {"a": "2"}}, ["labels"], []),
        (GROUP, {"instanceTypes": ["a", "b"]}, {"instanceTypes": ["b", "a"]}, ["instanceTypes[0]", "instanceTypes[1]"],
         ["instanceTypes[0]", "instanceTypes[1]"]),
        (GROUP, {"subnetIds": ["a", "b"]}, {"subnetIds": ["b", "a"]}, [], []),
        (GROUP, {"subnetIds": ["a"]}, {"subnetIds": ["a", "b"]}, ["subnetIds"], ["subnetIds"]),
        (GROUP, {"taints": []}, {}, [], []),
        (GROUP, {"launchTemplate": {"id": "a", "version": "1"}}, {"launchTemplate": {"id": "a", "version": "2"}},
         ["launchTemplate.version"], []),
        (GROUP, {"launchTemplate": {"id": "a"}}, {"launchTemplate": {"id": UNKNOWN}}, ["launchTemplate.id"],
         ["launchTemplate.id"]),
        (GROUP, {}, {"launchTemplate": {"id": "a", "version": "1"}}, ["launchTemplate", "launchTemplate.id"],
         ["launchTemplate.id"]),
        (GROUP, {"remoteAccess": {"ec2SshKey": "a"}}, {}, ["remoteAccess", "remoteAccess.ec2SshKey"],
         ["remoteAccess", "remoteAccess.ec2SshKey"]),
        (CLUSTER, {"outpostConfig": {"etcdInstanceType": "a"}}, {"outpostConfig": {"etcdInstanceType": "b"}},
         ["outpostConfig.etcdInstanceType"], []),
        ("aws:ec2/eip:Eip", {"ipamPoolId": "a"}, {"ipamPoolId": "b"}, ["ipamPoolId"], ["ipamPoolId"]),
        ("aws:ec2/subnet:Subnet", {"ipv4IpamPoolId": "a"}, {}, ["ipv4IpamPoolId"], ["ipv4IpamPoolId"]),
        ("aws:ec2/vpcEndpoint:VpcEndpoint", {"serviceRegion": "a"}, {"serviceRegion": "b"}, ["serviceRegion"],
         ["serviceRegion"]),
        (CLUSTER, {"encryptionConfig": {"resources": ["secrets"]}}, {}, ["encryptionConfig"], ["encryptionConfig"]),
        (CLUSTER, {}, {"encryptionConfig": {"resources": ["secrets"]}}, ["encryptionConfig"], []),
        (CLUSTER, {"vpcConfig": {}}, {"vpcConfig": {"controlPlaneEgressMode": "CUSTOMER_ROUTED"}},
         ["vpcConfig"], []),
        (CLUSTER, {"vpcConfig": {"controlPlaneEgressMode": "CUSTOMER_ROUTED"}},
         {"vpcConfig": {"controlPlaneEgressMode": "AWS_MANAGED"}}, ["vpcConfig.controlPlaneEgressMode"],
         ["vpcConfig.controlPlaneEgressMode"]),
        (CLUSTER, {"vpcConfig": {"subnetIds": ["a"]}}, {"vpcConfig": {"subnetIds": ["b"]}}, ["vpcConfig.subnetIds"],
         []),
        (RULE, {"cidrIpv4": "10.0.0.0/8"}, {"cidrIpv4": "10.0.0.0/9"}, ["cidrIpv4"], []),
        (RULE, {"cidrIpv4": "10.0.0.0/8"}, {"prefixListId": "pl"}, ["cidrIpv4", "prefixListId"],
         ["cidrIpv4", "prefixListId"]),
    ],
)  # fmt: skip
def test_a_change_means_what_the_facts_say(
    type_: str, old: dict[str, Any], new: dict[str, Any], changed: list[str], replaces: list[str]
) -> None:
    found = compare(type_, old, new)
    assert list(found.kinds) == changed
    assert found.replaces == replaces


def test_the_kind_of_a_change_tells_what_was_there() -> None:
    found = compare(GROUP, {"labels": {"a": "1"}, "version": "1.34"}, {"version": "1.35", "tags": {"b": "2"}})
    assert found.kinds == {"labels": PropertyDiff.DELETE, "tags": PropertyDiff.ADD, "version": PropertyDiff.UPDATE}


def test_a_fixed_name_makes_room_first_and_an_automatic_one_does_not() -> None:
    old, new = {"nodeGroupName": "a", "amiType": "x"}, {"nodeGroupName": "a", "amiType": "y"}
    assert compare(GROUP, old, new).delete_first
    assert not compare(GROUP, old, new, "nodeGroupName").delete_first
    assert not compare(GROUP, {"nodeGroupNamePrefix": "a"}, {"nodeGroupNamePrefix": "b"}).delete_first


def test_an_attachment_goes_before_its_equal_is_made() -> None:
    attachment = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    assert compare(attachment, {"role": "a"}, {"role": "b"}).delete_first


def test_inputs_that_do_not_exist_or_are_missing_are_told_with_those_that_are_wrong() -> None:
    scaling = {"minSize": 1, "maxSize": 1, "desired": 1}
    found = check(GROUP, clusterName="c", nodeRoleArn="r", subnetIds=["s"], scalingConfig=scaling, amiType="?")
    assert [line.partition(":")[0] for line in found] == [
        "amiType",
        "scalingConfig.desired",
        "scalingConfig.desiredSize",
    ]


def test_a_prefix_takes_the_place_of_an_automatic_name() -> None:
    given = {"clusterName": "c", "nodeRoleArn": "r", "subnetIds": ["s"], "nodeGroupNamePrefix": "x-"}
    checked = AWS.check(GROUP, "main", given, seed=b"", kept={})
    assert checked.filled == {}


def test_an_alias_gets_a_name_that_kms_accepts() -> None:
    checked = AWS.check("aws:kms/alias:Alias", "secrets", {"targetKeyId": "k"}, seed=b"", kept={})
    assert checked.problems == ()
    assert checked.filled["name"].startswith("alias/secrets-")


@pytest.mark.parametrize(
    ("default", "own", "together"),
    [
        ('{"tags": {"team": "ml", "a": "1"}}', {"a": "2"}, {"team": "ml", "a": "2"}),
        ({"tags": {"team": "ml"}}, None, {"team": "ml"}),
        (None, {"a": UNKNOWN}, UNKNOWN),
        (UNKNOWN, {"a": "1"}, UNKNOWN),
        ({"tags": UNKNOWN}, {"a": "1"}, UNKNOWN),
    ],
)
def test_a_check_shows_a_resources_tags_over_the_providers_default_tags(default: Any, own: Any, together: Any) -> None:
    aws = OfflineAws()
    aws.configure({"defaultTags": default})
    checked = aws.check("aws:kms/key:Key", "main", {"tags": own} if own else {}, seed=b"", kept={})
    assert checked.added == {"tagsAll": together}


def test_default_tags_that_are_secret_stay_secret() -> None:
    aws = OfflineAws()
    aws.configure({"defaultTags": Secret('{"tags": {"team": "ml"}}')})
    (value,) = aws.all_tags(CLUSTER, {})["tagsAll"].values()
    assert isinstance(value, Secret)


def test_types_without_tags_and_those_of_the_newer_framework_show_none() -> None:
    assert AWS.all_tags(RULE, {"tags": {"a": "1"}}) == {}
    assert AWS.all_tags("aws:ec2/route:Route", {}) == {}


def test_another_default_tag_updates_in_place() -> None:
    changed = compare(CLUSTER, {"tagsAll": {"team": "ml"}}, {"tagsAll": {"team": "data"}})
    assert changed.kinds == {"tagsAll": PropertyDiff.UPDATE}
    assert compare(CLUSTER, {}, {"tagsAll": {}}).kinds == {}
