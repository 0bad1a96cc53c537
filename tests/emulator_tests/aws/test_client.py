import os
import signal
import socket
import subprocess
import sys

import boto3
import psutil
import pytest

from emulators.aws.client import Emulator, running
from emulators.aws.resources.connection import Aws
from emulators.aws.server import REGION
from emulators.core.client import EmulatorError
from emulators.core.faults import SlowRule
from support.aws import eventually, network


def test_an_account_begins_empty_and_can_be_emptied_again() -> None:
    with running() as aws:
        assert (aws.inventory(), aws.calls()) == ({}, [])
        assert aws.api("sts").get_caller_identity()["Account"] == "111122223333"
        ec2, net = aws.api("ec2"), network(aws)
        left = aws.leave_network_interface(net.subnet)
        assert aws.inventory()["aws:ec2/subnet:Subnet"] == [net.subnet]
        assert aws.inventory()["AWS::EC2::NetworkInterface"] == [left]
        ec2.delete_network_interface(NetworkInterfaceId=left)
        ec2.detach_internet_gateway(InternetGatewayId=net.gateway, VpcId=net.vpc)
        ec2.delete_internet_gateway(InternetGatewayId=net.gateway)
        ec2.delete_subnet(SubnetId=net.subnet)
        ec2.delete_vpc(VpcId=net.vpc)
        assert aws.inventory() == {}


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_a_proxy_of_the_machine_is_not_asked(aws: Emulator, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert aws.calls() is not None
    for variable, value in aws.environment.items():
        monkeypatch.setenv(variable, value)
    assert Aws(REGION).call("sts", "GetCallerIdentity")["Account"] == "111122223333"
    assert boto3.client("sts").get_caller_identity()["Account"] == "111122223333", "as `recover` asks"


def test_it_listens_on_loopback_only(aws: Emulator) -> None:
    listening = [each for each in psutil.Process(aws.pid).net_connections() if each.status == psutil.CONN_LISTEN]
    assert [each.laddr.ip for each in listening] == ["127.0.0.1"]


def test_it_ends_with_the_process_that_started_it() -> None:
    code = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'emulators.aws']); p.wait()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith("http://127.0.0.1:")
        server = psutil.Process(parent.pid).children()[0]
        parent.send_signal(signal.SIGKILL)
        assert eventually(lambda: not server.is_running())


def test_told_to_stop_it_answers_what_is_under_way_and_then_ends() -> None:
    with running() as aws:
        aws.set_faults(SlowRule(operation="ec2:DescribeVpcs", seconds=1))
        code = "import boto3; print(len(boto3.client('ec2').describe_vpcs()['Vpcs']))"
        with subprocess.Popen(
            [sys.executable, "-c", code], env=aws.environment, stdout=subprocess.PIPE, text=True
        ) as caller:
            assert eventually(lambda: bool(aws.calls()))
            os.kill(aws.pid, signal.SIGTERM)
            assert caller.wait(30) == 0
        address = aws.address.removeprefix("http://").split(":")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address[0], int(address[1])), timeout=2)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--scale", "-1"], "--scale: must be 0 or more, given -1"),
        (["--scale", "much"], "--scale: invalid"),
        (["--kubeconfig", "missing.yaml"], "--kubeconfig: must be a kubeconfig"),
        (["--kubeconfig", __file__], "--kubeconfig: must be a kubeconfig"),
    ],
)
def test_a_mistake_on_the_command_line_is_told_and_nothing_starts(given: list[str], why: str) -> None:
    command = [sys.executable, "-m", "emulators.aws", *given]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 2
    assert why in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_server_that_does_not_start_is_told() -> None:
    with pytest.raises(EmulatorError, match="did not start"), running(scale=-1):
        pass
