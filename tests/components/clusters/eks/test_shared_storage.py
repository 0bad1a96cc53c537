import json
from functools import cache
from typing import Any

import pytest

from components.contract.eks.values import EFS_ADDON
from policies.views.shared_storage import BACKUP_POLICY, CLIENT_POLICY, FILE_SYSTEM
from support.eks import ADDON, CLUSTER, build, built
from support.recorder import Recorder

ACCESS_POINT = "aws:efs/accessPoint:AccessPoint"
MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"

CORPUS = {"purpose": "dataset", "type": "files"}
CHANGES: dict[str, Any] = {
    "storage": {"corpus": CORPUS, "temporary": {"purpose": "scratch", "type": "files"}},
    "namespaces": {
        "a": {"volumes": {"b-c": {"storage": "corpus"}}},
        "a-b": {"volumes": {"c": {"storage": "corpus"}, "work": {"storage": "temporary"}}},
    },
}


@cache
def stored(environment: str = "prod") -> Recorder:
    private = {"cluster.publicAccessCidrs": None, "pools.jupyter": None} if environment == "prod" else {}
    return build({"environment": environment, **private, **CHANGES})


def test_a_stack_without_shared_storage_makes_nothing_for_it() -> None:
    assert not any(type_.startswith("aws:efs/") for type_ in {each.type for each in built().resources})
    assert not built().of_type(VOLUME)
    assert EFS_ADDON not in {addon["addonName"] for addon in built().of_type(ADDON).values()}


def test_data_is_encrypted_and_its_token_outlives_the_name_of_the_cluster() -> None:
    for key in ("corpus", "temporary"):
        name = f"test-storage-{key}"
        files = stored().of_type(FILE_SYSTEM)[name]
        assert (files["encrypted"], files["throughputMode"]) == (True, "elastic")
        assert files["creationToken"] == f"research.{key}"
        assert stored().options[FILE_SYSTEM, name].ignore_changes == ("creationToken",)


@pytest.mark.parametrize(
    ("environment", "key", "is_protected"),
    [("prod", "corpus", True), ("prod", "temporary", False), ("dev", "corpus", False)],
)
def test_production_protects_what_nobody_can_compute_again(environment: str, key: str, is_protected: bool) -> None:
    assert bool(stored(environment).options[FILE_SYSTEM, f"test-storage-{key}"].protect) is is_protected


def test_what_is_kept_is_backed_up_unless_the_stack_file_says_otherwise() -> None:
    assert list(stored().of_type(BACKUP_POLICY)) == ["test-storage-corpus"]
    without = build({**CHANGES, "storage.corpus": {**CORPUS, "backups": False}})
    assert not without.of_type(BACKUP_POLICY)


def test_clients_need_tls_and_an_access_point() -> None:
    for policy in stored().of_type(CLIENT_POLICY).values():
        [statement] = json.loads(policy["policy"])["Statement"]
        assert statement["Condition"] == {
            "Bool": {"aws:SecureTransport": "true", "elasticfilesystem:AccessedViaMountTarget": "true"},
            "StringLike": {
                "elasticfilesystem:AccessPointArn": "arn:aws:elasticfilesystem:eu-west-1:111122223333:access-point/*"
            },
        }
        assert "elasticfilesystem:ClientRootAccess" not in statement["Action"]


def test_each_zone_mounts_from_its_own_subnet_and_only_the_vpc_comes_in() -> None:
    targets = stored().of_type(MOUNT_TARGET)
    assert {name.removeprefix("test-storage-corpus-") for name in targets if "corpus" in name} == {"a", "b", "c"}
    rule = stored().of_type(RULE)["test-storage"]
    assert (rule["fromPort"], rule["toPort"], rule["cidrIpv4"]) == (2049, 2049, "10.20.0.0/16")


def test_each_volume_has_a_directory_of_its_own() -> None:
    points = stored().of_type(ACCESS_POINT)
    assert sorted(each["rootDirectory"]["path"] for each in points.values()) == [
        "/ns/a-b/c",
        "/ns/a-b/work",
        "/ns/a/b-c",
    ]
    for point in points.values():
        assert point["posixUser"] == {"uid": 1000, "gid": 100}
        assert point["rootDirectory"]["creationInfo"]["permissions"] == "0770"


def test_a_claim_is_bound_to_its_own_volume_and_no_other_claim_can_take_that() -> None:
    volume, claim = stored().of_type(VOLUME)["igz-a.b-c"]["spec"], stored().of_type(CLAIM)["igz-a.b-c"]
    assert claim["metadata"]["name"] == "b-c"
    assert (claim["spec"]["volumeName"], claim["spec"]["accessModes"]) == ("igz-a.b-c", ["ReadWriteMany"])
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["name"]) == ("a", "b-c")
    assert volume["csi"]["volumeHandle"] == "test-storage-corpus-id::test-storage-a.b-c-id"
    assert volume["storageClassName"] == claim["spec"]["storageClassName"] == "igz-corpus"
    assert volume["persistentVolumeReclaimPolicy"] == "Retain"


def test_a_claim_is_replaced_with_its_volume_and_both_with_their_cluster() -> None:
    cluster = (CLUSTER, "test-cluster")
    assert cluster in stored().options[VOLUME, "igz-a.b-c"].replaced_with
    assert {cluster, (VOLUME, "igz-a.b-c")} <= set(stored().options[CLAIM, "igz-a.b-c"].replaced_with)


def test_a_class_of_each_storage_keeps_what_its_purpose_keeps() -> None:
    classes = stored().of_type(STORAGE_CLASS)
    kept, scratch = classes["igz-corpus"], classes["igz-temporary"]
    assert (kept["reclaimPolicy"], scratch["reclaimPolicy"]) == ("Retain", "Delete")
    assert kept["volumeBindingMode"] == "Immediate"
    assert kept["parameters"]["fileSystemId"] == "test-storage-corpus-id"


def test_the_driver_may_do_what_aws_lets_it_and_no_more() -> None:
    [addon] = [each for each in stored().of_type(ADDON).values() if each["addonName"] == EFS_ADDON]
    assert [each["serviceAccount"] for each in addon["podIdentityAssociations"]] == ["efs-csi-controller-sa"]
    attached = stored().of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment").values()
    arn = "arn:aws:iam::aws:policy/service-role/AmazonEFSCSIDriverPolicy"
    assert sum(each["policyArn"] == arn for each in attached) == 1
