"""A stack on an existing cluster of another owner, with a real API server: only what is ours changes."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.contract.labels import AnnotationKey, LabelKey
from components.contract.ownership import FIELD_MANAGER
from support.cluster import changes, eventually
from support.existing import MACHINE
from support.inventory import objects_in, objects_of
from support.runs import kill_before_the_answer, silent_webhook
from support.sampled import sampled
from support.site import CONTEXT, OWNER, STACK, Site, leads_to, managed, site

pytestmark = pytest.mark.control_plane

GPU = {"effect": "NoSchedule", "key": "nvidia.com/gpu", "value": "present"}
THEIR_VALUE = 50
DISKS = {"role": "data", "size": {"min": 1, "max": 1}, "machine": {**MACHINE, "localNvmeGib": 900}}
SECOND = {"effect": "NoSchedule", "key": "second", "value": "tool"}
CORDONED = {"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable"}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site")) as found:
        yield found


def priority_class(name: str, value: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": "Never",
    }


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def taints(theirs: Site, node: str) -> list[dict[str, Any]]:
    found = theirs.get("node", node)["spec"].get("taints") or []
    return [{key: value for key, value in taint.items() if key != "timeAdded"} for taint in found]


def test_only_what_is_ours_changes_and_destroy_gives_it_back(theirs: Site) -> None:
    # Before: labels, taints and a cordon by hand, a class and a namespace as we would make them.
    theirs.kubectl("label", "node", "compute-0", f"{LabelKey.LIFECYCLE}=non-preemptible", "team=vision")
    theirs.kubectl("taint", "node", "gpu-0", "second=tool:NoSchedule")
    theirs.kubectl("cordon", "gpu-0")
    theirs.own(priority_class("igz-workload-low", THEIR_VALUE))
    theirs.own(namespace("mlrun", team="vision"))
    theirs.node("disk-0", "disks")
    # Kubernetes adds the taint of the cordon, and takes that of a new node away when it is ready.
    eventually(lambda: CORDONED in taints(theirs, "gpu-0") and not taints(theirs, "disk-0"))
    theirs.choose({"cluster.nodes.data": {"selector": {"rack": "disks"}}, "pools.data": DISKS})
    before = theirs.snapshot()

    printed = theirs.done("up", STACK, "--yes")
    assert f"note: PriorityClass igz-workload-low already exists with value {THEIR_VALUE}, ours would be 100" in printed
    assert "note: Namespace mlrun already exists with matching settings" in printed
    assert "second=tool:NoSchedule of another owner" in printed

    (to_api,) = theirs.get("networkpolicy", "allow-api-server", "--namespace", "mlrun")["spec"]["egress"]
    assert [each["ipBlock"]["cidr"] for each in to_api["to"]] == [
        "10.96.0.1/32"
    ]  # no endpoint, since it is on loopback

    # Nodes: their labels, and ours; the owner of each field is told.
    node = theirs.get("node", "compute-0")
    assert node["metadata"]["labels"].items() > before["Node", "compute-0"]["metadata"]["labels"].items()
    assert node["metadata"]["labels"][LabelKey.POOL] == "workload"
    ours = managed(node, FIELD_MANAGER)["f:metadata"]
    assert set(ours["f:labels"]) == {
        f"f:{key.value}" for key in (LabelKey.LIFECYCLE, LabelKey.POOL, LabelKey.ROLE, LabelKey.USER_WORKLOADS)
    }
    assert "f:spec" not in managed(node, FIELD_MANAGER)
    assert set(managed(node, OWNER)["f:metadata"]["f:labels"]) == {
        "f:rack",
        "f:kubernetes.io/arch",
        "f:kubernetes.io/os",
    }
    # An autoscaler of the owner removes no data node.
    kept = AnnotationKey.SCALE_DOWN_DISABLED
    assert theirs.get("node", "disk-0")["metadata"]["annotations"][kept] == "true"
    assert kept not in before["Node", "disk-0"]["metadata"]["annotations"]
    # Taints: the second tool's and Kubernetes' own stand beside ours, which the node itself remembers.
    assert taints(theirs, "gpu-0") == [SECOND, CORDONED, GPU]
    assert (
        theirs.get("node", "gpu-0")["metadata"]["annotations"][AnnotationKey.TAINTS]
        == "nvidia.com/gpu=present:NoSchedule"
    )
    # Shared objects are their makers'.
    low, high = (theirs.get("priorityclass", f"igz-workload-{tier}") for tier in ("low", "high"))
    assert low["value"] == THEIR_VALUE
    assert "f:value" not in managed(low, FIELD_MANAGER)
    assert managed(low, OWNER)["f:preemptionPolicy"] == managed(low, FIELD_MANAGER)["f:preemptionPolicy"] == {}
    assert [each["manager"] for each in high["metadata"]["managedFields"]] == [FIELD_MANAGER]
    # Nothing of the kubeconfig but the context is in the state.
    state = theirs.state()
    assert CONTEXT in state
    assert [word for word in ("client-key", "client-certificate", "127.0.0.1", "PRIVATE KEY") if word in state] == []

    # Again: nothing changes, also after Kubernetes cleared a taint of its own.
    theirs.kubectl("uncordon", "gpu-0")
    eventually(lambda: CORDONED not in taints(theirs, "gpu-0"))
    again = theirs.done("up", STACK, "--yes")
    assert " updated" not in again.partition("Resources:")[2], again
    assert " created" not in again.partition("Resources:")[2]
    assert taints(theirs, "gpu-0") == [SECOND, GPU]

    printed = theirs.done("destroy", STACK, "--yes")
    assert "Changed taints of node gpu-0: - nvidia.com/gpu=present:NoSchedule" in printed
    after = theirs.snapshot()
    uncordoned = {**before["Node", "gpu-0"], "spec": {"taints": [SECOND]}}
    assert after == {**before, ("Node", "gpu-0"): uncordoned}
    for kind, name in (("node", "compute-0"), ("priorityclass", "igz-workload-low"), ("namespace", "kube-system")):
        managers = {each["manager"] for each in theirs.get(kind, name)["metadata"]["managedFields"]}
        assert FIELD_MANAGER not in managers, (kind, name)
    theirs.kubectl("delete", "node", "disk-0")
    theirs.choose()


@pytest.mark.kills
def test_after_a_kill_one_recover_and_one_up_make_it_whole(theirs: Site) -> None:
    theirs.own(priority_class("igz-workload-low", THEIR_VALUE))
    theirs.own(namespace("mlrun", team="vision"))
    before = theirs.snapshot()

    with silent_webhook(theirs.cluster, "limitranges") as webhook:
        run = theirs.cluster.start("up", STACK, "--yes", "--hermetic", **theirs.environment())
        kill_before_the_answer(theirs.cluster, run, webhook, "limitranges")
    (made,) = theirs.get("limitranges", "-A")["items"]
    killed = theirs.deployment()
    pending = {(each["type"], each["resource"]["type"]) for each in killed["pending_operations"]}
    assert ("creating", "kubernetes:core/v1:LimitRange") in pending
    assert "LimitRange" not in {kind for kind, _ in objects_of(killed)}

    assert "creating LimitRange" in theirs.done("recover", STACK, "--yes")
    theirs.done("up", STACK, "--yes")
    whole = theirs.deployment()
    assert not whole.get("pending_operations")
    assert list((theirs.folder / "state").rglob("locks/**/*.json")) == []
    assert objects_of(whole) == objects_in(theirs.cluster)
    assert theirs.get("limitranges", "-A")["items"][0]["metadata"]["uid"] == made["metadata"]["uid"]
    assert re.fullmatch(r"\d+ unchanged", changes(theirs.done("up", STACK, "--yes")))

    # What others made is as it was before, and not made anew.
    theirs.done("destroy", STACK, "--yes")
    assert theirs.snapshot() == before


def nothing(_: Site) -> None:
    """Change nothing in the cluster: the stack file is what does not fit."""


def label(node: str, text: str) -> Callable[[Site], None]:
    return lambda theirs: theirs.kubectl("label", "node", node, "--overwrite", text) and None


def object_(manifest: dict[str, Any]) -> Callable[[Site], None]:
    return lambda theirs: theirs.own(manifest)


STORAGE = {"name": "fast", "provisioner": "csi.example.com"}
FAST = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "csi.example.org",
}
DEFAULT = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "slow", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "csi.example.org",
}
CONFLICTS: dict[str, tuple[Callable[[Site], None], dict[str, Any], str, str]] = {
    "a label of Iguazio's own says otherwise": (
        label("compute-0", f"{LabelKey.LIFECYCLE}=preemptible"),
        {},
        "lifecycle: found 'preemptible', set by kubectl-label; required 'non-preemptible' for pool 'workload'",
        f"label node compute-0 {LabelKey.LIFECYCLE}-",
    ),
    "another tool uses our label": (
        label("core-0", f"{LabelKey.POOL}=other"),
        {},
        "node core-0, label igz-clusters.io/pool: found 'other', set by kubectl-label; required 'initial'",
        f"label node core-0 {LabelKey.POOL}-",
    ),
    "a taint in the place of ours": (
        lambda theirs: theirs.kubectl("taint", "node", "gpu-0", "nvidia.com/gpu=true:NoSchedule") and None,
        {},
        "node gpu-0, taint nvidia.com/gpu: found nvidia.com/gpu=true:NoSchedule of another owner",
        "taint node gpu-0 nvidia.com/gpu-",
    ),
    "a node of two pools": (
        label("compute-0", "seat=window"),
        {"cluster.nodes.initial.selector": {"seat": "window"}},
        "node compute-0: found it matches the selectors of pools initial and workload; required one pool per node.",
        "label node compute-0 seat-",
    ),
    "too few nodes": (
        nothing,
        {"pools.workload.size": {"min": 3, "max": 3}},
        "pools.workload.size: found 2 nodes match its selector (compute-0, compute-1); required 3 nodes.",
        "",
    ),
    "too many nodes": (
        nothing,
        {"pools.workload.size": {"min": 1, "max": 1}},
        "pools.workload.size: found 2 nodes match its selector (compute-0, compute-1); required 1 nodes.",
        "",
    ),
    "machines that are smaller than described": (
        nothing,
        {"pools.initial.machine": {"vcpus": 16, "memoryGib": 64}},
        "node core-0, capacity: found 8 cores and 32 GiB; required 16 cores and about 64 GiB",
        "",
    ),
    "a priority class out of order": (
        object_(priority_class("igz-workload-high", 7)),
        {},
        "igz-workload-high of another owner: found igz-workload-low ",
        "delete priorityclass igz-workload-high",
    ),
    "a storage class of another driver": (
        object_(FAST),
        {"cluster.storageClass": STORAGE},
        "StorageClass fast of another owner: found provisioner csi.example.org",
        "delete storageclass fast",
    ),
    "another default storage class": (
        object_(DEFAULT),
        {"cluster.storageClass": STORAGE},
        "cluster.storageClass: found another default StorageClass, slow; required 'fast' as the only default.",
        "delete storageclass slow",
    ),
    "a namespace that lets privileged pods in": (
        object_(namespace("jobs", **{"pod-security.kubernetes.io/enforce": "privileged"})),
        {"namespaces": {"jobs": {}}},
        "Namespace jobs of another owner: found pod-security.kubernetes.io/enforce privileged; required",
        "delete namespace jobs",
    ),
    "another stack": (
        lambda theirs: theirs.kubectl("annotate", "namespace", "kube-system", f"{AnnotationKey.STACK}=older") and None,
        {},
        "The stack 'older' manages this cluster; two would undo each other's changes.",
        f"annotate namespace kube-system {AnnotationKey.STACK}-",
    ),
    "an object of somebody else that is no shared one": (
        object_(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": "igz-clusters:platform"},
                "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
            }
        ),
        {},
        "ClusterRole igz-clusters:platform: found an object of another owner (rules",
        "delete clusterrole igz-clusters:platform",
    ),
}


@pytest.mark.parametrize("name", sampled(CONFLICTS, ["another tool uses our label", "another stack"]))
def test_what_others_hold_is_compared_and_never_fought_over(theirs: Site, name: str) -> None:
    make, changes, said, undo = CONFLICTS[name]
    make(theirs)
    theirs.choose(changes)
    before = theirs.snapshot()
    try:
        printed = theirs.refused("preview", STACK)
        assert said in printed
        assert "Nothing was changed." in printed
        assert theirs.snapshot() == before
    finally:
        theirs.choose()
        if undo:
            theirs.kubectl(*undo.split())


@pytest.mark.full
def test_another_cluster_under_the_same_context_is_refused_by_every_command(theirs: Site, tmp_path: Path) -> None:
    theirs.cluster.command("local", "start", "other", "--bare")
    try:
        leads_to(theirs.kubeconfig, theirs.cluster.data / "local" / "other" / "kubeconfig")
        for command in ("preview", "up", "destroy"):
            options = () if command == "preview" else ("--yes",)
            printed = theirs.refused(command, STACK, *options)
            assert f"The context '{CONTEXT}' points to a different cluster than '{STACK}' expects" in printed
            assert theirs.cluster_id in printed
        code, printed = theirs.run("status", STACK)
        assert (code, "points to a different cluster" in printed) == (1, True)
        code, printed = theirs.run("drift", STACK, "--hermetic")
        assert (code, "points to a different cluster" in printed) == (3, True)
        code, printed = theirs.run("env", STACK, "--hermetic")
        assert (code, "points to a different cluster" in printed) == (1, True)
    finally:
        leads_to(theirs.kubeconfig, theirs.cluster.data / "local" / "theirs" / "kubeconfig")
        theirs.cluster.command("local", "stop", "other")


def test_a_context_that_is_not_there_is_named(theirs: Site) -> None:
    theirs.choose({"cluster.context": "nowhere"})
    try:
        assert "nowhere" in theirs.refused("up", STACK, "--yes")
    finally:
        theirs.choose()


def test_identify_prints_what_the_stack_file_needs(theirs: Site) -> None:
    code, printed = theirs.run("existing", "identify", CONTEXT)
    assert code == 0
    assert f"clusterId: {theirs.cluster_id}" in printed
    assert "rack: compute  (2 of 4)" in printed
