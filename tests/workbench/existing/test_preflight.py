"""What a stack asks of a cluster, compared with what is there: every conflict, and what is none."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from components.contract.existing.cluster_inventory import ClusterInventory, SharedKind, SharedObject
from components.contract.labels import LabelKey
from components.contract.ownership import FIELD_MANAGER
from support.existing import MACHINE, config
from workbench.engine.live_objects import LiveObject
from workbench.existing.live import LiveCluster
from workbench.existing.preflight import Inspection, inspect

CAPACITY = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "2"}
RACKS = {"core-0": "core", "compute-0": "compute", "compute-1": "compute", "gpu-0": "gpu"}
API = ("10.96.0.1/32",)
STORAGE = {"name": "fast", "provisioner": "csi.example.com"}


def fields(*path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in reversed(path):
        found = {f"f:{part}": found}
    return found


def live(kind: str, name: str, manager: str = "owner", path: tuple[str, ...] = (), **content: Any) -> LiveObject:
    managed = [{"manager": manager, "operation": "Update", "fieldsV1": fields(*path)}]
    metadata = {"name": name, "uid": f"uid-of-{name}", "managedFields": managed, **content.pop("metadata", {})}
    return LiveObject({"kind": kind, "metadata": metadata, **content})


def node(name: str, rack: str, *, taints: list[dict[str, str]] | None = None, **labels: str) -> LiveObject:
    metadata = {"labels": {"rack": rack, **labels}}
    status = {"capacity": CAPACITY, "allocatable": CAPACITY}
    return live("Node", name, metadata=metadata, spec={"taints": taints or []}, status=status)


DISKS = {"role": "data", "size": {"min": 1, "max": 1}, "machine": {**MACHINE, "localNvmeGib": 900}}
NODES = tuple(node(name, rack) for name, rack in RACKS.items())
DEFAULT = live(
    "StorageClass",
    "own",
    metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    provisioner="csi.example.org",
)


def cluster(*objects: LiveObject, nodes: tuple[LiveObject, ...] = NODES, **facts: Any) -> LiveCluster:
    shared = {SharedObject(SharedKind(each.kind), each.name): each for each in (DEFAULT, *objects)}
    known = {"minor": 34, "has_metrics": True, "has_autoscaler": True, "adds_tolerations": True, "api_server": API}
    return LiveCluster(nodes=nodes, shared=shared, **{**known, **facts})


def looked(there: LiveCluster, changes: dict[str, Any] | None = None, made: frozenset[str] = frozenset()) -> Inspection:
    return inspect(config(changes), there, made)


def low(value: int = 100, policy: str | None = "Never", manager: str = "owner") -> LiveObject:
    said = {"preemptionPolicy": policy} if policy else {}
    return live("PriorityClass", "igz-workload-low", manager, ("value",), value=value, **said)


def with_node(changed: LiveObject) -> tuple[LiveObject, ...]:
    return tuple(changed if each.name == changed.name else each for each in NODES)


def test_a_cluster_as_the_stack_file_describes_it_is_named_and_nothing_is_refused() -> None:
    seen = looked(cluster())
    assert seen.inventory.nodes == {
        "initial": ("core-0",),
        "workload": ("compute-0", "compute-1"),
        "gpu": ("gpu-0",),
    }
    assert seen.blockers == seen.notes == ()
    assert list(map(str, seen.taints)) == ["taints of node gpu-0: + nvidia.com/gpu=present:NoSchedule"]


CONFLICTS: dict[str, tuple[Callable[[], Inspection], str]] = {
    "label of another value": (
        lambda: looked(cluster(nodes=with_node(node("core-0", "core", **{LabelKey.LIFECYCLE: "preemptible"})))),
        "node core-0, label app.iguazio.com/lifecycle",
    ),
    "annotation that lets data nodes go": (
        lambda: looked(
            cluster(
                nodes=(
                    *NODES,
                    live(
                        "Node",
                        "disk-0",
                        metadata={
                            "labels": {"rack": "disks"},
                            "annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "false"},
                        },
                        status={"capacity": CAPACITY},
                    ),
                )
            ),
            {"cluster.nodes.data": {"selector": {"rack": "disks"}}, "pools.data": DISKS},
        ),
        "node disk-0, annotation cluster-autoscaler.kubernetes.io/scale-down-disabled",
    ),
    "taint in the place of ours": (
        lambda: looked(
            cluster(
                nodes=with_node(
                    node("gpu-0", "gpu", taints=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}])
                )
            )
        ),
        "node gpu-0, taint nvidia.com/gpu",
    ),
    "missing feature": (
        lambda: looked(cluster(), {"cluster.mutatingAdmission": True}),
        "cluster.mutatingAdmission",
    ),
    "node of two pools": (
        lambda: looked(
            cluster(nodes=with_node(node("core-0", "core", seat="window"))),
            {"cluster.nodes.workload.selector": {"seat": "window"}, "pools.workload.size": {"min": 1, "max": 1}},
        ),
        "node core-0",
    ),
    "too few nodes": (lambda: looked(cluster(nodes=NODES[:2])), "pools.workload.size"),
    "too many nodes": (lambda: looked(cluster(nodes=(*NODES, node("core-1", "core")))), "pools.initial.size"),
    "smaller machine": (
        lambda: looked(cluster(), {"pools.workload.machine": {"vcpus": 8, "memoryGib": 64}}),
        "node compute-0, capacity",
    ),
    "class above the next": (lambda: looked(cluster(low(200))), "PriorityClass igz-workload-low of another owner"),
    "class below zero": (lambda: looked(cluster(low(-1))), "PriorityClass igz-workload-low of another owner"),
    "class that preempts": (lambda: looked(cluster(low(policy=None))), "PriorityClass igz-workload-low"),
    "class that is everybody's": (
        lambda: looked(
            cluster(live("PriorityClass", "igz-workload-low", value=100, preemptionPolicy="Never", globalDefault=True))
        ),
        "PriorityClass igz-workload-low",
    ),
    "storage class of another driver": (
        lambda: looked(
            replace(
                cluster(),
                shared={SharedObject(SharedKind.STORAGE_CLASS, "fast"): live("StorageClass", "fast", provisioner="x")},
            ),
            {"cluster.storageClass": STORAGE},
        ),
        "StorageClass fast of another owner",
    ),
    "second default storage class": (
        lambda: looked(cluster(), {"cluster.storageClass": STORAGE}),
        "cluster.storageClass",
    ),
    "namespace that lets privileged pods in": (
        lambda: looked(
            cluster(
                live("Namespace", "mlrun", metadata={"labels": {"pod-security.kubernetes.io/enforce": "privileged"}})
            ),
            {"namespaces": {"mlrun": {}}},
        ),
        "Namespace mlrun of another owner",
    ),
    "namespace whose owner keeps core services out": (
        lambda: looked(
            cluster(live("Namespace", "mlrun", metadata={"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}))
        ),
        "Namespace mlrun of another owner",
    ),
    "namespace that is going": (
        lambda: looked(cluster(live("Namespace", "mlrun", status={"phase": "Terminating"}))),
        "Namespace mlrun",
    ),
    "old Kubernetes": (lambda: looked(cluster(minor=29)), "the API server"),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_is_refused_with_what_is_there_and_what_is_wanted(name: str) -> None:
    make, where = CONFLICTS[name]
    blockers = make().blockers
    assert any(each.where.startswith(where) for each in blockers), blockers
    for each in blockers:
        assert f"found {each.found}; required {each.required}." in str(each)
        assert each.step.endswith((".", "`."))


def test_all_conflicts_are_told_at_once() -> None:
    there = cluster(low(-7), nodes=(NODES[0], node("compute-0", "compute", **{LabelKey.POOL: "x"})), minor=29)
    assert {each.where.split(",")[0] for each in looked(there).blockers} == {
        "the API server",
        "pools.workload.size",
        "pools.gpu.size",
        "node compute-0",
        "PriorityClass igz-workload-low of another owner",
    }


def test_what_agrees_is_adopted_and_what_we_made_is_not() -> None:
    what = SharedObject(SharedKind.PRIORITY_CLASS, "igz-workload-low")
    assert looked(cluster(low())).inventory.adopted == {what}
    assert looked(cluster(low()), made=frozenset({"uid-of-igz-workload-low"})).inventory.adopted == frozenset()
    # Its value is its owner's, while the order of the three stays.
    assert looked(cluster(low(7))).inventory.adopted == {what}
    assert looked(cluster(low(7))).blockers == ()
    # A killed run made it and could not save that.
    assert looked(cluster(low(manager=FIELD_MANAGER))).inventory.adopted == frozenset()
    # It has the name and the manager's fields of another owner beside ours: adopted before, and so again.
    assert looked(cluster(low()), made=frozenset({"uid-of-what-was-there-before"})).inventory.adopted == {what}


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_default_class_may_be_marked_in_the_old_way(value: str) -> None:
    metadata = {"annotations": {"storageclass.beta.kubernetes.io/is-default-class": value}}
    old = live("StorageClass", "old", metadata=metadata, provisioner="csi.example.org")
    there = replace(cluster(), shared={SharedObject(SharedKind.STORAGE_CLASS, "old"): old})
    blockers = looked(there, {"cluster.storageClass": STORAGE}).blockers
    assert [each.found for each in blockers] == (["another default StorageClass, old"] if value == "true" else [])
    assert any("no default StorageClass" in note for note in looked(there).notes) == (value == "false")


def test_a_node_that_tells_half_of_its_capacity_is_not_judged_by_it() -> None:
    content = deepcopy(dict(node("core-0", "core").content))
    content["status"] = {"capacity": {"memory": "1Gi"}}
    assert looked(cluster(nodes=with_node(LiveObject(content)))).blockers == ()


def test_a_class_of_ours_may_differ_the_engine_changes_it() -> None:
    assert looked(cluster(low(7, manager=FIELD_MANAGER))).blockers == ()


def test_a_label_of_ours_may_differ_when_a_node_changes_pools() -> None:
    key = LabelKey.POOL.value
    metadata = {"labels": {"rack": "core", key: "workload"}}
    moved = live(
        "Node", "core-0", FIELD_MANAGER, ("metadata", "labels", key), metadata=metadata, status={"capacity": CAPACITY}
    )
    assert looked(cluster(nodes=with_node(moved))).blockers == ()


def test_a_level_of_ours_may_differ_on_a_namespace_of_another_owner() -> None:
    key = "pod-security.kubernetes.io/enforce"
    adopted = live("Namespace", "mlrun", metadata={"labels": {key: "baseline"}})
    entry = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields("metadata", "labels", key)}
    adopted.content["metadata"]["managedFields"].append(entry)
    assert looked(cluster(adopted)).blockers == ()


def test_a_label_that_nobody_is_noted_for_is_somebody_elses() -> None:
    content = deepcopy(dict(node("core-0", "core", **{LabelKey.POOL: "other"}).content))
    content["metadata"].pop("managedFields")
    (blocker,) = looked(cluster(nodes=with_node(LiveObject(content)))).blockers
    assert "set by an unknown manager" in blocker.found


@pytest.mark.parametrize(("value", "settings"), [(100, "matching settings"), (7, "value 7, ours would be 100")])
def test_what_is_adopted_is_noted_with_its_value(value: int, settings: str) -> None:
    note = f"PriorityClass igz-workload-low already exists with {settings}; it is kept, even after `destroy`."
    assert looked(cluster(low(value))).notes == (note,)


def test_the_note_about_a_default_class_has_the_values_of_adopted_classes() -> None:
    *_, note = looked(cluster(low(7), live("PriorityClass", "standard", value=1000, globalDefault=True))).notes
    assert "user classes range from 7 to 300" in note


LACKS: dict[str, tuple[Callable[[], Inspection], str]] = {
    "no default storage class": (lambda: looked(replace(cluster(), shared={})), "no default StorageClass"),
    "a class for everybody": (
        lambda: looked(cluster(live("PriorityClass", "standard", value=1000, globalDefault=True))),
        "PriorityClass standard is the cluster's default: pods without a class get its priority 1000",
    ),
    "no tolerations": (lambda: looked(cluster(adds_tolerations=False)), "ExtendedResourceToleration is off"),
    "tolerations unknown": (lambda: looked(cluster(adds_tolerations=None)), "could not be tested"),
    "no metrics": (lambda: looked(cluster(has_metrics=False)), "install metrics-server"),
    "no autoscaler": (
        lambda: looked(cluster(has_autoscaler=False), {"cluster.autoscaler": True}),
        "no deployment named cluster-autoscaler or karpenter",
    ),
    "no device plug-in": (
        lambda: looked(cluster(), {"pools.gpu.machine": {"vcpus": 8, "memoryGib": 32, "gpus": 4}}),
        "offer fewer than 4 of nvidia.com/gpu",
    ),
    "a pool that grows": (
        lambda: looked(cluster(), {"cluster.autoscaler": True, "pools.workload.size": {"min": 1, "max": 5}}),
        "Ask the owner to set them on new nodes: app.iguazio.com/lifecycle=non-preemptible",
    ),
    "a taint that nothing tolerates": (
        lambda: looked(
            cluster(nodes=with_node(node("core-0", "core", taints=[{"key": "mine", "effect": "NoSchedule"}])))
        ),
        "the taint mine:NoSchedule of another owner",
    ),
    "a namespace without Pod Security": (
        lambda: looked(cluster(live("Namespace", "mlrun"))),
        "new pods there must meet 'baseline'",
    ),
}


@pytest.mark.parametrize("name", LACKS)
def test_what_the_cluster_lacks_is_said_and_stops_nobody(name: str) -> None:
    make, said = LACKS[name]
    seen = make()
    assert seen.blockers == ()
    assert any(said in note for note in seen.notes), seen.notes


def test_taints_of_the_moment_are_nobodys_business() -> None:
    cordoned = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    assert looked(cluster(nodes=with_node(node("core-0", "core", taints=[cordoned])))).notes == ()


def test_a_taint_of_ours_goes_when_the_node_leaves_its_pool() -> None:
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    content = deepcopy(dict(node("old", "store", taints=[taint]).content))
    content["metadata"]["annotations"] = {"igz-clusters.io/taints": "nvidia.com/gpu=present:NoSchedule"}
    changes = looked(cluster(nodes=(*NODES, LiveObject(content)))).taints
    assert "taints of node old: - nvidia.com/gpu=present:NoSchedule" in map(str, changes)


@pytest.mark.parametrize("offered", [True, False])
def test_the_program_learns_whether_the_api_server_can_add_places(offered: bool) -> None:
    assert looked(cluster(mutates=offered)).inventory.mutates is offered


def test_the_program_learns_where_pods_find_the_api_server() -> None:
    seen = looked(cluster(api_server=("10.96.0.1/32", "fd00::7/128"), api_ports=(443, 6443))).inventory
    again = ClusterInventory.from_json(seen.to_json())
    (egress,) = again.egress
    assert (egress.cidrs, egress.ports) == (("10.96.0.1/32", "fd00::7/128"), (443, 6443))


def test_an_api_server_that_could_not_be_read_is_said() -> None:
    unread = looked(cluster(api_server=()))
    assert unread.inventory.egress == ()
    assert any("user pods do not reach the API server" in note for note in unread.notes)


STORING = {"storage": {"corpus": {"purpose": "dataset", "type": "files", "storageClass": "nfs"}}}


def shared_class(**content: Any) -> LiveObject:
    return live("StorageClass", "nfs", **{"provisioner": "nfs.csi.k8s.io", "reclaimPolicy": "Retain", **content})


def test_a_class_of_shared_files_is_fine() -> None:
    seen = looked(cluster(shared_class()), STORING)
    assert seen.blockers == seen.notes == ()


def test_a_class_that_is_not_there_is_refused_with_those_that_are() -> None:
    [blocker] = looked(cluster(), STORING).blockers
    assert "storage.corpus.storageClass: found no StorageClass 'nfs' in the cluster, which has: own" in str(blocker)


@pytest.mark.parametrize("driver", ["ebs.csi.aws.com", "kubernetes.io/gce-pd"])
def test_a_class_of_disks_is_refused(driver: str) -> None:
    [blocker] = looked(cluster(shared_class(provisioner=driver)), STORING).blockers
    assert f"found StorageClass 'nfs' of {driver}, whose volumes one node mounts at a time" in str(blocker)


@pytest.mark.parametrize(("driver", "count"), [("nfs.csi.k8s.io", 0), ("ebs.csi.aws.com", 1)])
def test_a_class_that_the_stack_makes_as_the_default_is_judged_as_one_that_is_there(driver: str, count: int) -> None:
    own = {"cluster.storageClass": {"name": "nfs", "provisioner": driver}}
    blockers = looked(cluster(), {**STORING, **own}).blockers
    assert sum(each.where == "storage.corpus.storageClass" for each in blockers) == count


@pytest.mark.parametrize(("purpose", "count"), [("dataset", 1), ("scratch", 0)])
def test_a_class_that_deletes_what_is_kept_is_told(purpose: str, count: int) -> None:
    seen = looked(cluster(shared_class(reclaimPolicy="Delete")), {**STORING, "storage.corpus.purpose": purpose})
    assert seen.blockers == ()
    assert len([note for note in seen.notes if "StorageClass nfs deletes the data" in note]) == count
