import pytest

from emulators.aws.client import Emulator
from emulators.aws.provider import AwsEmulator
from emulators.aws.resources.connection import ADDRESS_VARIABLE
from support.aws_resources import CLUSTER, GROUP, ROLE
from workbench.offline.provider import CloudError, Existing, RefusedError

VPC = "aws:ec2/vpc:Vpc"


@pytest.mark.parametrize("address", ["", "https://ec2.eu-west-1.amazonaws.com", "http://10.0.0.1:5000"])
def test_it_talks_to_nobody_but_this_machine(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, address)
    with pytest.raises(RefusedError, match=ADDRESS_VARIABLE):
        AwsEmulator().create(VPC, "main", {"cidrBlock": "10.0.0.0/16"})


def test_another_account_is_refused_as_by_the_real_plug_in(aws: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, aws.address)
    AwsEmulator().configure({"allowedAccountIds": '["111122223333"]'})
    with pytest.raises(CloudError, match=r"^AWS account ID not allowed: 111122223333$"):
        AwsEmulator().configure({"allowedAccountIds": '["999999999999"]'})


def test_a_type_that_nobody_described_is_refused(aws: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, aws.address)
    with pytest.raises(RefusedError, match=r"cannot make aws:s3/bucket:Bucket"):
        AwsEmulator().read(Existing("aws:s3/bucket:Bucket", "main", "x"))


@pytest.mark.parametrize(
    ("type_", "old", "new", "changed"),
    [
        (GROUP, {"diskSize": 20, "version": "1.34"}, {"version": "1.34"}, []),
        (GROUP, {"launchTemplate": {"id": "a", "name": "b", "version": "1"}},
         {"launchTemplate": {"id": "a", "version": "1"}}, []),
        (GROUP, {"labels": {"a": "1"}}, {}, ["labels"]),
        (CLUSTER, {"deletionProtection": False}, {}, []),
        (ROLE, {"assumeRolePolicy": '{"a": 1, "b": 2}'}, {"assumeRolePolicy": '{"b":2,"a":1}'}, []),
        (ROLE, {"assumeRolePolicy": '{"a": 1}'}, {"assumeRolePolicy": '{"a": 2}'}, ["assumeRolePolicy"]),
    ],
)  # fmt: skip
def test_what_the_program_leaves_to_aws_is_no_change(
    type_: str, old: dict[str, object], new: dict[str, object], changed: list[str]
) -> None:
    assert list(AwsEmulator().compare(type_, old, new, filled=frozenset()).kinds) == changed
