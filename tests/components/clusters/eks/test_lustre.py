from functools import cache
from typing import Any

import pytest

from components.clusters.handle import NO_PROVISIONER
from components.contract.eks.descriptor import EKS
from components.contract.eks.values import EFS_ADDON, LUSTRE_ADDON
from components.contract.shared_storage import StorageType
from policies.views.shared_storage import FILE_SYSTEM, LUSTRE
from support.eks import ADDON, CLUSTER, PODS, build, built
from support.recorder import Recorder

INGRESS, EGRESS = (f"aws:vpc/securityGroup{each}Rule:SecurityGroup{each}Rule" for each in ("Ingress", "Egress"))
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"

FAST = {"purpose": "dataset", "type": "lustre", "sizeGib": 2400, "zone": "b"}
CHANGES: dict[str, Any] = {
    "storage": {"fast": FAST, "temporary": {**FAST, "purpose": "scratch", "sizeGib": 1200, "zone": "a"}},
    "namespaces": {"jobs": {"volumes": {"data": {"storage": "fast"}}}},
}


@cache
def stored(environment: str = "prod") -> Recorder:
    private = {"cluster.publicAccessCidrs": None, "pools.jupyter": None} if environment == "prod" else {}
    return build({"environment": environment, **private, **CHANGES})


def addons(recorder: Recorder) -> set[str]:
    return {each["addonName"] for each in recorder.of_type(ADDON).values()}


def test_only_what_the_stack_uses_is_made() -> None:
    assert not built().of_type(LUSTRE)
    assert LUSTRE_ADDON not in addons(built())
    assert addons(stored("dev")) - addons(built()) == {LUSTRE_ADDON}
    assert not any(each.type.startswith("aws:efs/") for each in stored().resources)


def test_files_stay_as_they_are_beside_it() -> None:
    corpus = {"purpose": "dataset", "type": "files"}
    both = build({**CHANGES, "storage.corpus": corpus})
    assert {EFS_ADDON, LUSTRE_ADDON} <= addons(both)
    assert set(both.of_type(FILE_SYSTEM)) == {"test-storage-corpus"}
    assert set(both.of_type(LUSTRE)) == {"test-lustre-fast", "test-lustre-temporary"}
    classes = both.of_type(STORAGE_CLASS)
    assert {"igz-corpus", "igz-fast", "igz-temporary"} <= set(classes)
    makes = {name for name in ("igz-corpus", "igz-fast") if classes[name]["provisioner"] != NO_PROVISIONER}
    assert (makes, EKS.provisioned) == ({"igz-corpus"}, {StorageType.FILES})


def test_another_purpose_costs_no_data() -> None:
    kept, scratch = (stored().of_type(LUSTRE)[f"test-lustre-{key}"] for key in ("fast", "temporary"))
    assert (kept["deploymentType"], kept["perUnitStorageThroughput"]) == ("PERSISTENT_2", 125)
    differ = {key for key in kept if kept[key] != scratch[key]}
    assert differ == {"automaticBackupRetentionDays", "storageCapacity", "subnetIds", "tags"}
    assert (kept["storageCapacity"], scratch["storageCapacity"]) == (2400, 1200)


@pytest.mark.parametrize(
    ("purpose", "backups", "days"),
    [("dataset", None, 14), ("dataset", False, 0), ("scratch", None, 0), ("scratch", True, 14)],
)
def test_what_is_kept_is_backed_up_unless_the_stack_file_says_otherwise(
    purpose: str, backups: bool | None, days: int
) -> None:
    fast = {**FAST, "purpose": purpose, **({} if backups is None else {"backups": backups})}
    made = build({**CHANGES, "storage.fast": fast}).of_type(LUSTRE)["test-lustre-fast"]
    # Days that are left out stay what they were.
    assert made["automaticBackupRetentionDays"] == days


@pytest.mark.parametrize(
    ("environment", "key", "is_protected"),
    [("prod", "fast", True), ("prod", "temporary", False), ("dev", "fast", False)],
)
def test_production_protects_what_nobody_can_compute_again(environment: str, key: str, is_protected: bool) -> None:
    assert bool(stored(environment).options[LUSTRE, f"test-lustre-{key}"].protect) is is_protected


def test_servers_and_nodes_reach_each_other_at_the_ports_of_lustre_alone() -> None:
    names = {"test-lustre-988": (988, 988), "test-lustre-1018": (1018, 1023)}
    for type_ in (INGRESS, EGRESS):
        rules = stored().of_type(type_)
        for name, ports in names.items():
            assert (rules[name]["fromPort"], rules[name]["toPort"]) == ports
            assert (rules[name]["securityGroupId"], rules[name]["cidrIpv4"]) == ("test-lustre-id", "10.20.0.0/16")
    for name, ports in names.items():
        of_nodes = stored().of_type(INGRESS)[f"{name}-nodes"]
        assert (of_nodes["fromPort"], of_nodes["toPort"]) == ports
        assert of_nodes["referencedSecurityGroupId"] == "test-lustre-id"
        assert "cidrIpv4" not in of_nodes
    assert set(stored().of_type(EGRESS)) == set(names)


def test_a_range_of_pods_comes_in_too_because_the_driver_mounts_in_a_pod() -> None:
    for type_ in (INGRESS, EGRESS):
        rules = build({**CHANGES, **PODS}).of_type(type_)
        assert {rules[f"test-lustre-{first}-pods"]["cidrIpv4"] for first in (988, 1018)} == {"100.64.0.0/16"}


def test_fsx_finds_its_ports_open_when_it_makes_a_file_system() -> None:
    needed = stored().needs((LUSTRE, "test-lustre-fast"))
    assert {(type_, f"test-lustre-{first}") for type_ in (INGRESS, EGRESS) for first in (988, 1018)} <= needed


def test_a_volume_is_the_whole_file_system_and_its_pods_are_in_its_zone() -> None:
    spec = stored().of_type(VOLUME)["igz-jobs.data"]["spec"]
    assert spec["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": "test-lustre-fast-id",
        "volumeAttributes": {"dnsname": "test-lustre-fast.example", "mountname": "test-lustre-fast-mount"},
    }
    [term] = spec["nodeAffinity"]["required"]["nodeSelectorTerms"]
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["eu-west-1b"]}
    assert term["matchExpressions"] == [zone]
    made = stored().of_type(LUSTRE)
    assert made["test-lustre-fast"]["subnetIds"] == "test-network-private-b-id"
    assert made["test-lustre-temporary"]["subnetIds"] == "test-network-private-a-id"


def test_the_file_system_outlives_its_cluster() -> None:
    assert (CLUSTER, "test-cluster") in stored().options[VOLUME, "igz-jobs.data"].replaced_with
    assert not {type_ for type_, _ in stored().needs((LUSTRE, "test-lustre-fast"))} & {CLUSTER, ADDON}
    claim = stored().of_type(CLAIM)["igz-jobs.data"]["spec"]
    assert (claim["volumeName"], claim["accessModes"]) == ("igz-jobs.data", ["ReadWriteMany"])


def test_the_driver_gets_no_role_because_no_claim_of_a_class_makes_a_file_system() -> None:
    classes = stored().of_type(STORAGE_CLASS)
    assert {classes[f"igz-{key}"]["provisioner"] for key in ("fast", "temporary")} == {"kubernetes.io/no-provisioner"}
    [addon] = [each for each in stored().of_type(ADDON).values() if each["addonName"] == LUSTRE_ADDON]
    assert "podIdentityAssociations" not in addon


def test_a_network_without_the_internet_needs_no_endpoint_for_it() -> None:
    registries = {"registry.k8s.io": "mirror.corp.example/k8s", "nvcr.io": "mirror.corp.example/nvidia"}
    closed = {"cluster.network.internet": "none", "cluster.imageRegistries": registries}
    services = {each["serviceName"] for each in build({**closed, **CHANGES}).of_type(ENDPOINT).values()}
    assert services
    assert not any("elasticfilesystem" in each or "fsx" in each for each in services)
