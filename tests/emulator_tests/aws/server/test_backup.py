"""AWS Backup as it is emulated: what a vault keeps, when rules are due, what expires and with which role."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import pytest

from emulators.aws.client import Emulator, running
from support.aws import refused
from support.aws_resources import trust
from support.eks_account import account

POLICY = "arn:aws:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup"
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Home:
    """An account with a cluster that is backed up every night."""

    aws: Emulator
    cluster: str
    role: str
    plan: str

    @cached_property
    def backup(self) -> Any:
        """AWS Backup's client."""
        return self.aws.api("backup")

    @property
    def arn(self) -> str:
        """The cluster's ARN."""
        return f"arn:aws:eks:eu-west-1:111122223333:cluster/{self.cluster}"

    def points(self, **wanted: str) -> list[dict[str, Any]]:
        """The recovery points of the vault."""
        found: list[dict[str, Any]] = self.backup.list_recovery_points_by_backup_vault(BackupVaultName="v-1", **wanted)[
            "RecoveryPoints"
        ]
        return found

    def volume(self, zone: str = "eu-west-1a") -> str:
        """Make a volume as the CSI driver of the cluster does."""
        owned = [{"Key": f"kubernetes.io/cluster/{self.cluster}", "Value": "owned"}]
        tagged = [{"ResourceType": "volume", "Tags": owned}]
        made: str = self.aws.api("ec2").create_volume(AvailabilityZone=zone, Size=8, TagSpecifications=tagged)[
            "VolumeId"
        ]
        return made

    def night(self) -> datetime:
        """Return the next time at which the plan is due."""
        now = datetime.now(UTC)
        return now.replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)


@pytest.fixture
def home() -> Iterator[Home]:
    # A server of its own, because its time is moved.
    with running() as aws:
        cluster, backup, iam = account(aws).cluster(), aws.api("backup"), aws.api("iam")
        role = iam.create_role(RoleName="backup", AssumeRolePolicyDocument=trust("backup.amazonaws.com"))["Role"]["Arn"]
        iam.attach_role_policy(RoleName="backup", PolicyArn=POLICY)
        backup.create_backup_vault(BackupVaultName="v-1")
        rule = {
            "RuleName": "cluster",
            "TargetBackupVaultName": "v-1",
            "ScheduleExpression": "cron(0 2 ? * * *)",
            "StartWindowMinutes": 60,
            "CompletionWindowMinutes": 120,
            "Lifecycle": {"DeleteAfterDays": 35},
        }
        plan = backup.create_backup_plan(BackupPlan={"BackupPlanName": "p", "Rules": [rule]})["BackupPlanId"]
        made = Home(aws, cluster, role, plan)
        chosen = {"SelectionName": "s", "IamRoleArn": role, "Resources": [made.arn]}
        backup.create_backup_selection(BackupPlanId=plan, BackupSelection=chosen)
        yield made


def test_a_plan_is_due_at_its_hour_and_makes_a_point_with_a_child_for_each_volume(home: Home) -> None:
    volume, night = home.volume(), home.night()
    assert home.aws.run_backups(night - HOUR) == []
    assert home.aws.run_backups(night) == [home.arn]
    (parent,) = [point for point in home.points() if point["IsParent"]]
    children = home.points(ByParentRecoveryPointArn=parent["RecoveryPointArn"])
    assert {each["ResourceType"] for each in children} == {"EKS", "EBS"}
    (nested,) = home.points(ByResourceType="EBS")
    assert nested["ResourceArn"].endswith(f"volume/{volume}")
    assert parent["CalculatedLifecycle"]["DeleteAt"] - parent["CreationDate"] == timedelta(days=35)
    assert parent["CreatedBy"]["BackupPlanId"] == home.plan


def test_a_vault_with_points_stays_and_a_point_with_nested_ones_too(home: Home) -> None:
    home.volume()
    home.aws.run_backups(home.night())
    with refused("InvalidRequestException"):
        home.backup.delete_backup_vault(BackupVaultName="v-1")
    (parent,) = [point["RecoveryPointArn"] for point in home.points() if point["IsParent"]]
    with refused("InvalidRequestException"):
        home.backup.delete_recovery_point(BackupVaultName="v-1", RecoveryPointArn=parent)
    (nested,) = [point["RecoveryPointArn"] for point in home.points(ByResourceType="EBS")]
    home.backup.delete_recovery_point(BackupVaultName="v-1", RecoveryPointArn=nested)
    home.backup.delete_recovery_point(BackupVaultName="v-1", RecoveryPointArn=parent)
    home.backup.delete_backup_vault(BackupVaultName="v-1")


def test_points_expire_with_their_role_and_stay_without_it(home: Home) -> None:
    night = home.night()
    home.aws.run_backups(night)
    home.aws.api("iam").detach_role_policy(RoleName="backup", PolicyArn=POLICY)
    home.aws.run_backups(night + timedelta(days=36, hours=1))
    assert {point["Status"] for point in home.points()} == {"EXPIRED"}
    home.aws.api("iam").attach_role_policy(RoleName="backup", PolicyArn=POLICY)
    home.aws.run_backups(night + timedelta(days=36, hours=2))
    assert home.points() == []


def test_a_locked_vault_keeps_its_points_and_takes_none_that_would_go_earlier(home: Home) -> None:
    home.aws.run_backups(home.night())
    home.backup.put_backup_vault_lock_configuration(BackupVaultName="v-1", MinRetentionDays=60)
    with refused("InvalidRequestException"):
        home.backup.delete_recovery_point(BackupVaultName="v-1", RecoveryPointArn=home.points()[0]["RecoveryPointArn"])
    wanted = {"BackupVaultName": "v-1", "ResourceArn": home.arn, "IamRoleArn": home.role}
    job = home.backup.start_backup_job(**wanted, Lifecycle={"DeleteAfterDays": 35})["BackupJobId"]
    assert home.backup.describe_backup_job(BackupJobId=job)["State"] == "FAILED"
    job = home.backup.start_backup_job(**wanted, Lifecycle={"DeleteAfterDays": 60})["BackupJobId"]
    assert home.backup.describe_backup_job(BackupJobId=job)["State"] == "COMPLETED"
    home.backup.delete_backup_vault_lock_configuration(BackupVaultName="v-1")
    assert not home.backup.describe_backup_vault(BackupVaultName="v-1")["Locked"]


def test_backups_take_their_time(home: Home) -> None:
    home.aws.set_scale(1)
    job = home.backup.start_backup_job(BackupVaultName="v-1", ResourceArn=home.arn, IamRoleArn=home.role)["BackupJobId"]
    assert home.backup.describe_backup_job(BackupJobId=job)["State"] == "RUNNING"
    assert home.points() == []
    home.aws.advance(HOUR.total_seconds())
    assert home.backup.describe_backup_job(BackupJobId=job)["State"] == "COMPLETED"


def test_what_is_in_use_stays_and_what_is_not_there_is_not_used(home: Home) -> None:
    with refused("InvalidRequestException"):
        home.backup.delete_backup_plan(BackupPlanId=home.plan)
    with refused("AlreadyExistsException"):
        home.backup.create_backup_vault(BackupVaultName="v-1")
    with refused("AccessDeniedException"):
        home.backup.describe_backup_vault(BackupVaultName="v-2")
    with refused("InvalidParameterValueException"):
        home.backup.create_backup_vault(BackupVaultName="v-2", EncryptionKeyArn="arn:aws:kms:eu-west-1:1:key/2")
    nobody = {"SelectionName": "t", "IamRoleArn": "arn:aws:iam::111122223333:role/nobody", "Resources": [home.arn]}
    with refused("InvalidParameterValueException"):
        home.backup.create_backup_selection(BackupPlanId=home.plan, BackupSelection=nobody)


def restored(home: Home, point: str, **metadata: str) -> str:
    made = home.backup.start_restore_job(RecoveryPointArn=point, IamRoleArn=home.role, Metadata=metadata)
    return str(made["RestoreJobId"])


def test_a_volume_comes_back_in_the_zone_that_is_asked_for_and_with_its_tags_on_demand(home: Home) -> None:
    home.volume("eu-west-1b")
    home.aws.run_backups(home.night())
    (nested,) = [point["RecoveryPointArn"] for point in home.points(ByResourceType="EBS")]
    owned = [{"Key": f"kubernetes.io/cluster/{home.cluster}", "Value": "owned"}]
    wanted = {"availabilityZone": "eu-west-1c", "volumeType": "gp3"}
    for is_tagged in (False, True):
        made = home.backup.start_restore_job(
            RecoveryPointArn=nested,
            IamRoleArn=home.role,
            Metadata=wanted,
            CopySourceTagsToRestoredResource=is_tagged,
        )
        job = home.backup.describe_restore_job(RestoreJobId=made["RestoreJobId"])
        name = job["CreatedResourceArn"].rpartition("/")[2]
        (volume,) = home.aws.api("ec2").describe_volumes(VolumeIds=[name])["Volumes"]
        found = (job["Status"], volume["AvailabilityZone"], volume["VolumeType"])
        assert found == ("COMPLETED", "eu-west-1c", "gp3")
        assert volume.get("Tags", []) == (owned if is_tagged else [])
    with refused("InvalidParameterValueException"):
        restored(home, nested, availabilityZone="eu-west-9a")


def test_a_cluster_comes_back_whole_or_by_namespaces_with_its_volumes(home: Home) -> None:
    home.volume()
    home.aws.run_backups(home.night())
    (parent,) = [point["RecoveryPointArn"] for point in home.points() if point["IsParent"]]
    (nested,) = [point["RecoveryPointArn"] for point in home.points(ByResourceType="EBS")]
    into = {"clusterName": home.cluster, "newCluster": "false"}
    some = {"namespaceLevelRestore": "true", "namespaces": json.dumps(["mlrun"])}
    zone = {"nestedRestoreJobs": json.dumps({nested: json.dumps({"AvailabilityZone": "eu-west-1b"})})}
    for metadata in (into, {**into, **some}, {**into, **some, **zone}):
        job = restored(home, parent, **metadata)
        assert home.backup.describe_restore_job(RestoreJobId=job)["CreatedResourceArn"] == home.arn
        (child,) = home.backup.list_restore_jobs(ByParentJobId=job)["RestoreJobs"]
        assert child["CreatedResourceArn"].partition("volume/")[2].startswith("vol-")


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"clusterName": "other"},
        {"namespaceLevelRestore": "true"},
        {"namespaces": '["mlrun"]'},
        {"namespaceLevelRestore": "true", "namespaces": json.dumps(list("abcdef"))},
        {"nestedRestoreJobs": '{"arn:aws:ec2:eu-west-1::snapshot/snap-1": "{}"}'},
        {"restoreType": "EXISTING_CLUSTER"},
    ],
)
def test_what_a_restore_cannot_take_is_refused(home: Home, metadata: dict[str, str]) -> None:
    home.aws.run_backups(home.night())
    (parent,) = [point["RecoveryPointArn"] for point in home.points() if point["IsParent"]]
    into = {"clusterName": home.cluster} if metadata else {}
    with refused("InvalidParameterValueException"):
        restored(home, parent, **{**into, **metadata})


def test_tags_of_eks_and_of_aws_backup_have_one_path_and_are_told_apart(home: Home) -> None:
    (vault,) = home.backup.list_backup_vaults()["BackupVaultList"]
    home.backup.tag_resource(ResourceArn=vault["BackupVaultArn"], Tags={"team": "ml"})
    home.aws.api("eks").tag_resource(resourceArn=home.arn, tags={"team": "other"})
    assert home.backup.list_tags(ResourceArn=vault["BackupVaultArn"])["Tags"] == {"team": "ml"}
    home.backup.untag_resource(ResourceArn=vault["BackupVaultArn"], TagKeyList=["team"])
    assert home.backup.list_tags(ResourceArn=vault["BackupVaultArn"])["Tags"] == {}
    assert home.aws.api("eks").list_tags_for_resource(resourceArn=home.arn)["tags"]["team"] == "other"
