from functools import cache
from typing import Any

import pytest

from components.contract.aks.descriptor import AKS
from support.aks import CLUSTER, EXISTING, SUBNET, SUBNET_ID, build, built
from support.recorder import Recorder

ACCOUNT = "azure-native:storage:StorageAccount"
SERVICE = "azure-native:storage:FileServiceProperties"
SHARE = "azure-native:storage:FileShare"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"

CORPUS = {"purpose": "dataset", "type": "files"}
CHANGES: dict[str, Any] = {
    "storage": {"corpus": CORPUS, "temporary": {"purpose": "scratch", "type": "files"}},
    "namespaces": {
        "a": {"volumes": {"b-c": {"storage": "corpus", "sizeGib": 200}}},
        "a-b": {"volumes": {"c": {"storage": "corpus", "sizeGib": 100}, "w": {"storage": "temporary", "sizeGib": 500}}},
    },
}


@cache
def stored(environment: str = "prod") -> Recorder:
    return build({"environment": environment, **CHANGES})


def test_a_stack_without_shared_storage_makes_nothing_for_it() -> None:
    assert not any(each.type.startswith("azure-native:storage:") for each in built().resources)
    assert not built().of_type(VOLUME)
    assert "serviceEndpoints" not in built().of_type(SUBNET)["test-network-nodes"]


def test_an_account_admits_the_nodes_subnet_with_tls_and_nothing_else() -> None:
    for account in stored().of_type(ACCOUNT).values():
        assert (account["kind"], account["sku"]) == ("FileStorage", {"name": "Premium_ZRS"})
        assert account["enableHttpsTrafficOnly"] is True
        assert account["allowSharedKeyAccess"] is account["allowBlobPublicAccess"] is False
        assert account["networkRuleSet"] == {
            "defaultAction": "Deny",
            "bypass": "None",
            "virtualNetworkRules": [{"virtualNetworkResourceId": SUBNET_ID, "action": "Allow"}],
        }
    assert stored().of_type(SUBNET)["test-network-nodes"]["serviceEndpoints"] == [{"service": "Microsoft.Storage"}]


def test_an_existing_network_is_admitted_and_not_changed() -> None:
    elsewhere = build({"cluster.network": EXISTING, **CHANGES})
    assert not elsewhere.of_type(SUBNET)
    for account in elsewhere.of_type(ACCOUNT).values():
        [rule] = account["networkRuleSet"]["virtualNetworkRules"]
        assert rule["virtualNetworkResourceId"] == EXISTING["nodeSubnetId"]


def test_names_are_those_that_azure_takes_and_two_namespaces_never_share_one() -> None:
    accounts = [account["accountName"] for account in stored().of_type(ACCOUNT).values()]
    assert all(3 <= len(name) <= 24 and name.isalnum() and name.islower() for name in accounts)
    shares = {name: share["shareName"] for name, share in stored().of_type(SHARE).items()}
    assert shares["test-storage-corpus.a.b-c"] != shares["test-storage-corpus.a-b.c"]
    assert all(name.startswith("a-b-c-") for key, name in shares.items() if not key.endswith(".w"))


@pytest.mark.parametrize(
    ("environment", "key", "is_protected"),
    [("prod", "corpus", True), ("prod", "temporary", False), ("dev", "corpus", False)],
)
def test_production_protects_what_nobody_can_compute_again(environment: str, key: str, is_protected: bool) -> None:
    options = stored(environment).options
    share = {"corpus": "corpus.a.b-c", "temporary": "temporary.a-b.w"}[key]
    assert bool(options[ACCOUNT, f"test-storage-{key}"].protect) is is_protected
    assert bool(options[SHARE, f"test-storage-{share}"].protect) is is_protected


def test_deleted_shares_are_kept_where_their_data_is() -> None:
    kept, scratch = (stored().of_type(SERVICE)[f"test-storage-{key}"] for key in ("corpus", "temporary"))
    assert kept["shareDeleteRetentionPolicy"] == {"enabled": True, "days": 14}
    assert scratch["shareDeleteRetentionPolicy"] == {"enabled": False}
    without = build({**CHANGES, "storage.corpus": {**CORPUS, "backups": False}})
    assert without.of_type(SERVICE)["test-storage-corpus"]["shareDeleteRetentionPolicy"] == {"enabled": False}


def test_a_region_without_zones_of_files_can_have_local_copies() -> None:
    local = build({**CHANGES, "storage.corpus": {**CORPUS, "redundancy": "local"}}).of_type(ACCOUNT)
    assert {name: account["sku"]["name"] for name, account in local.items()} == {
        "test-storage-corpus": "Premium_LRS",
        "test-storage-temporary": "Premium_ZRS",
    }


def test_a_share_is_as_large_as_its_volume() -> None:
    assert {name: share["shareQuota"] for name, share in stored().of_type(SHARE).items()} == {
        "test-storage-corpus.a.b-c": 200,
        "test-storage-corpus.a-b.c": 100,
        "test-storage-temporary.a-b.w": 500,
    }
    assert {share["enabledProtocols"] for share in stored().of_type(SHARE).values()} == {"NFS"}


def test_a_volume_in_another_storage_has_another_share_so_that_the_engine_keeps_the_protected_one() -> None:
    moved = build({"environment": "prod", **CHANGES, "namespaces.a.volumes.b-c.storage": "temporary"})
    assert "test-storage-corpus.a.b-c" not in moved.of_type(SHARE)
    assert "test-storage-temporary.a.b-c" in moved.of_type(SHARE)


def test_a_volume_is_mounted_by_nfs_with_tls_and_needs_no_key() -> None:
    account = stored().of_type(ACCOUNT)["test-storage-corpus"]
    share = stored().of_type(SHARE)["test-storage-corpus.a.b-c"]
    volume, claim = stored().of_type(VOLUME)["igz-a.b-c"]["spec"], stored().of_type(CLAIM)["igz-a.b-c"]["spec"]
    assert volume["csi"] == {
        "driver": "file.csi.azure.com",
        "volumeHandle": f"{account['accountName']}_{share['shareName']}",
        "volumeAttributes": {
            "resourceGroup": "research",
            "storageAccount": account["accountName"],
            "shareName": share["shareName"],
            "protocol": "nfs",
            "encryptInTransit": "true",
        },
    }
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("a", "b-c")
    assert (claim["volumeName"], claim["accessModes"]) == ("igz-a.b-c", ["ReadWriteMany"])
    assert volume["storageClassName"] == claim["storageClassName"] == "igz-corpus"


def test_a_class_has_the_volumes_of_the_stack_file_and_makes_no_others() -> None:
    classes = stored().of_type(STORAGE_CLASS)
    for name, policy in (("igz-corpus", "Retain"), ("igz-temporary", "Delete")):
        assert classes[name]["provisioner"] == "kubernetes.io/no-provisioner"
        assert (classes[name]["reclaimPolicy"], classes[name]["volumeBindingMode"]) == (policy, "Immediate")
    assert not AKS.provisioned


def test_shares_stay_when_their_cluster_is_replaced_and_volumes_follow_it() -> None:
    cluster = (CLUSTER, "test-cluster")
    assert cluster in stored().options[VOLUME, "igz-a.b-c"].replaced_with
    assert cluster not in stored().options[SHARE, "test-storage-corpus.a.b-c"].replaced_with


def test_a_share_goes_after_its_claim_which_waits_for_the_pods_that_mount_it() -> None:
    options = stored().options
    assert (SHARE, "test-storage-corpus.a.b-c") in options[VOLUME, "igz-a.b-c"].made_from["spec"]
    assert (VOLUME, "igz-a.b-c") in stored().needs((CLAIM, "igz-a.b-c"))


def test_the_clusters_identity_gets_no_right_on_an_account() -> None:
    scopes = [each["scope"] for each in stored().of_type("azure-native:authorization:RoleAssignment").values()]
    assert not any("/storageAccounts/" in scope for scope in scopes)
