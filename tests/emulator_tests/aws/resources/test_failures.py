"""What the provider says and leaves when AWS refuses, fails, waits or does not answer."""

from typing import Any

import pytest

from emulators.aws.client import Emulator
from emulators.aws.provider import AwsEmulator
from emulators.core.client import not_yet_there
from emulators.core.faults import (
    ErrorRule,
    FailedRule,
    Issue,
    LostRule,
    NotYetVisibleRule,
    StuckRule,
)
from support.aws_resources import GROUP, ROLE, SUBNET, VPC, Stack, trust
from workbench.offline.provider import CloudError, Existing, PartlyMadeError, RefusedError

SPOT = (Issue(code="AsgInstanceLaunchFailures", message="Could not launch Spot Instances."),)


def group_inputs(stack: Stack) -> dict[str, Any]:
    _, subnets = stack.network()
    group = stack.group(stack.cluster(subnets), subnets)
    stack.delete(group)
    return {n: v for n, v in group.inputs.items() if n not in ("tagsAll", "nodeGroupName")}


def kept(stack: Stack, error: PartlyMadeError) -> Existing:
    """Keep what was partly made, as the engine does."""
    stack.made.append(Existing(GROUP, "group", error.id, {}, error.outputs))
    return stack.made[-1]


def test_a_refusal_reads_as_that_of_the_real_plug_in(stack: Stack, aws: Emulator) -> None:
    inputs = group_inputs(stack)
    rule = ErrorRule(operation="eks:CreateNodegroup", code="AccessDeniedException", status=403, message="no")
    aws.set_faults(rule)
    with pytest.raises(CloudError) as refusal:
        stack.make(GROUP, **inputs)
    text = str(refusal.value)
    assert text.startswith(f"creating EKS Node Group (dev-{stack.number}:main-")
    assert "): operation error EKS: CreateNodegroup, https response error StatusCode: 403, RequestID: " in text
    assert text.endswith(", api error AccessDeniedException: no")


def test_a_group_that_gets_no_machines_exists_with_its_reason(stack: Stack, aws: Emulator) -> None:
    inputs = group_inputs(stack)
    aws.set_faults(FailedRule(operation="eks:CreateNodegroup", issues=SPOT))
    with pytest.raises(PartlyMadeError) as failure:
        stack.make(GROUP, **inputs)
    resource = kept(stack, failure.value)
    (reason,) = failure.value.reasons
    assert reason.startswith(f"waiting for EKS Node Group ({resource.id}) create: unexpected state 'CREATE_FAILED'")
    assert "last error: " in reason
    assert "AsgInstanceLaunchFailures: Could not launch Spot Instances." in reason
    assert resource.outputs["status"] == "CREATE_FAILED"


def test_a_wait_without_end_ends(stack: Stack, aws: Emulator) -> None:
    inputs = group_inputs(stack)
    aws.set_scale(0.001)
    aws.set_faults(StuckRule(operation="eks:CreateNodegroup"))
    with pytest.raises(PartlyMadeError) as failure:
        stack.make(GROUP, **inputs)
    aws.set_faults()
    aws.set_scale(0)
    kept(stack, failure.value)
    (reason,) = failure.value.reasons
    assert reason.endswith("timeout while waiting for state to become 'ACTIVE' (last state: 'CREATING', timeout: 60m)")


def test_a_role_that_is_not_seen_yet_is_tried_again(stack: Stack, aws: Emulator) -> None:
    _, subnets = stack.network()
    aws.set_faults(NotYetVisibleRule(calls=6))
    assert stack.cluster(subnets).outputs["status"] == "ACTIVE"
    tries = [call.code for call in aws.calls() if call.operation == "eks:CreateCluster"][-3:]
    assert tries[-1] == ""
    assert "InvalidParameterException" in tries


def test_what_was_made_and_is_not_found_at_first_is_looked_for(stack: Stack, aws: Emulator) -> None:
    aws.set_faults(not_yet_there("iam:GetRole", "NoSuchEntity", 3, about="*"))
    assert stack.make(ROLE, assumeRolePolicy=trust("ec2.amazonaws.com")).outputs["arn"]


@pytest.mark.parametrize(
    "rule",
    [
        ErrorRule(operation="ec2:CreateSubnet", times=2, code="RequestLimitExceeded", status=503, message="slow down"),
        ErrorRule(operation="ec2:DescribeSubnets", times=2, code="InternalError", status=500, message="?"),
    ],
    ids=["throttled", "server error"],
)
def test_passing_trouble_is_no_failure(stack: Stack, aws: Emulator, rule: ErrorRule) -> None:
    vpc = stack.make(VPC, cidrBlock="10.0.0.0/16")
    aws.set_faults(rule)
    stack.make(SUBNET, vpcId=vpc.id, cidrBlock="10.0.0.0/24", availabilityZone="eu-west-1a")


def test_trouble_that_stays_is_told_after_as_many_tries_as_the_user_wants(
    provider: AwsEmulator, aws: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    hasty = AwsEmulator()
    aws.set_faults(ErrorRule(operation="ec2:CreateVpc", code="RequestLimitExceeded", status=503, message="slow down"))
    start = aws.calls()[-1].number
    with pytest.raises(CloudError, match="RequestLimitExceeded: slow down"):
        hasty.create(VPC, "main", {"cidrBlock": "10.0.0.0/16"})
    assert [call.operation for call in aws.calls(start) if call.code] == ["ec2:CreateVpc"] * 2


def test_a_delete_whose_answer_is_lost_is_done(stack: Stack, aws: Emulator) -> None:
    vpc = stack.make(VPC, cidrBlock="10.0.0.0/16")
    aws.set_faults(LostRule(operation="ec2:DeleteVpc", times=1))
    stack.delete(vpc)
    assert vpc.id not in aws.inventory().get(VPC, [])


def test_expired_credentials_say_so_and_change_nothing(stack: Stack, aws: Emulator) -> None:
    vpc = stack.make(VPC, cidrBlock="10.0.0.0/16")
    aws.set_faults(ErrorRule(operation="ec2:*", code="RequestExpired", status=400, message="Request has expired."))
    with pytest.raises(CloudError, match=r"^deleting EC2 VPC \(vpc-\w+\): .*RequestExpired: Request has expired"):
        stack.provider.delete(vpc)
    with pytest.raises(CloudError, match=r"^reading EC2 VPC "):
        stack.provider.read(vpc)


def test_what_is_still_used_is_tried_for_a_while_and_then_reported(stack: Stack, aws: Emulator) -> None:
    _, (subnet, _) = stack.network()
    left = aws.leave_network_interface(subnet.id)
    start = aws.calls()[-1].number
    with pytest.raises(CloudError, match=r"^deleting EC2 Subnet .*DependencyViolation"):
        stack.provider.delete(subnet)
    tries = [call for call in aws.calls(start) if call.operation == "ec2:DeleteSubnet"]
    assert len(tries) >= 20  # bounded, and not given up at once
    aws.api("ec2").delete_network_interface(NetworkInterfaceId=left)
    stack.delete(subnet)


def test_an_update_that_fails_midway_keeps_what_happened(stack: Stack, aws: Emulator) -> None:
    vpc = stack.make(VPC, cidrBlock="10.0.0.0/16", enableDnsHostnames=False)
    aws.set_faults(ErrorRule(operation="ec2:CreateTags", code="UnauthorizedOperation", status=403, message="no"))
    given = stack.checked(VPC, "main", {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True, "tags": {"a": "b"}}, {})
    with pytest.raises(PartlyMadeError) as failure:
        stack.provider.update(vpc, given)
    assert failure.value.reasons[0].startswith(f"updating EC2 VPC ({vpc.id}): operation error EC2: CreateTags")
    assert failure.value.outputs["enableDnsHostnames"] is True
    assert failure.value.outputs["tags"] == {}


def test_an_input_that_nothing_would_carry_is_refused(stack: Stack) -> None:
    vpc = stack.make(VPC, cidrBlock="10.0.0.0/16")
    with pytest.raises(RefusedError, match=r"does not make these inputs of aws:ec2/routeTable:RouteTable: routes"):
        stack.make("aws:ec2/routeTable:RouteTable", vpcId=vpc.id, routes=[{"cidrBlock": "0.0.0.0/0"}])
