"""Each step of an acceptance run finds the fault that it is about."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.contract.labels import LabelKey
from components.contract.storage import DEFAULT_CLASS
from support import eks
from support.acceptance import FakeApi, FakeProduct, context_of, nodes_of, step, stream
from workbench import stacks
from workbench.acceptance import in_cluster, lifecycle
from workbench.acceptance.record import Record
from workbench.acceptance.run import STEPS
from workbench.acceptance.step import Cluster, Context, StepError
from workbench.report.model import Outcome
from workbench.system.errors import UserError

NODE = "kubernetes:core/v1:Node"
CLASS = {
    "type": "kubernetes:scheduling.k8s.io/v1:PriorityClass",
    "custom": True,
    "urn": "urn:pulumi:s::p::kubernetes:scheduling.k8s.io/v1:PriorityClass::low",
    "inputs": {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "low"},
        "value": 100,
    },
}
STORAGE = {
    "type": "kubernetes:storage.k8s.io/v1:StorageClass",
    "custom": True,
    "urn": "urn:pulumi:s::p::kubernetes:storage.k8s.io/v1:StorageClass::gp3",
    "inputs": {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "gp3", "annotations": DEFAULT_CLASS},
    },
}
SHARED = {**STORAGE, "inputs": {"metadata": {"name": "igz-corpus"}}}


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    folder = tmp_path / "stacks"
    folder.mkdir()
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    made = context_of(folder, eks.document())
    product(made).resources = [CLASS, STORAGE]
    api(made).objects.append({**CLASS["inputs"], "kind": "PriorityClass"})
    volume = {"kind": "PersistentVolume", "metadata": {"name": "volume"}, "spec": {"claimRef": {}}}
    api(made).objects.append(volume)
    return made


def product(context: Context) -> FakeProduct:
    assert isinstance(context.product, FakeProduct)
    return context.product


def api(context: Context) -> FakeApi:
    return product(context).api


def first_node(context: Context) -> dict[str, Any]:
    return next(each for each in api(context).objects if each["kind"] == "Node")


def changes(op: str) -> Callable[[Context], None]:
    return lambda context: product(context).streams.append(stream(step(op, "web")))


def labelled(context: Context) -> None:
    first_node(context)["metadata"]["labels"][LabelKey.LIFECYCLE] = "preemptible"


def unlabelled(context: Context) -> None:
    del first_node(context)["metadata"]["labels"][LabelKey.ROLE]


def tainted(context: Context) -> None:
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    first_node(context)["spec"]["taints"].append(taint)


def untainted(context: Context) -> None:
    gpu = next(each for each in api(context).objects if each["metadata"]["name"].startswith("gpu"))
    gpu["spec"]["taints"].clear()


def gone(context: Context) -> None:
    api(context).objects.remove(first_node(context))


def broken(context: Context) -> None:
    first_node(context)["status"]["conditions"][0]["status"] = "False"


def other_value(context: Context) -> None:
    next(each for each in api(context).objects if each["kind"] == "PriorityClass")["value"] = 101


def no_class(context: Context) -> None:
    api(context).objects[:] = [each for each in api(context).objects if each["kind"] != "PriorityClass"]


def admits(context: Context) -> None:
    api(context).admits = True


def refuses(context: Context) -> None:
    api(context).refuses = "denied by a policy"


def no_scheduler(context: Context) -> None:
    api(context).schedules = False


def other_zone(context: Context) -> None:
    first_node(context)["metadata"]["labels"]["topology.kubernetes.io/zone"] = "eu-west-1a"
    expression = {"key": "topology.kubernetes.io/zone", "values": ["eu-west-1b"]}
    terms = [{"matchExpressions": [expression]}]
    volume = next(each for each in api(context).objects if each["kind"] == "PersistentVolume")
    volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}


def drifted(context: Context) -> None:
    product(context).report = replace(product(context).report, outcome=Outcome.BLOCKED, problems=("changed by hand",))


def a_volume_stays(context: Context) -> None:
    volume = next(each for each in api(context).objects if each["kind"] == "PersistentVolume")
    volume["spec"] |= {"claimRef": {"namespace": in_cluster.NAMESPACE}, "persistentVolumeReclaimPolicy": "Delete"}


def kept(context: Context) -> None:
    product(context).keeps = True


def left(context: Context) -> None:
    product(context).remains.append("VPC vpc-1")


def stale(context: Context) -> None:
    product(context).resources.append({**CLASS, "urn": f"{CLASS['urn']}-spot", "custom": True})
    product(context).resources.append({**CLASS, "urn": f"{CLASS['urn']}-arm", "custom": True})


FAULTS: list[tuple[str, Callable[[Context], None], str]] = [
    ("unchanged up", changes("update"), "update web"),
    ("nodes", labelled, "label app.iguazio.com/lifecycle is 'preemptible', not 'non-preemptible'"),
    ("nodes", unlabelled, "label igz-clusters.io/role is None"),
    ("nodes", tainted, "taint nvidia.com/gpu=present:NoSchedule is not one of its pool"),
    ("nodes", untainted, "taint nvidia.com/gpu=present:NoSchedule is missing"),
    ("nodes", gone, "pool initial: 2 nodes, not 3..3"),
    ("nodes", broken, "not ready"),
    ("admission", other_value, "PriorityClass low: value differs"),
    ("admission", no_class, "PriorityClass low: .* not found"),
    ("admission", admits, "not refused by PL-01: it is admitted"),
    ("admission", refuses, "selects user pools is refused: denied by a policy"),
    ("pods", no_scheduler, "pool workload: its pod is not scheduled"),
    ("autoscaler sizes", changes("update"), "update web"),
    ("claim", no_scheduler, "its pod is not scheduled"),
    ("claim", other_zone, "Volume volume is in eu-west-1b, but node initial-0 in eu-west-1a"),
    ("no pods left", a_volume_stays, "volume volume is still there"),
    ("drift", drifted, "changed by hand"),
    ("change in place", changes("replace"), "Replaced instead of changed in place: web"),
    ("change in place", changes("same"), "changed nothing"),
    ("pool replaced", no_scheduler, "pool accept: its pod is not scheduled"),
    ("destroy", kept, "still has 2 resources"),
    ("inventory", left, "VPC vpc-1"),
]


@pytest.mark.parametrize(("name", "plant", "words"), FAULTS, ids=[f"{row[0]}: {row[2][:40]}" for row in FAULTS])
def test_a_planted_fault_is_found_by_its_step(
    context: Context, name: str, plant: Callable[[Context], None], words: str
) -> None:
    plant(context)
    with pytest.raises(StepError, match=words):
        next(each for each in STEPS if each.name == name).run(context)


def test_every_step_but_the_first_and_the_kill_has_a_planted_fault() -> None:
    # A failed `up` fails its step by itself; what a kill must leave is shown by the runs on real control planes.
    assert {each.name for each in STEPS} - {row[0] for row in FAULTS} == {"up", "kill and recover"}


def test_pods_that_an_update_moved_are_found(context: Context) -> None:
    in_cluster.pods_land(context)
    assert context.record.seen["from zero"] == []
    original = product(context).up

    def up_that_moves() -> Any:
        pods = [each for each in api(context).objects if each["kind"] == "Pod"]
        pods[0]["spec"]["nodeName"] = "another"
        first_node(context)["metadata"] |= {"name": "another"}
        return original()

    product(context).up = up_that_moves  # type: ignore[method-assign]
    with pytest.raises(StepError, match="moved or ended the pods pool-initial"):
        lifecycle.sizes_survive(context)


def test_a_label_and_a_tag_get_a_new_value_at_each_attempt(context: Context) -> None:
    for value in ("1", "2"):
        product(context).streams.append(stream(step("update")))
        for each in api(context).objects:
            if each["kind"] == "Node" and each["metadata"]["labels"][LabelKey.POOL] == "workload":
                each["metadata"]["labels"][lifecycle.MARK] = value
        assert lifecycle.changed_in_place(context) == "1 resources updated in place"
        assert context.copied.choices["cluster"]["tags"][lifecycle.MARK] == value


def test_a_state_that_the_kill_damaged_is_recovered(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = FakeProduct.cluster

    def cluster(made: FakeProduct) -> Cluster:
        if made.calls[-1] == "killed up":
            raise UserError("the content does not match its checksum")
        return sound(made)

    monkeypatch.setattr(FakeProduct, "cluster", cluster)
    for each in api(context).objects:
        if each["kind"] == "Node" and each["metadata"]["labels"][LabelKey.POOL] == "workload":
            each["metadata"]["labels"][lifecycle.MARK] = "1"
    seen = lifecycle.killed_and_recovered(context)
    assert seen == "recovered; pending in the state: the content does not match its checksum"
    assert product(context).calls == ["killed up", "recover", "up", "up"]


def killed(context: Context) -> Context:
    """Return the context of the run that continues after this one was killed in a step."""
    record = Record.load(context.copied.folder)
    assert record
    return replace(context, record=record)


def test_a_run_that_was_killed_in_its_step_remembers_the_pool_that_it_replaces(context: Context) -> None:
    product(context).fails["up"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        lifecycle.pool_replaced(context)
    again = killed(context)
    old, new = again.record.seen["replaced"]
    assert new in again.copied.choices["pools"]
    api(again).objects[:] = nodes_of(again.config)
    assert lifecycle.pool_replaced(again) == f"pool '{old}' is now '{new}'; a pod was scheduled there"


def test_a_pool_is_not_renamed_to_another_of_the_stack(context: Context) -> None:
    pools = context.copied.choices["pools"]
    other = next(name for name, pool in pools.items() if name == "workload")
    context.copied.edit({"pools": {lifecycle.POOL if name == other else name: pools[name] for name in pools}})
    product(context).fails["up"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        lifecycle.pool_replaced(context)
    assert len(context.copied.choices["pools"]) == len(pools)


def test_after_a_kill_a_change_has_another_value(context: Context) -> None:
    product(context).fails["up"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        lifecycle.changed_in_place(context)
    again = killed(context)
    product(again).fails["up"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        lifecycle.changed_in_place(again)
    assert again.copied.choices["cluster"]["tags"][lifecycle.MARK] == "2"


def test_pools_that_were_empty_are_remembered_after_a_kill(context: Context) -> None:
    api(context).objects[:] = [each for each in api(context).objects if not each["metadata"]["name"].startswith("spot")]
    api(context).schedules = False
    with pytest.raises(StepError):
        in_cluster.pods_land(context)
    again = killed(context)
    api(again).objects[:] = nodes_of(again.config)
    api(again).schedules = True
    assert in_cluster.pods_land(again).endswith("from zero: spot")


def test_the_namespace_of_another_run_is_neither_used_nor_deleted(context: Context) -> None:
    theirs = {"kind": "Namespace", "metadata": {"name": in_cluster.NAMESPACE, "labels": {}}}
    api(context).objects.append(theirs)
    with pytest.raises(StepError, match="already has a namespace 'igz-acceptance', and this run did not create it"):
        in_cluster.pods_land(context)
    in_cluster.cleared(context)
    assert theirs in api(context).objects
    api(context).objects.remove(theirs)
    in_cluster.pods_land(context)
    in_cluster.cleared(context)
    assert not [each for each in api(context).objects if each["kind"] == "Namespace"]


def test_steps_that_a_kind_cannot_have_say_why(context: Context) -> None:
    product(context).resources = [SHARED]
    assert "no default storage class" in in_cluster.no_claims(context)
    context.copied.edit({"pools": {"initial": context.copied.choices["pools"]["initial"]}})
    assert "no elastic pool" in lifecycle.no_elastic_pool(context)
    assert "changes no size" in lifecycle.no_autoscaler(context)


def test_what_a_destroy_keeps_in_the_cloud_is_no_failure_and_is_said(context: Context) -> None:
    product(context).kept_in_cloud.append("Vault dev-backup-0a1b2c3\n  aws backup delete-backup-vault")
    assert lifecycle.nothing_left(context).endswith(
        "keeps:\nVault dev-backup-0a1b2c3\n  aws backup delete-backup-vault"
    )
