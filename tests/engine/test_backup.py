"""Backups of an EKS stack from their first `up` to their expiry, with the real engine and an emulator of AWS."""

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.aws_command import run_aws
from support.aws_emulator import Account, identities, writes
from support.lives import backups, hollow, kill
from support.sampled import sampled

pytestmark = [pytest.mark.engine, pytest.mark.full]

HARDEST = "backup:PutBackupVaultLockConfiguration"
"""The part that no later run can undo."""
PARTS = ("backup:CreateBackupPlan", "backup:CreateBackupSelection", HARDEST, "iam:AttachRolePolicy")

STACK = "dev"
UP = ("up", STACK, "--hermetic", "--yes")
VAULT = "aws:backup/vault:Vault"
KEPT = {
    VAULT,
    "aws:backup/vaultLockConfiguration:VaultLockConfiguration",
    "aws:iam/role:Role",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
}


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Account]:
    with hollow(Account, tmp_path, STACK, cluster__backup={}) as made:
        yield made


def changed(cloud: Account, last: int) -> set[str]:
    return {call.operation for call in writes(cloud.aws.calls(last))}


def test_backups_are_made_restored_kept_by_a_destroy_and_expire(cloud: Account) -> None:
    kill(cloud, STACK, "backup:CreateBackupVault")  # the one with an automatic name
    in_state, in_aws = identities(cloud, STACK)
    assert in_state == in_aws
    (vault,) = cloud.aws.inventory()[VAULT]
    assert backups(cloud, STACK, code=1) == []

    owned = [{"Key": "kubernetes.io/cluster/mlrun-dev", "Value": "owned"}]
    tagged = [{"ResourceType": "volume", "Tags": owned}]
    made = cloud.aws.api("ec2").create_volume(AvailabilityZone="eu-west-1a", Size=8, TagSpecifications=tagged)
    night = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert len(cloud.aws.run_backups(night)) == 1
    (backup,) = backups(cloud, STACK)
    assert [each["of"] for each in backup["volumes"]] == [made["VolumeId"]]
    printed = cloud.run("backup", "restore", STACK, backup["id"], "--hermetic").stdout
    assert json.loads(run_aws(cloud.aws, shlex.split(printed)[1:]))["RestoreJobId"]

    last = cloud.last
    cloud.edit(STACK, cluster__backup={"keepDays": 60, "every": "12h", "lock": True})
    cloud.run(*UP)
    assert changed(cloud, last) == {"backup:UpdateBackupPlan", "backup:PutBackupVaultLockConfiguration"}
    assert "no drift" in cloud.run("drift", STACK, "--hermetic").stdout.lower()
    last = cloud.last
    cloud.edit(STACK, cluster__backup={"keepDays": 60, "every": "12h"})
    cloud.run(*UP)
    assert changed(cloud, last) == set()  # the lock stays

    destroyed = cloud.destroy(STACK)
    assert f"Kept with the backups of '{STACK}', and how to delete each:" in destroyed.stderr
    assert f"- Vault {vault} (AVAILABLE): holds 3 recovery points, the last one until" in destroyed.stderr
    in_state, in_aws = identities(cloud, STACK)
    assert in_state == set()
    assert {each.partition(" ")[0] for each in in_aws} == KEPT

    cloud.edit(STACK, cluster__backup={})
    cloud.run(*UP)
    assert len(cloud.aws.inventory()[VAULT]) == 2
    assert [each["place"] for each in backups(cloud, STACK)] == [vault]
    cloud.aws.run_backups(night + timedelta(days=36, hours=1))
    assert backups(cloud, STACK, code=1) == []
    cloud.aws.api("backup").delete_backup_vault(BackupVaultName=vault)


@pytest.mark.parametrize("operation", sampled(PARTS, [HARDEST], others=pytest.mark.kills))
def test_an_up_that_is_killed_between_two_parts_is_recovered(cloud: Account, operation: str) -> None:
    cloud.edit(STACK, cluster__backup={"lock": True})
    kill(cloud, STACK, operation)
    in_state, in_aws = identities(cloud, STACK)
    assert in_state == in_aws
    last = cloud.last
    cloud.run(*UP)
    assert writes(cloud.aws.calls(last)) == []
