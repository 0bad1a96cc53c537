"""Which resources are protected: those of the real programs, and the shapes that no program of ours makes."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from components.contract.aws import OwnTag
from components.contract.azure import AzureTag
from components.contract.labels import AnnotationKey, LabelKey
from infra.program import run
from support.eks import build
from support.recorder import Recorder, record
from workbench.report.dangers import carries_state, kind_of, scratch_accounts, shrinks
from workbench.stacks import find

ROLE = LabelKey.ROLE.value


def sized(low: int, now: int, high: int) -> dict[str, int]:
    return {"minSize": low, "desiredSize": now, "maxSize": high}


CLOUD = {"network": 7, "cluster": 1, "encryption key": 1}  # the networks: a VPC, and two subnets in each of three zones


def kinds(recorder: Recorder) -> Counter[str]:
    found = Counter(kind_of(each.type, each.name, each.inputs) for each in recorder.resources)
    del found[""]
    return found


@pytest.mark.parametrize(
    ("stack", "protected"),
    [
        ("local", {"initial group": 2, "namespace": 1}),
        # The only elastic group that begins with nodes.
        ("dev", {**CLOUD, "initial group": 1, "namespace": 1, "live nodes": 1}),
        ("prod", {**CLOUD, "initial group": 1, "namespace": 1, "live nodes": 1}),
    ],
)
def test_of_a_whole_stack_exactly_these_are_protected(stack: str, protected: dict[str, int]) -> None:
    config = find(stack).config
    assert kinds(record(lambda: run(config, kubeconfig="/nowhere"))) == protected


GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL = "azure-native:containerservice:AgentPool"


@pytest.mark.parametrize(
    ("type_", "before", "after", "lost"),
    [
        (GROUP, {"scalingConfig": sized(3, 3, 3)}, {"scalingConfig": sized(2, 2, 2)}, "1 of its 3 nodes"),
        (GROUP, {"scalingConfig": sized(3, 5, 9)}, {"scalingConfig": sized(2, 2, 2)}, "3 of its 5 nodes"),
        (GROUP, {"scalingConfig": sized(3, 3, 3)}, {"scalingConfig": sized(4, 4, 4)}, ""),
        (GROUP, {"scalingConfig": sized(0, 7, 9)}, {"scalingConfig": sized(0, 2, 9)}, ""),  # the autoscaler's
        (GROUP, {"scalingConfig": sized(3, 3, 3)}, {"scalingConfig": "[secret]"}, ""),
        (POOL, {"count": 5}, {"count": 2}, "3 of its 5 nodes"),
        (POOL, {"count": 5}, {"count": 2, "enableAutoScaling": True, "minCount": 2, "maxCount": 9}, ""),
        ("kubernetes:core/v1:ConfigMap", {}, {}, ""),
    ],
)
def test_an_update_that_takes_nodes_out_of_a_group_loses_them(
    type_: str, before: Mapping[str, Any], after: Mapping[str, Any], lost: str
) -> None:
    kind, text = shrinks(type_, before, after)
    assert (kind, text) == (("live nodes", f"{lost} with the pods on them") if lost else ("", ""))


@pytest.mark.parametrize(
    ("nodes", "text"), [(12, "its 12 nodes with the pods on them"), (1, "its only node with the pods on it")]
)
def test_the_live_size_of_a_lost_group_is_named(nodes: int, text: str) -> None:
    live = {"scalingConfig": {"minSize": 0, "desiredSize": nodes, "maxSize": 20}}
    assert carries_state(GROUP, live) == text


def test_a_data_pool_is_protected_in_every_zone() -> None:
    recorder = build()
    data = {each.name for each in recorder.resources if kind_of(each.type, each.name, each.inputs) == "data pool"}
    assert data == {"test-data-a", "test-data-b", "test-data-c"}


def test_what_the_engine_is_told_to_protect_is_of_a_protected_kind_or_belongs_to_one() -> None:
    recorder = build({"environment": "prod"})
    told = {key for key, options in recorder.options.items() if options.protect}
    inputs = {(each.type, each.name): each.inputs for each in recorder.resources}
    others = {key for key in told if not kind_of(*key, inputs[key])}
    assert {type_ for type_, _ in others} == {"aws:ec2/launchTemplate:LaunchTemplate"}


@pytest.mark.parametrize(
    ("type_", "inputs", "kind"),
    [
        ("azure-native:containerservice:ManagedCluster", {}, "cluster"),
        ("azure-native:containerservice/v20251001:AgentPool", {"nodeLabels": {ROLE: "data"}}, "data pool"),
        ("azure-native:containerservice:AgentPool", {"nodeLabels": {ROLE: "gpu"}}, "live nodes"),
        ("azure-native:containerservice:AgentPool", {"nodeLabels": {ROLE: "gpu"}, "count": 0}, ""),
        ("azure-native:keyvault:Vault", {}, "encryption key"),
        ("azure-native:network:VirtualNetwork", {}, "network"),
        ("aws:eks/nodeGroup:NodeGroup", {}, "live nodes"),  # how many is unknown
        ("aws:eks/nodeGroup:NodeGroup", {"scalingConfig": {"desiredSize": 12}}, "live nodes"),
        ("aws:eks/nodeGroup:NodeGroup", {"scalingConfig": {"desiredSize": 0}}, ""),
        ("aws:eks/nodeGroup:NodeGroup", {"scalingConfig": {"desiredSize": 2}, "status": "CREATE_FAILED"}, ""),
        ("aws:eks/nodeGroup:NodeGroup", {"labels": "[secret]"}, "resource of unknown role"),
        ("kubernetes:core/v1:Node", {"metadata": {"labels": {ROLE: "initial"}}}, ""),  # a real one is never an input
        ("kubernetes:core/v1:Node", {}, "resource of unknown role"),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "monitoring"}}, ""),
        ("kubernetes:core/v1:Namespace", {"metadata": "[secret]"}, "resource of unknown role"),
    ],
)
def test_kinds_by_type_and_labels(type_: str, inputs: Mapping[str, Any], kind: str) -> None:
    assert kind_of(type_, "it", inputs) == kind


EFS, LUSTRE = "aws:efs/fileSystem:FileSystem", "aws:fsx/lustreFileSystem:LustreFileSystem"
ACCOUNT, SHARE = "azure-native:storage:StorageAccount", "azure-native:storage/v20240101:FileShare"
CLAIM, VOLUME = "kubernetes:core/v1:PersistentVolumeClaim", "kubernetes:core/v1:PersistentVolume"


@pytest.mark.parametrize(
    ("type_", "more", "key"),
    [(EFS, {}, OwnTag.PURPOSE), (LUSTRE, {}, OwnTag.PURPOSE), (ACCOUNT, {"kind": "FileStorage"}, AzureTag.PURPOSE)],
)
def test_shared_storage_is_protected_in_every_environment_unless_it_is_for_scratch(
    type_: str, more: Mapping[str, Any], key: str
) -> None:
    for purpose in ("home", "dataset", "a purpose of another release"):
        assert kind_of(type_, "it", {**more, "tags": {key: purpose}}) == "shared storage"
    assert kind_of(type_, "it", {**more, "tagsAll": {key: "home"}}) == "shared storage"
    assert kind_of(type_, "it", more) == "shared storage"
    assert kind_of(type_, "it", {**more, "tags": {key: "scratch"}}) == ""
    assert kind_of(type_, "it", {**more, "tags": "[secret]"}) == "resource of unknown role"


def test_of_the_storage_of_a_development_stack_all_but_scratch_is_protected() -> None:
    lustre = {"type": "lustre", "sizeGib": 1200, "zone": "a"}
    storage = {
        "homes": {"purpose": "home", "type": "files"},
        "temporary": {"purpose": "scratch", "type": "files"},
        "fast": {"purpose": "dataset", **lustre},
        "spill": {"purpose": "scratch", **lustre},
    }
    volumes = {name: {"storage": name} for name in storage}
    made = build({"environment": "dev", "storage": storage, "namespaces": {"jobs": {"volumes": volumes}}}).resources
    found = {each.name for each in made if kind_of(each.type, each.name, each.inputs) == "shared storage"}
    assert found == {"test-storage-homes", "test-lustre-fast"}


def test_a_share_is_for_what_its_account_is_for() -> None:
    def account(name: str, purpose: str) -> tuple[str, Mapping[str, Any]]:
        return ACCOUNT, {"accountName": name, "kind": "FileStorage", "tags": {AzureTag.PURPOSE.value: purpose}}

    scratch = set(scratch_accounts([account("temporary", "scratch"), account("homes", "home"), (EFS, {})]))
    assert scratch == {"temporary"}
    assert kind_of(SHARE, "it", {"accountName": "temporary"}, scratch) == ""
    for name in ("homes", "of-another-stack"):
        assert kind_of(SHARE, "it", {"accountName": name}, scratch) == "shared storage"


@pytest.mark.parametrize(
    ("volume", "purpose", "kind"),
    [
        ("pvc-0c1d", "home", "shared storage"),
        ("pvc-0c1d", "scratch", ""),
        ("pvc-0c1d", None, "shared storage"),  # of an earlier release
        ("igz-jobs.homes", None, ""),  # declared: its data stays in its storage
    ],
)
def test_a_claim_is_protected_if_its_driver_may_delete_its_data(volume: str, purpose: str | None, kind: str) -> None:
    noted = {AnnotationKey.PURPOSE.value: purpose} if purpose else {}
    claim = {
        "metadata": {"name": "homes", "namespace": "jobs", "annotations": noted},
        "spec": {"volumeName": volume},
    }
    assert kind_of(CLAIM, "igz-jobs.homes", claim) == kind
    assert kind_of(CLAIM, "of-another-program", claim) == ""


@pytest.mark.parametrize(
    "type_",
    [
        "kubernetes:core/v1:Namespace",
        CLAIM,
        VOLUME,
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
        "aws:ebs/volume:Volume",
        "aws:s3/bucket:Bucket",
        "aws:cloudwatch/logGroup:LogGroup",
        ACCOUNT,
    ],
)
def test_state_may_be_lost_though_nothing_guards_it(type_: str) -> None:
    assert kind_of(type_, "it", {}) == ""
    assert carries_state(type_, {})


@pytest.mark.parametrize(
    "type_", ["aws:iam/role:Role", "kubernetes:core/v1:ConfigMap", "igz-clusters:clusters:EksRole"]
)
def test_most_resources_hold_nothing(type_: str) -> None:
    assert (kind_of(type_, "it", {}), carries_state(type_, {})) == ("", "")


def test_everything_protected_loses_something() -> None:
    for each in [*build().resources, *build({"environment": "prod"}).resources]:
        if kind_of(each.type, each.name, each.inputs):
            assert carries_state(each.type, each.inputs), each.name
