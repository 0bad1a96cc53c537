from emulators.aws.client import Emulator
from support.aws import Network, refused


def test_calls_are_told_in_order_with_what_they_name_and_all_they_say(aws: Emulator, net: Network) -> None:
    before = len(aws.calls())
    aws.api("ec2").describe_subnets(SubnetIds=[net.subnet])
    with refused("NoSuchEntity"):
        aws.api("iam").get_role(RoleName="nobody")
    aws.api("logs").create_log_group(logGroupName="/of/test/calls", tags={"a": "b"})
    told = aws.calls(before)
    assert [call.number for call in told] == [before + 1, before + 2, before + 3]
    assert [(call.operation, call.about, call.code) for call in told] == [
        ("ec2:DescribeSubnets", net.subnet, ""),
        ("iam:GetRole", "nobody", "NoSuchEntity"),
        ("logs:CreateLogGroup", "/of/test/calls", ""),
    ]
    assert told[2].params == {"logGroupName": "/of/test/calls", "tags": {"a": "b"}}
    assert all(call.end is not None and call.begin <= call.end for call in told)


def test_an_operation_that_the_emulator_does_not_have_is_told_and_refused(aws: Emulator) -> None:
    before = len(aws.calls())
    with refused("UnknownOperationException"):
        aws.api("ssm").describe_parameters()
    assert [(call.operation, call.code) for call in aws.calls(before)] == [("unknown", "UnknownOperationException")]
