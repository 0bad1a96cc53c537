"""Shared storage on both emulators: made, changed, killed on the way, and gone; and a whole stack that ends."""

from collections.abc import Mapping
from typing import Any

import pytest

from emulators.azure.client import Emulator
from support import azure_emulator
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.lives import bring_up, identities, kill
from workbench.offline.azure.facts import resource

pytestmark = [pytest.mark.engine, pytest.mark.full]

CORPUS: dict[str, Any] = {"purpose": "dataset", "type": "files"}
CORE: dict[str, Any] = {"mlrun": {"coreServices": True}}


def jobs(**volumes: Mapping[str, Any]) -> dict[str, Any]:
    return {**CORE, "jobs": {"volumes": volumes}}


FILES, POINT = "aws:efs/fileSystem:FileSystem", "aws:efs/accessPoint:AccessPoint"


def test_file_systems_live_in_aws(aws: Account) -> None:
    shared = {"storage": "corpus"}
    bring_up(aws, "dev", storage={"corpus": CORPUS}, namespaces=jobs(shared=shared))
    efs = aws.aws.api("efs")
    [files] = efs.describe_file_systems()["FileSystems"]
    assert efs.describe_backup_policy(FileSystemId=files["FileSystemId"])["BackupPolicy"]["Status"] == "ENABLED"
    [point] = efs.describe_access_points(FileSystemId=files["FileSystemId"])["AccessPoints"]
    assert point["RootDirectory"]["Path"] == "/ns/jobs/shared"

    assert bring_up(aws, "dev", namespaces=jobs(shared=shared, more=shared)) == ["efs:CreateAccessPoint"]
    assert bring_up(aws, "dev", storage={"corpus": {**CORPUS, "backups": False}}) == ["efs:PutBackupPolicy"]
    assert bring_up(aws, "dev", namespaces=jobs(shared=shared)) == ["efs:DeleteAccessPoint"]
    assert efs.describe_file_systems()["FileSystems"][0]["FileSystemId"] == files["FileSystemId"]

    aws.edit("dev", storage={"corpus": CORPUS, "fast": {"purpose": "scratch", "type": "files"}})
    kill(aws, "dev", "efs:CreateFileSystem")
    assert len(efs.describe_file_systems()["FileSystems"]) == 2
    in_state, in_aws = identities(aws, "dev")
    assert in_state == in_aws

    bring_up(aws, "dev", storage=None, namespaces=CORE)
    assert not aws.aws.inventory().keys() & {FILES, POINT}


FAST: dict[str, Any] = {"purpose": "dataset", "type": "lustre", "sizeGib": 2400, "zone": "a"}


def test_a_lustre_file_system_lives_in_aws(aws: Account) -> None:
    bring_up(aws, "dev", storage={"fast": FAST}, namespaces=jobs(data={"storage": "fast"}))
    fsx = aws.aws.api("fsx")
    [files] = fsx.describe_file_systems()["FileSystems"]
    assert files["LustreConfiguration"]["AutomaticBackupRetentionDays"] == 14
    assert (files["StorageCapacity"], files["LustreConfiguration"]["DeploymentType"]) == (2400, "PERSISTENT_2")

    larger = {**FAST, "sizeGib": 4800}
    assert bring_up(aws, "dev", storage={"fast": larger}) == ["fsx:UpdateFileSystem"]
    bring_up(aws, "dev", storage={"fast": {**larger, "purpose": "scratch"}})
    [changed] = fsx.describe_file_systems()["FileSystems"]
    assert (changed["FileSystemId"], changed["StorageCapacity"]) == (files["FileSystemId"], 4800)
    assert changed["LustreConfiguration"]["AutomaticBackupRetentionDays"] == 0

    aws.edit("dev", storage={"fast": larger, "near": {**FAST, "purpose": "scratch", "zone": "b"}})
    kill(aws, "dev", "fsx:CreateFileSystem")
    assert len(fsx.describe_file_systems()["FileSystems"]) == 2
    in_state, in_aws = identities(aws, "dev")
    assert in_state == in_aws

    bring_up(aws, "dev", storage=None, namespaces=CORE)
    assert not fsx.describe_file_systems()["FileSystems"]
    in_state, in_aws = identities(aws, "dev")
    assert in_state == in_aws


ACCOUNT, SERVICE, SHARE = (
    f"Microsoft.Storage/storageAccounts{each}" for each in ("", "/fileServices", "/fileServices/shares")
)
SUBNET = "Microsoft.Network/virtualNetworks/subnets"
IN_STATE = "azure-native:storage:FileShare"


def properties(emulator: Emulator, type_: str) -> dict[str, Any]:
    """Return what Azure tells of the only thing of a type."""
    [id_] = emulator.inventory()[type_]
    found: dict[str, Any] = emulator.ask("GET", id_, resource(type_).api_version).body["properties"]
    return found


def test_file_shares_live_in_azure(azure: Subscription) -> None:
    shared = {"storage": "corpus", "sizeGib": 200}
    bring_up(azure, "aks-dev", storage={"corpus": CORPUS}, namespaces=jobs(shared=shared))
    assert properties(azure.azure, IN_STATE)["shareQuota"] == 200
    service = "azure-native:storage:FileServiceProperties"
    assert properties(azure.azure, service)["shareDeleteRetentionPolicy"] == {"enabled": True, "days": 14}

    larger = {**shared, "sizeGib": 400}
    assert bring_up(azure, "aks-dev", namespaces=jobs(shared=larger)) == [f"{SHARE}/write"]
    assert bring_up(azure, "aks-dev", storage={"corpus": {**CORPUS, "backups": False}}) == [f"{SERVICE}/write"]
    assert properties(azure.azure, service)["shareDeleteRetentionPolicy"] == {"enabled": False}
    assert bring_up(azure, "aks-dev", storage={"corpus": {**CORPUS, "purpose": "home"}}) == [
        f"{SERVICE}/write",
        f"{ACCOUNT}/write",
    ]

    gone = bring_up(azure, "aks-dev", storage=None, namespaces=CORE)
    assert [gone.count(each) for each in (f"{ACCOUNT}/delete", f"{SHARE}/delete", f"{SUBNET}/write")] == [1, 1, 1]
    assert IN_STATE not in azure.azure.inventory()

    azure.edit("aks-dev", storage={"corpus": CORPUS}, namespaces=jobs(shared=larger, more=shared))
    kill(azure, "aks-dev", f"{SHARE}/write")
    azure.edit("aks-dev", storage={"corpus": CORPUS, "fast": {"purpose": "scratch", "type": "files"}})
    kill(azure, "aks-dev", f"{ACCOUNT}/write")
    azure.edit("aks-dev", storage={"corpus": CORPUS, "fast": {"purpose": "scratch", "type": "files", "backups": True}})
    kill(azure, "aks-dev", f"{SERVICE}/write")
    in_state, in_azure = identities(azure, "aks-dev")
    assert in_state == in_azure
    assert len(azure.azure.inventory()[IN_STATE]) == 2
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())
