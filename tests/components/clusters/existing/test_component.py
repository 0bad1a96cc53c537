"""What an existing cluster of another owner is declared as: patches of what is there, and nothing that is forced."""

from functools import cache
from typing import Any

import pytest

from components.contract.existing.cluster_inventory import SharedKind, SharedObject
from components.contract.groups import resolve_groups
from components.contract.labels import AnnotationKey, LabelKey
from components.contract.ownership import FIELD_MANAGER
from components.contract.taints import OWN_SPOT_TAINT
from infra.program import run
from support.existing import CLUSTER_ID, MACHINE, config, sighting_of
from support.policies import Wire, sent
from support.recorder import Recorder, record

NODE = "kubernetes:core/v1:NodePatch"
POOL = "igz-clusters:clusters:ExistingPool"
FORCE = "pulumi.com/patchForce"
CLASS, NAMESPACE, STORAGE = (
    SharedObject(SharedKind.PRIORITY_CLASS, "igz-workload-low"),
    SharedObject(SharedKind.NAMESPACE, "mlrun"),
    SharedObject(SharedKind.STORAGE_CLASS, "fast"),
)
CHOICES: dict[str, Any] = {
    "cluster.storageClass": {"name": "fast", "provisioner": "csi.example.com"},
    "cluster.nodes.spot": {"selector": {"rack": "spare"}, "taint": True},
    "cluster.nodes.jupyter": {"selector": {"rack": "desks"}},
    "pools.initial.size": {"min": 2, "max": 2},
    "pools.spot": {"role": "workload", "lifecycle": "spot", "size": {"min": 1, "max": 1}, "machine": MACHINE},
    "pools.jupyter": {"role": "jupyter", "size": {"min": 1, "max": 1}, "machine": MACHINE},
}


@cache
def built(*adopted: SharedObject) -> Recorder:
    stack = config(CHOICES)
    return record(lambda: run(stack, sighting=sighting_of(stack, *adopted)))


def test_nodes_get_the_labels_of_their_pool_and_nothing_else() -> None:
    groups = {group.pool: group for group in resolve_groups(config(CHOICES).pools, OWN_SPOT_TAINT)}
    nodes = built().of_type(NODE)
    assert set(nodes) == {"initial-0", "initial-1", "workload-0", "workload-1", "gpu-0", "spot-0", "jupyter-0"}
    for name, inputs in nodes.items():
        assert inputs.keys() <= {"apiVersion", "kind", "metadata"}, "taints are one value, and no resource's"
        assert inputs["metadata"]["labels"] == dict(groups[name.partition("-")[0]].labels)
        assert inputs["metadata"]["annotations"] == {"pulumi.com/patchFieldManager": FIELD_MANAGER}


def test_no_autoscaler_removes_a_data_node() -> None:
    disks = {"role": "data", "size": {"min": 1, "max": 1}, "machine": {**MACHINE, "localNvmeGib": 900}}
    stack = config({"cluster.nodes.data": {"selector": {"rack": "disks"}}, "pools.data": disks})
    recorder = record(lambda: run(stack, sighting=sighting_of(stack)))
    protected = {
        name
        for name, inputs in recorder.of_type(NODE).items()
        if inputs["metadata"]["annotations"].get("cluster-autoscaler.kubernetes.io/scale-down-disabled") == "true"
    }
    assert protected == {"data-0"}


def test_a_node_is_the_same_resource_in_whichever_pool_it_is() -> None:
    """Made anew it would be deleted after its successor, under the same manager, and take the new labels along."""
    parents = {built().options[NODE, name].parent for name in built().of_type(NODE)}
    assert len(parents) == 1
    assert parents.pop().endswith("::test")


def test_the_provider_gets_a_context_and_no_content() -> None:
    (inputs,) = built().of_type("pulumi:providers:kubernetes").values()
    assert inputs == {"context": "on-prem", "clusterIdentifier": CLUSTER_ID, "enableConfigMapMutable": "true"}
    stack = config({"cluster.kubeconfig": "~/.kube/on-prem"})
    recorder = record(lambda: run(stack, sighting=sighting_of(stack)))
    (inputs,) = recorder.of_type("pulumi:providers:kubernetes").values()
    assert inputs["kubeconfig"] == "~/.kube/on-prem"


def test_the_cluster_is_marked_with_its_stack() -> None:
    mark = built().of_type("kubernetes:core/v1:NamespacePatch")["kube-system"]
    assert mark["metadata"]["annotations"][AnnotationKey.STACK] == "test"
    assert FORCE not in mark["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("what", "made"),
    [
        (CLASS, "kubernetes:scheduling.k8s.io/v1:PriorityClass"),
        (NAMESPACE, "kubernetes:core/v1:Namespace"),
        (STORAGE, "kubernetes:storage.k8s.io/v1:StorageClass"),
    ],
)
def test_what_somebody_else_made_is_joined_and_neither_owned_nor_forced(what: SharedObject, made: str) -> None:
    assert what.name in built().of_type(made)
    adopted = built(what)
    assert what.name not in adopted.of_type(made)
    joined = adopted.of_type(f"{made}Patch")[what.name]
    assert FORCE not in joined["metadata"]["annotations"]
    assert FORCE in built().of_type(made)[what.name]["metadata"]["annotations"]


@pytest.mark.parametrize("adopted", [(), (CLASS, NAMESPACE, STORAGE)], ids=["nothing", "all kinds"])
@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_both_packs_pass_without_a_doubt_whatever_is_adopted(
    environment: str, adopted: tuple[SharedObject, ...]
) -> None:
    changes = {**CHOICES, "environment": environment}
    if environment == "prod":
        changes |= {"pools.initial.size": {"min": 3, "max": 3}, "pools.jupyter": None, "cluster.nodes.jupyter": None}
    stack = config(changes)
    recorder = record(lambda: run(stack, sighting=sighting_of(stack, *adopted)))
    report = Wire(stack={"environment": environment, "profile": "mlrun-ce"}).judge_stack(sent(recorder))
    assert report.outcome == {"expect": [], "advise": [], "unjudged": []}


def test_a_pool_says_all_that_rules_ask_of_a_group() -> None:
    gpu = built().of_type(POOL)["test-gpu"]
    assert gpu["labels"][LabelKey.ROLE] == "gpu"
    assert gpu["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert (gpu["size"], gpu["machines"][0]["gpus"], gpu["gpuResource"]) == ({"min": 1, "max": 1}, 2, "nvidia.com/gpu")


def test_without_a_look_at_the_cluster_nothing_is_declared() -> None:
    """Otherwise every label would be taken from the nodes again."""
    with pytest.raises(ValueError, match="needs an inventory"):
        record(lambda: run(config()))
