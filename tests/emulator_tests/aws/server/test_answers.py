from datetime import UTC, datetime
from typing import Any

import pytest

from emulators.aws.server.answers import members_of, refusal, success
from emulators.aws.server.errors import AwsError
from emulators.aws.server.models import operation

MADE = datetime(2026, 11, 21, 12, tzinfo=UTC)


def described(service: str, name: str) -> Any:
    found = operation(service, name)
    assert found is not None
    return found


def test_an_answer_in_json_is_read_back_whole() -> None:
    cluster = {
        "name": "dev",
        "createdAt": MADE,
        "resourcesVpcConfig": {"subnetIds": ["a", "b"], "endpointPrivateAccess": True},
        "tags": {"a": "b"},
    }
    model = described("eks", "DescribeCluster")
    answer = success("rest-json", model, {"cluster": {**cluster, "version": None}})
    assert members_of("rest-json", model, answer) == {"cluster": cluster}


def test_an_answer_of_ec2_is_read_back_whole() -> None:
    group = {"GroupName": "near", "State": "available", "Tags": [{"Key": "a", "Value": "<b>"}]}
    model = described("ec2", "DescribePlacementGroups")
    assert members_of("ec2", model, success("ec2", model, {"PlacementGroups": [group]})) == {"PlacementGroups": [group]}


@pytest.mark.parametrize(
    ("protocol", "service", "name"),
    [
        ("ec2", "ec2", "DescribeVpcs"),
        ("query", "iam", "GetRole"),
        ("json", "kms", "DescribeKey"),
        ("rest-json", "eks", "DescribeCluster"),
    ],
)
def test_an_error_keeps_its_code_and_its_text_in_every_protocol(protocol: str, service: str, name: str) -> None:
    answer = refusal(protocol, AwsError("SomeException", 409, "a <b> & 'c'"))
    assert answer.status == 409
    error = members_of(protocol, described(service, name), answer)["Error"]
    assert (error["Code"], error["Message"]) == ("SomeException", "a <b> & 'c'")
