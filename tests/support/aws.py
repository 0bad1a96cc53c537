"""Things in the AWS emulator that tests need before they can begin."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from emulators.aws.client import Emulator


@dataclass(frozen=True)
class Network:
    """A VPC with a way out and one subnet."""

    vpc: str
    subnet: str
    gateway: str


def network(aws: Emulator) -> Network:
    """Make one; the ranges of two VPCs may be the same."""
    ec2 = aws.api("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="eu-west-1a")
    subnet = made["Subnet"]["SubnetId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    return Network(vpc, subnet, gateway)


def tags(kind: str, **values: str) -> list[dict[str, Any]]:
    """Return the member ``TagSpecifications`` of a request that makes something."""
    return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in values.items()]}]


def exists(aws: Emulator, type_: str, id_: str) -> bool:
    """Return whether the emulator has a resource of a type."""
    return id_ in aws.inventory().get(type_, [])


def refused(code: str) -> AbstractContextManager[pytest.ExceptionInfo[ClientError]]:
    """Expect AWS to refuse with a code."""
    return pytest.raises(ClientError, match=rf"\({code}\)")


def eventually(look: Callable[[], bool], seconds: float = 600.0) -> bool:
    """Return whether something becomes true in time."""
    until = time.monotonic() + seconds
    while not look():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
