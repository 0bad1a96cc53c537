"""Backups of an AKS stack from their first `up` to a cluster that comes back, with the real engine and an emulator."""

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.azure_command import run_az
from support.azure_emulator import Subscription
from support.lives import backups, bring_up, hollow, identities, kill

pytestmark = [pytest.mark.engine, pytest.mark.full]

STACK = "aks-dev"
UP = ("up", STACK, "--hermetic", "--yes")
PROTECTION = "azure-native:dataprotection:Backup"
POLICY = f"{PROTECTION}Policy"
KEPT = [
    f"{PROTECTION}Instance",
    *(POLICY, POLICY),  # that of the schedule before too
    f"{PROTECTION}Vault",
    *("azure-native:resources:ResourceGroup", "azure-native:resources:ResourceGroup"),
    "azure-native:storage:BlobContainer",
    "azure-native:storage:StorageAccount",
]


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Subscription]:
    with hollow(Subscription, tmp_path, STACK, cluster__backup={}) as made:
        yield made


def test_backups_are_made_restored_kept_by_a_destroy_and_found_again(cloud: Subscription) -> None:
    kill(cloud, STACK, "Microsoft.DataProtection/backupVaults/write")
    in_state, in_azure = identities(cloud, STACK)
    assert in_state == in_azure
    assert backups(cloud, STACK, code=1) == []
    night = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert len(cloud.azure.run_backups(night)) == 1
    (backup,) = backups(cloud, STACK)

    printed = cloud.run("backup", "restore", STACK, backup["id"], "--namespace", "mlrun", "--hermetic").stdout
    program, *words = shlex.split(printed)
    assert program == "az"
    run_az(cloud.azure, words)

    written = bring_up(cloud, STACK, cluster__backup={"keepDays": 60})
    assert written == [
        f"Microsoft.DataProtection/backupVaults/backup{each}/write" for each in ("Instances", "Policies")
    ]
    in_state, in_azure = identities(cloud, STACK)
    (before,) = in_azure - in_state
    assert before.endswith("/every-day-at-02-kept-35d")
    assert len(cloud.azure.run_backups(night + timedelta(days=1))) == 1
    newest, oldest = backups(cloud, STACK)
    assert oldest == backup
    assert datetime.fromisoformat(newest["until"]) == night + timedelta(days=61)

    destroyed = cloud.destroy(STACK)
    assert f"Kept with the backups of '{STACK}', and how to delete each:" in destroyed.stderr
    in_state, in_azure = identities(cloud, STACK)
    assert in_state == set()
    assert sorted(each.partition(" ")[0] for each in in_azure) == KEPT

    assert cloud.run(*UP, check=False).returncode != 0  # the provider takes over nothing that is there
    cloud.run("recover", STACK, "--hermetic", "--yes")
    cloud.run(*UP)
    in_state, in_azure = identities(cloud, STACK)
    assert in_state | {before} == in_azure
    assert backups(cloud, STACK) == [newest, oldest]
    assert len(cloud.azure.run_backups(night + timedelta(days=2))) == 1, "the account lets the new subnet in"
