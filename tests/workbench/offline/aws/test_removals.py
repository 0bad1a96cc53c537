"""What the offline provider plans for inputs that AWS keeps, and how it says so."""

from typing import Any

import pytest
from pulumi.runtime.proto.provider_pb2 import PropertyDiff

from workbench.offline.aws.provider import OfflineAws
from workbench.offline.provider import Changed

CLUSTER, GROUP = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"
ROUTES = "aws:ec2/routeTable:RouteTable"
KEY = {"provider": {"keyArn": "a"}, "resources": ["secrets"]}


def compare(type_: str, old: dict[str, Any], new: dict[str, Any]) -> Changed:
    return OfflineAws().compare(type_, old, new, filled=frozenset())


@pytest.mark.parametrize(
    ("type_", "old", "new", "path"),
    [
        (CLUSTER, {"version": "1.35"}, {}, "version"),
        (CLUSTER, {"accessConfig": {"authenticationMode": "API"}}, {"accessConfig": {}}, "accessConfig"),
        (CLUSTER, {"vpcConfig": {"subnetIds": ["a"], "publicAccessCidrs": ["10.0.0.0/8"]}},
         {"vpcConfig": {"subnetIds": ["a"]}}, "vpcConfig.publicAccessCidrs"),
        # Any other change of it replaces the node group.
        (GROUP, {"amiType": "AL2023_x86_64_STANDARD"}, {}, "amiType"),
        (GROUP, {"updateConfig": {"maxUnavailable": 1}}, {}, "updateConfig"),
        (ROUTES, {"routes": [{"cidrBlock": "10.0.0.0/8"}]}, {}, "routes"),
        ("aws:kms/key:Key", {"policy": "{}"}, {}, "policy"),
    ],
)  # fmt: skip
def test_the_removal_of_what_aws_keeps_plans_nothing_and_warns(
    type_: str, old: dict[str, Any], new: dict[str, Any], path: str
) -> None:
    found = compare(type_, old, new)
    assert found.kinds == {}
    (warning,) = found.warnings
    assert warning.startswith(f"{path} is no longer set, but AWS keeps its value")


def test_the_warning_says_how_the_value_goes() -> None:
    (empty,) = compare(ROUTES, {"routes": [{"cidrBlock": "10.0.0.0/8"}]}, {}).warnings
    assert empty.endswith("To change it, set [].")
    (other,) = compare(CLUSTER, {"version": "1.35"}, {}).warnings
    assert other.endswith("To change it, set another value.")


def test_the_warning_gives_the_condition_that_the_facts_note() -> None:
    (warning,) = compare(CLUSTER, {"zonalShiftConfig": {"enabled": True}}, {}).warnings
    assert warning.endswith(
        'EKS refuses a request that changes nothing: "The type for cluster update was not provided."'
    )


def test_an_empty_list_is_no_removal_of_what_aws_keeps() -> None:
    found = compare(ROUTES, {"routes": [{"cidrBlock": "10.0.0.0/8"}]}, {"routes": []})
    assert (found.kinds, found.warnings) == ({"routes": PropertyDiff.DELETE}, ())


@pytest.mark.parametrize(
    ("type_", "path", "value"),
    [
        (GROUP, "launchTemplate", {"id": "lt-1", "version": "1"}),
        (CLUSTER, "zonalShiftConfig", {"enabled": True}),
        ("aws:eks/podIdentityAssociation:PodIdentityAssociation", "targetRoleArn", "arn:aws:iam::1:role/a"),
    ],
)
def test_a_removal_that_never_reaches_aws_updates_and_warns(type_: str, path: str, value: Any) -> None:
    found = compare(type_, {path: value}, {})
    assert found.kinds == {path: PropertyDiff.DELETE}
    (warning,) = found.warnings
    assert warning.startswith(f"{path} is no longer set, but AWS keeps its value")
    assert "It cannot be cleared" in warning


@pytest.mark.parametrize(
    ("new", "path"),
    [
        ({**KEY, "provider": {"keyArn": "b"}}, "encryptionConfig.provider.keyArn"),
        ({**KEY, "resources": ["secrets", "more"]}, "encryptionConfig.resources"),
    ],
)
def test_another_encryption_key_updates_nothing_and_warns(new: dict[str, Any], path: str) -> None:
    found = compare(CLUSTER, {"encryptionConfig": KEY}, {"encryptionConfig": new})
    assert found.kinds == {path: PropertyDiff.UPDATE}
    (warning,) = found.warnings
    assert warning.startswith(f"{path} changes, but AWS keeps the old value")


def test_the_first_and_the_last_encryption_key_need_no_warning() -> None:
    first = compare(CLUSTER, {}, {"encryptionConfig": KEY})
    last = compare(CLUSTER, {"encryptionConfig": KEY}, {})
    assert (first.replaces, last.replaces) == ([], ["encryptionConfig"])
    assert first.warnings == last.warnings == ()


def test_a_warning_names_no_value() -> None:
    found = compare("aws:eks/addon:Addon", {"configurationValues": '{"token": "secret"}'}, {})
    assert "secret" not in "".join(found.warnings)


def test_a_replacement_needs_no_warning() -> None:
    found = compare(GROUP, {"nodeRoleArn": "a", "version": "1.35"}, {"nodeRoleArn": "b"})
    assert (found.replaces, found.warnings) == (["nodeRoleArn"], ())
