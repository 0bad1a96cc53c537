from typing import Any

import pytest

from workbench.offline.aws.models import judge, loose, unmodelled
from workbench.offline.properties import UNKNOWN, Secret

GROUP = "aws:eks/nodeGroup:NodeGroup"


def group(**changes: Any) -> dict[str, Any]:
    inputs = {
        "clusterName": "dev",
        "nodeGroupName": "workload",
        "nodeRoleArn": "arn:aws:iam::111122223333:role/node",
        "subnetIds": ["subnet-1"],
        "scalingConfig": {"minSize": 0.0, "maxSize": 3.0, "desiredSize": 0.0},
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def problems(type_: str, inputs: dict[str, Any]) -> list[str]:
    return [f"{problem.path} {problem.reason}" for problem in judge(type_, inputs).problems]


def test_a_good_group_passes() -> None:
    assert problems(GROUP, group()) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"capacityType": "CHEAP"}, "capacityType must be one of ON_DEMAND, SPOT, CAPACITY_BLOCK, given 'CHEAP'"),
        ({"scalingConfig": {"maxSize": 0.0}}, "scalingConfig.maxSize must be at least 1, given 0"),
        ({"scalingConfig": {"minSize": 1.5}}, "scalingConfig.minSize must be a number, given 1.5"),
        ({"taints": [{"key": "k", "effect": "NoSchedule"}]}, "taints[0].effect must be one of NO_SCHEDULE,"),
        ({"taints": [{"key": "k" * 64, "effect": UNKNOWN}]}, "taints[0].key must be at most 63 characters, given 64"),
        ({"tags": {"k" * 129: "v"}}, "(the key) must be at most 128 characters, given 129"),
        ({"tags": {str(i): "v" for i in range(51)}}, "tags must be at most 50 entries, given 51 entries"),
        ({"labels": {"team": "v" * 64}}, 'labels["team"] must be at most 63 characters, given 64'),
        ({"subnetIds": None}, "subnetIds is required (eks:CreateNodegroup), not given"),
        ({"nodeGroupName": None}, "nodeGroupName or nodeGroupNamePrefix is required (eks:CreateNodegroup), not given"),
        ({"forceUpdateVersion": "maybe"}, "forceUpdateVersion must be true or false, given 'maybe'"),
        (
            {"updateConfig": {"maxUnavailablePercentage": 101.0}},
            "updateConfig.maxUnavailablePercentage must be at most",
        ),
    ],
)
def test_a_bad_value_is_named_with_its_path_and_what_is_allowed(changes: dict[str, Any], expected: str) -> None:
    found = problems(GROUP, group(**changes))
    assert len(found) == 1
    assert expected in found[0]


def test_all_problems_are_told_at_once() -> None:
    assert len(problems(GROUP, group(capacityType="x", amiType="y", subnetIds=None))) == 3


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        ("aws:iam/role:Role", {"name": "n" * 65, "assumeRolePolicy": "{}"}, "name must be at most 64 characters"),
        ("aws:iam/role:Role", {"name": "a b", "assumeRolePolicy": "{}"}, "name must match"),
        ("aws:kms/key:Key", {"deletionWindowInDays": 400.0}, "deletionWindowInDays must be at most 365"),
        ("aws:kms/key:Key", {"rotationPeriodInDays": 1.0}, "rotationPeriodInDays must be at least 90"),
        ("aws:kms/key:Key", {"tags": {"": "v"}}, "must be at least 1 characters"),
        ("aws:cloudwatch/logGroup:LogGroup", {"name": "a b"}, "name must match"),
        ("aws:ec2/vpcEndpoint:VpcEndpoint", {"vpcId": "v", "vpcEndpointType": "Gate"}, "vpcEndpointType must be one"),
        (
            "aws:ec2/launchTemplate:LaunchTemplate",
            {"name": "lt-name", "metadataOptions": {"httpTokens": "always"}},
            "metadataOptions.httpTokens must be one of optional, required",
        ),
        (
            "aws:ec2/launchTemplate:LaunchTemplate",
            {"name": "lt-name", "blockDeviceMappings": [{"ebs": {"encrypted": "yes"}}]},
            "blockDeviceMappings[0].ebs.encrypted must be true or false",
        ),
        (
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
            {"securityGroupId": "sg", "ipProtocol": "tcp", "fromPort": "http"},
            "fromPort must be a number, given 'http'",
        ),
        ("aws:eks/cluster:Cluster", {"name": "-x", "roleArn": "r", "vpcConfig": {"subnetIds": []}}, "name must match"),
        (
            "aws:eks/cluster:Cluster",
            {"name": "x", "roleArn": "r", "vpcConfig": {}, "enabledClusterLogTypes": ["api", "etcd"]},
            "enabledClusterLogTypes[1] must be one of api, audit",
        ),
    ],
)
def test_each_service_speaks_for_its_own_inputs(type_: str, inputs: dict[str, Any], expected: str) -> None:
    assert any(expected in found for found in problems(type_, inputs)), problems(type_, inputs)


def test_unknown_values_are_counted_and_neither_judged_nor_missed() -> None:
    verdict = judge(GROUP, group(subnetIds=UNKNOWN, labels={"a": UNKNOWN}, nodeRoleArn=UNKNOWN))
    assert verdict.problems == []
    assert verdict.unknown == 3


def test_a_secret_value_is_judged_and_not_shown() -> None:
    found = problems(GROUP, group(capacityType=Secret("hidden")))
    assert "capacityType must be one of" in found[0]
    assert "hidden" not in found[0]


def test_values_without_a_model_are_counted() -> None:
    assert judge(GROUP, group(region="eu-west-1")).unmodelled == 1


def test_what_no_model_covers_is_told() -> None:
    assert unmodelled("aws:cloudwatch/logGroup:LogGroup") == ["region", "skipDestroy"]
    assert "version" in loose(GROUP)
    assert "capacityType" not in loose(GROUP)
