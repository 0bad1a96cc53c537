"""The provider acts by the facts that the offline provider plans with: retries, and what an input left out means."""

from typing import Any

import pytest

from emulators.aws.client import Emulator
from emulators.core.faults import ErrorRule
from support.aws_resources import CLUSTER, KEY, LOGS, ROLE, VPC, Stack, trust
from workbench.offline.aws.facts import facts
from workbench.offline.provider import CloudError, PartlyMadeError


def role(stack: Stack) -> None:
    stack.role("ec2.amazonaws.com", "AmazonEKSWorkerNodePolicy")


def alias(stack: Stack) -> None:
    stack.make("aws:kms/alias:Alias", name=f"alias/{stack.number}", targetKeyId=stack.make(KEY).outputs["keyId"])


def key(stack: Stack) -> None:
    stack.make(KEY, enableKeyRotation=True)


def route(stack: Stack) -> None:
    vpc = stack.make(VPC, cidrBlock="10.0.0.0/16")
    gateway = stack.make("aws:ec2/internetGateway:InternetGateway", vpcId=vpc.id)
    table = stack.make("aws:ec2/routeTable:RouteTable", vpcId=vpc.id)
    given = {"routeTableId": table.id, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": gateway.id}
    stack.make("aws:ec2/route:Route", **given)


def log_group(stack: Stack) -> None:
    stack.make(LOGS, name=f"/a/{stack.number}")


def rule(operation: str, code: str, message: str = "try again") -> ErrorRule:
    return ErrorRule(operation=operation, times=2, code=code, message=message)


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (role, rule("iam:CreateRole", "ConcurrentModification")),
        (role, rule("iam:AttachRolePolicy", "ConcurrentModification")),
        (role, rule("iam:DetachRolePolicy", "ConcurrentModification")),
        (alias, rule("kms:CreateAlias", "NotFoundException")),
        (key, rule("kms:EnableKeyRotation", "NotFoundException")),
        (key, rule("kms:EnableKeyRotation", "DisabledException")),
        (route, rule("ec2:CreateRoute", "InvalidParameterException")),
        (route, rule("ec2:DeleteRoute", "InvalidParameterException")),
        (log_group, rule("logs:DeleteLogGroup", "OperationAbortedException")),
    ],
    ids=lambda value: f"{value.operation} {value.code}" if isinstance(value, ErrorRule) else "",
)
def test_a_refusal_that_passes_is_tried_again(make: Any, fault: ErrorRule, stack: Stack, aws: Emulator) -> None:
    aws.set_faults(fault)
    start = aws.calls()[-1].number if aws.calls() else 0
    make(stack)
    stack.delete_all()
    assert [call.code for call in aws.calls(start) if call.operation == fault.operation][:3] == [fault.code] * 2 + [""]


@pytest.mark.parametrize(
    "fault", [rule("iam:CreateRole", "LimitExceeded"), rule("iam:CreateRole", "MalformedPolicyDocument", "else")]
)
def test_any_other_refusal_is_final(fault: ErrorRule, stack: Stack, aws: Emulator) -> None:
    aws.set_faults(fault)
    with pytest.raises(CloudError, match=fault.code):
        stack.make(ROLE, assumeRolePolicy=trust("ec2.amazonaws.com"))


def test_an_input_that_is_left_out_goes_back_to_its_default(stack: Stack) -> None:
    role = stack.make(ROLE, assumeRolePolicy=trust("ec2.amazonaws.com"), maxSessionDuration=7200.0)
    left = {name: value for name, value in role.inputs.items() if name != "maxSessionDuration"}
    assert list(stack.provider.compare(ROLE, role.inputs, left, filled=frozenset()).kinds) == ["maxSessionDuration"]
    assert stack.change(role, "maxSessionDuration").outputs["maxSessionDuration"] == 3600


def test_members_of_an_object_that_are_left_out_go_back_to_their_defaults(stack: Stack, aws: Emulator) -> None:
    network, subnets = stack.network()
    group = stack.make("aws:ec2/securityGroup:SecurityGroup", vpcId=network.id, description="a")
    private = {"endpointPrivateAccess": True, "endpointPublicAccess": False, "securityGroupIds": [group.id]}
    where = {"subnetIds": [subnet.id for subnet in subnets]}
    cluster = stack.cluster(subnets, vpcConfig={**where, **private})
    wanted = {**cluster.inputs, "vpcConfig": where}
    planned = stack.provider.compare(CLUSTER, cluster.inputs, wanted, filled=frozenset())
    assert set(planned.kinds) == {f"vpcConfig.{name}" for name in private}
    assert not planned.replaces
    stack.change(cluster, vpcConfig=where)
    there = aws.api("eks").describe_cluster(name=cluster.id)["cluster"]["resourcesVpcConfig"]
    assert {name: there[name] for name in private} == {
        "endpointPrivateAccess": False,
        "endpointPublicAccess": True,
        "securityGroupIds": [],
    }


def test_what_eks_never_clears_is_sent_and_refused(stack: Stack) -> None:
    _, subnets = stack.network()
    cluster = stack.cluster(subnets, zonalShiftConfig={"enabled": True})
    with pytest.raises(PartlyMadeError, match=r"The type for cluster update was not provided"):
        stack.change(cluster, "zonalShiftConfig")


def test_an_input_that_aws_keeps_plans_nothing_and_warns(stack: Stack) -> None:
    old = {"name": "dev", "upgradePolicy": {"supportType": "STANDARD"}}
    planned = stack.provider.compare(CLUSTER, old, {"name": "dev"}, filled=frozenset())
    assert not planned.kinds
    assert "AWS keeps its value" in planned.warnings[0]


def test_defaults_are_of_inputs_that_a_removal_resets() -> None:
    for known in facts().resources.values():
        assert {path: known.if_absent(path) for path in known.defaults} == dict.fromkeys(known.defaults, "resets")
