import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from pydantic import ValidationError

from emulators.aws.client import Emulator
from emulators.core.client import not_yet_there
from emulators.core.faults import RULES, ErrorRule, KillRule, LostRule, Moment, SlowRule
from support.aws import Network, eventually, refused

THROTTLED = {"code": "Throttling", "status": 400}


def outcomes(aws: Emulator, calls: int, operation: str = "describe_vpcs") -> list[str]:
    """Return the code of each of some calls, empty for a success."""
    client, found = aws.api("ec2", attempts=1), []
    for _ in range(calls):
        try:
            getattr(client, operation)()
            found.append("")
        except ClientError as error:
            found.append(error.response["Error"]["Code"])
    return found


def test_a_rule_meets_the_nth_call_and_as_many_as_it_says(aws: Emulator) -> None:
    aws.set_faults(ErrorRule(operation="ec2:DescribeVpcs", first=2, times=2, **THROTTLED))
    assert outcomes(aws, 5) == ["", "Throttling", "Throttling", "", ""]


def test_a_rule_meets_no_other_operation(aws: Emulator) -> None:
    aws.set_faults(ErrorRule(operation="ec2:Create*", **THROTTLED))
    assert outcomes(aws, 1) == [""]


def test_a_rule_counts_for_each_thing_on_its_own(aws: Emulator) -> None:
    ec2 = aws.api("ec2", attempts=1)
    vpcs = [ec2.create_vpc(CidrBlock="10.201.0.0/16")["Vpc"]["VpcId"] for _ in range(2)]
    aws.set_faults(not_yet_there("ec2:DescribeVpcs", "InvalidVpcID.NotFound", reads=1, about="*"))
    for vpc in vpcs:
        with refused("InvalidVpcID.NotFound"):
            ec2.describe_vpcs(VpcIds=[vpc])
        assert ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"]


def test_a_share_is_drawn_by_its_seed(aws: Emulator) -> None:
    drawn = []
    for _ in range(2):
        aws.set_faults(ErrorRule(share=0.3, seed=7, **THROTTLED))
        drawn.append(outcomes(aws, 60))
    assert drawn[0] == drawn[1]
    assert 8 <= drawn[0].count("Throttling") <= 28


@pytest.mark.parametrize(
    ("service", "operation", "code", "status"),
    [
        ("ec2", "describe_vpcs", "UnauthorizedOperation", 403),
        ("iam", "list_roles", "ExpiredToken", 403),
        ("autoscaling", "describe_auto_scaling_groups", "Throttling", 400),
        ("kms", "list_keys", "ThrottlingException", 400),
        ("logs", "describe_log_groups", "ServiceUnavailableException", 503),
        ("eks", "list_clusters", "ServerException", 500),
    ],
)
def test_an_error_reads_in_every_protocol_as_aws_writes_it(
    aws: Emulator, service: str, operation: str, code: str, status: int
) -> None:
    aws.set_faults(ErrorRule(code=code, status=status, message="so it is"))
    with pytest.raises(ClientError) as caught:
        getattr(aws.api(service, attempts=1), operation)()
    answer = caught.value.response
    assert (answer["Error"]["Code"], answer["Error"]["Message"]) == (code, "so it is")
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == status


def test_boto3_gets_through_throttling_by_itself(aws: Emulator) -> None:
    aws.set_faults(ErrorRule(operation="ec2:DescribeVpcs", times=2, **THROTTLED))
    before = len(aws.calls())
    assert "Vpcs" in aws.api("ec2", attempts=3).describe_vpcs()
    assert [call.code for call in aws.calls(before)] == ["Throttling", "Throttling", ""]


def test_a_lost_answer_was_work_done(aws: Emulator) -> None:
    aws.set_faults(LostRule(operation="ec2:CreateVpc"))
    before = len(aws.inventory()["aws:ec2/vpc:Vpc"]) if "aws:ec2/vpc:Vpc" in aws.inventory() else 0
    with pytest.raises(ConnectionClosedError):
        aws.api("ec2", attempts=1).create_vpc(CidrBlock="10.202.0.0/16")
    assert len(aws.inventory()["aws:ec2/vpc:Vpc"]) == before + 1
    last = aws.calls()[-1]
    assert (last.code, list(last.faults)) == ("dropped", ["lost"])


def test_a_slow_call_holds_nobody_else_up(aws: Emulator, net: Network) -> None:
    aws.set_faults(SlowRule(operation="ec2:DescribeSubnets", seconds=1.5))
    code = "import sys, boto3; boto3.client('ec2').describe_subnets()"
    with subprocess.Popen([sys.executable, "-c", code], env=aws.environment) as slow:
        assert eventually(lambda: aws.calls()[-1].operation == "ec2:DescribeSubnets")
        began = time.monotonic()
        aws.api("ec2").describe_vpcs()
        assert time.monotonic() - began < 1
        assert slow.wait(30) == 0
    took = next(call for call in aws.calls() if "slow" in call.faults)
    assert took.end is not None
    assert took.end - took.begin >= 1.5


def test_a_slow_call_waits_no_longer_than_its_rule_holds(aws: Emulator) -> None:
    aws.set_faults(SlowRule(operation="ec2:DescribeSubnets", seconds=50))
    code = "import sys, boto3; boto3.client('ec2').describe_subnets()"
    with subprocess.Popen([sys.executable, "-c", code], env=aws.environment) as slow:
        assert eventually(lambda: aws.calls()[-1].operation == "ec2:DescribeSubnets")
        aws.set_faults()
        assert slow.wait(30) == 0


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a child; both sleep."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        assert eventually(lambda: bool(psutil.Process(parent.pid).children()))
        yield parent
        parent.kill()


@pytest.mark.parametrize(("when", "made"), [(Moment.BEFORE, 0), (Moment.AFTER, 1)])
def test_kill_ends_a_family_at_the_call_and_gives_no_answer(
    aws: Emulator, family: subprocess.Popen[bytes], when: Moment, made: int
) -> None:
    child = psutil.Process(family.pid).children()[0]
    before = len(aws.inventory().get("aws:ec2/vpc:Vpc", []))
    rule = KillRule(operation="ec2:CreateVpc", first=2, times=1, pids=(family.pid,), moment=when)
    aws.set_faults(rule)
    ec2 = aws.api("ec2", attempts=1)
    ec2.create_vpc(CidrBlock="10.203.0.0/16")
    assert child.is_running()
    with pytest.raises(ConnectionClosedError):
        ec2.create_vpc(CidrBlock="10.203.0.0/16")
    assert family.wait(5) == -9
    assert eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    assert len(aws.inventory()["aws:ec2/vpc:Vpc"]) == before + 1 + made


def test_kill_leaves_nobody_time_to_ask_again(aws: Emulator) -> None:
    # The caller itself is killed: boto3 would repeat a call whose connection broke.
    code = "import boto3; boto3.client('ec2').create_vpc(CidrBlock='10.204.0.0/16')"
    start = "import time; time.sleep(1);" + code
    with subprocess.Popen([sys.executable, "-c", start], env=aws.environment) as caller:
        aws.set_faults(KillRule(operation="ec2:CreateVpc", pids=(caller.pid,)))
        after = len(aws.calls())
        assert caller.wait(60) == -9
    assert [(call.operation, call.code) for call in aws.calls(after)] == [("ec2:CreateVpc", "dropped")]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ('[{"action": "explode"}]', "explode"),
        ('[{"action": "error"}]', "code"),
        ('[{"action": "error", "code": "X", "status": 200}]', "status"),
        ('[{"action": "slow", "seconds": -1}]', "seconds"),
        ('[{"action": "kill", "pids": []}]', "pids"),
        ('[{"action": "lost", "share": 0}]', "share"),
        ('[{"action": "lost", "oparation": "*"}]', "oparation"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(given: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        RULES.validate_json(given)
