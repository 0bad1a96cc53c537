from typing import Any

import pytest

from components.contract.gangs import gpu_room
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.policy_choices import AdmissionMode
from components.contract.pools import NodePool
from components.scheduling.gangs import Gangs, GangsArgs
from support.recorder import record

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"


def groups(**pools: dict[str, Any]) -> tuple[NodeGroup, ...]:
    workload = {"role": "workload", "size": {"min": 0, "max": 9}, "instanceTypes": ["m6i.2xlarge"]}
    gpu = {"role": "gpu", "size": {"min": 0, "max": 3}, "instanceTypes": ["g5.2xlarge"]}
    models = {name: NodePool.model_validate(gpu | pool) for name, pool in pools.items()}
    return resolve_groups({"workload": NodePool.model_validate(workload), **models})


def test_the_room_is_that_of_all_groups_of_whole_gpus() -> None:
    room = gpu_room(
        groups(
            gpu={"instanceTypes": ["g5.2xlarge", "g5.12xlarge"]},
            amd={"gpuResource": "amd.com/gpu", "size": {"min": 0, "max": 2}},
            shared={"gpuResource": "nvidia.com/gpu.shared"},
        )
    )
    # Each group of a pool may grow to the pool's maximum.
    assert room.nodes == {"nvidia.com/gpu": [(1, 3), (4, 3)], "amd.com/gpu": [(1, 2)]}
    assert room.shown["amd.com/gpu"] == "amd: 2 nodes with 1"


@pytest.mark.parametrize(("mode", "actions"), [("deny", ["Deny"]), ("warn", ["Warn", "Audit"])])
def test_the_stack_file_decides_between_a_refusal_and_a_warning(mode: str, actions: list[str]) -> None:
    recorder = record(lambda: Gangs("x", GangsArgs(groups=groups(gpu={}), admission=AdmissionMode(mode))) and None)
    assert recorder.of_type(f"{POLICY}Binding")["igz-gangs"]["spec"]["validationActions"] == actions


def test_clusters_without_gpus_get_no_policy() -> None:
    recorder = record(lambda: Gangs("x", GangsArgs(groups=groups())) and None)
    assert recorder.of_type(POLICY) == {}
