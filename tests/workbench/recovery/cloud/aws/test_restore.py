"""Backups that AWS Backup made of a cluster are listed, and the printed commands restore them."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from emulators.aws.client import Emulator, running
from support.aws_cloud_resources import account_at, build_in_aws
from support.aws_command import run_aws
from workbench.recovery.cloud.aws.account import AwsAccount
from workbench.recovery.cloud.aws.tagged_resources import tagged_resources
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.system.errors import UserError

NIGHT = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)


@dataclass
class Backed:
    """A stack whose cluster was backed up once, with one volume."""

    emulator: Emulator
    account: AwsAccount
    volume: str

    @property
    def point(self) -> RecoveryPoint:
        """Its only backup."""
        (found,) = self.account.recovery_points()
        return found

    def restored(self, point: RecoveryPoint, *, namespaces: tuple[str, ...] = (), zone: str = "") -> dict[str, Any]:
        """Run the printed command with the stack's role for restores, and return the job."""
        roles = boto3.client("iam").list_roles()["Roles"]
        (role,) = (each["Arn"] for each in roles if each["RoleName"].startswith("test-backup-restore"))
        printed = self.account.restore_command(point, role, namespaces=namespaces, zone=zone)
        job = json.loads(run_aws(self.emulator, shlex.split(printed)[1:]))["RestoreJobId"]
        found: dict[str, Any] = boto3.client("backup").describe_restore_job(RestoreJobId=job)
        return found


@pytest.fixture(scope="module")
def backed() -> Iterator[Backed]:
    with running() as emulator, pytest.MonkeyPatch.context() as patch:
        account = account_at(emulator, patch)
        build_in_aws({"cluster.backup": {}})
        tags = {"ebs.csi.aws.com/cluster": "true", f"kubernetes.io/cluster/{account.cluster}": "owned"}
        named = [{"Key": key, "Value": value} for key, value in tags.items()]
        volume = boto3.client("ec2").create_volume(
            AvailabilityZone="eu-west-1b", Size=8, TagSpecifications=[{"ResourceType": "volume", "Tags": named}]
        )["VolumeId"]
        emulator.run_backups(NIGHT)
        yield Backed(emulator, account, volume)


def test_a_backup_is_listed_with_those_of_its_volumes(backed: Backed) -> None:
    point = backed.point
    assert (point.of, point.state, point.made) == ("research", "COMPLETED", NIGHT)
    assert point.until == NIGHT + timedelta(days=35)
    assert [volume.of for volume in point.volumes] == [backed.volume]


def test_another_stack_or_cluster_has_none(backed: Backed) -> None:
    assert replace(backed.account, stack="another").recovery_points() == []
    assert replace(backed.account, cluster="another").recovery_points() == []


def test_what_a_destroy_keeps_says_until_when(backed: Backed) -> None:
    (vault,) = (each for each in tagged_resources(backed.account) if each.type.startswith("aws:backup/vault"))
    until = NIGHT + timedelta(days=35)
    assert vault.kept == f"holds 3 recovery points, the last one until {until:%Y-%m-%d}; it can be deleted after that"


def test_a_cluster_comes_back_whole_or_by_namespaces(backed: Backed) -> None:
    for namespaces in ((), ("mlrun", "jobs")):
        job = backed.restored(backed.point, namespaces=namespaces)
        assert (job["Status"], job["ResourceType"]) == ("COMPLETED", "EKS")
        assert job["CreatedResourceArn"].endswith(":cluster/research")


@pytest.mark.parametrize(("zone", "expected"), [("", "eu-west-1b"), ("c", "eu-west-1c")])
def test_a_volume_comes_back_in_its_zone_or_another(backed: Backed, zone: str, expected: str) -> None:
    job = backed.restored(backed.point.volumes[0], zone=zone)
    made = job["CreatedResourceArn"].rpartition("/")[2]
    (volume,) = boto3.client("ec2").describe_volumes(VolumeIds=[made])["Volumes"]
    assert (volume["AvailabilityZone"], volume["Size"], volume["VolumeType"]) == (expected, 8, "gp3")
    # AmazonEBSCSIDriverPolicyV2 lets the driver attach no other.
    assert {"Key": "ebs.csi.aws.com/cluster", "Value": "true"} in volume["Tags"]


def test_files_come_back_beside_those_that_are_there(backed: Backed) -> None:
    files = replace(backed.point.volumes[0], id="point-1", of="fs-0123456789abcdef0")
    printed = shlex.split(backed.account.restore_command(files, "role", namespaces=(), zone=""))
    options = dict(zip(printed[3::2], printed[4::2], strict=True))
    assert options["--resource-type"] == "EFS"
    metadata = json.loads(options["--metadata"])
    assert (metadata["file-system-id"], metadata["newFileSystem"]) == ("fs-0123456789abcdef0", "false")
    with pytest.raises(UserError, match="--zone: the file system fs-0123456789abcdef0 is in all zones"):
        backed.account.restore_command(files, "role", namespaces=(), zone="a")


def test_a_volume_that_is_gone_comes_back_in_a_zone_that_is_named(backed: Backed) -> None:
    gone = replace(backed.point.volumes[0], of="vol-0123456789abcdef0")
    with pytest.raises(UserError, match="vol-0123456789abcdef0 is gone, and its backup does not say in which zone"):
        backed.restored(gone)
    assert backed.restored(gone, zone="a")["Status"] == "COMPLETED"


def test_restores_are_listed_newest_first_and_those_inside_one_are_part_of_it(backed: Backed) -> None:
    before = {each.id for each in backed.account.restore_jobs()}
    made = [backed.restored(backed.point), backed.restored(backed.point.volumes[0])]
    jobs = [each for each in backed.account.restore_jobs() if each.id not in before]
    assert {(each.id, each.of) for each in jobs} == {
        (made[0]["RestoreJobId"], "research"),
        (made[1]["RestoreJobId"], backed.volume),
    }
    assert {(each.state, each.is_restored) for each in jobs} == {("COMPLETED", True)}
    assert all(each.ended and each.ended >= each.begun for each in jobs)
    begun = [each.begun for each in backed.account.restore_jobs()]
    assert begun == sorted(begun, reverse=True)
    assert replace(backed.account, stack="another").restore_jobs() == []
