"""docs/backup.md: a volume of MLRun's database and namespaces are restored by the commands there, line by line."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.cloud_account import CloudAccount
from support.lives import SMALL
from support.runbooks import assert_shown, execute, named
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

PAGE: Final = PROJECT_ROOT / "docs/backup.md"
TEXT: Final = PAGE.read_text()
OLD: Final = "old-mlrun-db"
DATABASE: Final[tuple[dict[str, Any], ...]] = (
    {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "mlrun-db-pvc", "namespace": "mlrun"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "gp3",
            "volumeName": OLD,
            "resources": {"requests": {"storage": "8Gi"}},
        },
    },
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "mlrun-db", "namespace": "mlrun"},
        "spec": {
            "replicas": 0,  # what a pod does is not tried
            "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "db", "image": "mysql"}]},
            },
        },
    },
)
"""Of MLRun's database what the runbook is about."""


def blocks(title: str) -> dict[str, str]:
    """Return the blocks of a section by their language."""
    section = next(each for each in re.split(r"^##+ ", TEXT, flags=re.MULTILINE) if each.startswith(f"{title}\n"))
    return dict(re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))


def volume_in(volume: str) -> dict[str, Any]:
    """Return what the CSI driver makes of a volume in AWS, bound to the claim of the database."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": OLD},
        "spec": {
            "capacity": {"storage": "8Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "gp3",
            "claimRef": {"namespace": "mlrun", "name": "mlrun-db-pvc"},
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": volume, "fsType": "ext4"},
        },
    }


@pytest.fixture(scope="module")
def volume() -> list[str]:
    """Return where the id of the volume of the database is put."""
    return []


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory, volume: list[str]) -> Iterator[Account]:
    """The smallest stack, with a database, after a night with a backup."""
    with Account.opened(tmp_path_factory.mktemp("backup"), "dev", is_quick=True) as made:
        made.edit("dev", policyGuard="off", cluster__backup={}, **SMALL)
        made.plain("dev", "up", "--yes", "--skip-preview")
        owned = [{"Key": "kubernetes.io/cluster/mlrun-dev", "Value": "owned"}]
        of_driver = made.aws.api("ec2").create_volume(
            AvailabilityZone="eu-west-1b", Size=8, TagSpecifications=[{"ResourceType": "volume", "Tags": owned}]
        )
        volume.append(of_driver["VolumeId"])
        for each in (volume_in(volume[0]), *DATABASE):
            made.kubectl("apply", "-f", "-", stdin=json.dumps(each))
        night = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)
        assert len(made.aws.run_backups(night)) == 1
        yield made


def walk(dev: CloudAccount, title: str, learned: dict[str, str]) -> dict[str, str]:
    """Run a section's lines; what each prints gives names to later ones, by patterns for the names."""
    found, printed = blocks(title), ""
    names: dict[str, str] = {}
    for line in found["sh"].splitlines():
        restored = {"restored.yaml": named(found.get("yaml", ""), names)}
        printed += execute(dev, named(line, names), restored)
        for name, pattern in learned.items():
            if name not in names and (match := re.search(pattern, printed)):
                names[name] = match[1]
    assert_shown(found["text"].splitlines(), printed)
    assert names.keys() == learned.keys(), printed
    return names


def test_a_volume_comes_back_beside_the_old_one_and_its_claim_is_bound_to_it(dev: Account, volume: list[str]) -> None:
    learned = {
        "OLD": rf"({OLD})",
        "SNAPSHOT": rf"{volume[0]}: (\S+)",
        "JOB": r'"RestoreJobId": "([^"]+)"',
        "VOLUME": r"volume/(vol-\w+)",
        "ZONE": r'"(eu-west-1[a-c])"',
    }
    names = walk(dev, "Restore one volume", learned)
    made = dev.aws.api("ec2").describe_volumes(VolumeIds=[names["VOLUME"]])["Volumes"][0]
    assert (made["SnapshotId"], made["AvailabilityZone"]) == (names["SNAPSHOT"].rpartition("/")[2], "eu-west-1b")
    claim = json.loads(dev.kubectl("-n", "mlrun", "get", "pvc", "mlrun-db-pvc", "-o", "json"))
    assert (claim["spec"]["volumeName"], claim["status"]["phase"]) == ("restored-mlrun-db", "Bound")
    bound = json.loads(dev.kubectl("get", "pv", "restored-mlrun-db", "-o", "json"))
    assert bound["spec"]["csi"]["volumeHandle"] == names["VOLUME"] != volume[0]
    kept = json.loads(dev.kubectl("get", "pv", OLD, "-o", "json"))
    assert (kept["status"]["phase"], kept["spec"]["csi"]["volumeHandle"]) == ("Released", volume[0])


def test_a_namespace_comes_back_while_no_pod_of_it_starts(dev: Account) -> None:
    learned = {"BACKUP": r"  (arn:\S+:composite:\S+)", "JOB": r'"RestoreJobId": "([^"]+)"'}
    names = walk(dev, "Restore a namespace", learned)
    job = dev.aws.api("backup").describe_restore_job(RestoreJobId=names["JOB"])
    assert job["RecoveryPointArn"] == names["BACKUP"]
    assert "restoring" not in dev.kubectl("-n", "mlrun", "get", "quota")
    assert "no drift" in dev.run("drift", "dev", "--hermetic").stdout.lower()


@pytest.fixture(scope="module")
def aks_dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subscription]:
    """The smallest stack on AKS after a night with a backup."""
    with Subscription.opened(tmp_path_factory.mktemp("aks-backup"), "aks-dev", is_quick=True) as made:
        made.edit("aks-dev", policyGuard="off", cluster__backup={}, **SMALL)
        made.plain("aks-dev", "up", "--yes", "--skip-preview")
        night = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) + timedelta(days=1)
        assert len(made.azure.run_backups(night)) == 1
        yield made


def test_a_namespace_of_aks_comes_back_while_no_pod_of_it_starts(aks_dev: Subscription) -> None:
    last = aks_dev.last
    names = walk(aks_dev, "Restore a namespace on AKS", {"BACKUP": r"  (/subscriptions/\S+/recoveryPoints/\w+)"})
    (asked,) = [each.params["body"] for each in aks_dev.azure.calls(last) if each.operation.endswith("/restore/action")]
    assert asked["recoveryPointId"] == names["BACKUP"].rpartition("/")[2]
    (criteria,) = asked["restoreTargetInfo"]["restoreCriteria"]
    assert criteria["includedNamespaces"] == ["mlrun"]
    assert "restoring" not in aks_dev.kubectl("-n", "mlrun", "get", "quota")
    assert "no drift" in aks_dev.run("drift", "aks-dev", "--hermetic").stdout.lower()
