from typing import Any

import yaml

from components.clusters.local.node_groups import autoscaler_config, autoscaler_templates, node_metadata
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.labels import AnnotationKey, LabelKey
from components.contract.pools import NodePool
from components.contract.taints import OWN_SPOT_TAINT


def groups(**pool: Any) -> tuple[NodeGroup, ...]:
    choices = {"size": {"min": 1, "max": 4}, **pool}
    return resolve_groups({"pool": NodePool.model_validate(choices)}, OWN_SPOT_TAINT)


def templates(**pool: Any) -> dict[str, dict[str, Any]]:
    items = yaml.safe_load(autoscaler_templates(groups(**pool)))["items"]
    return {item["metadata"]["annotations"][AnnotationKey.GROUP]: item for item in items}


def test_each_shape_of_a_pool_is_a_group_of_the_autoscaler_with_the_size_of_its_machines() -> None:
    found = templates(role="workload", instanceTypes=["m6i.2xlarge", "m6i.4xlarge"])
    assert {name: item["status"]["capacity"]["cpu"] for name, item in found.items()} == {
        "pool": "8",
        "pool-16cpu-64gib": "16",
    }
    assert {item["metadata"]["labels"][LabelKey.POOL] for item in found.values()} == {"pool"}


def test_each_shape_of_a_gpu_pool_offers_its_own_number_of_gpus() -> None:
    pool = {"role": "gpu", "instanceTypes": ["g5.2xlarge", "p4d.24xlarge"]}
    found = templates(**pool)
    assert [item["status"]["allocatable"]["nvidia.com/gpu"] for item in found.values()] == ["1", "8"]
    models = yaml.safe_load(autoscaler_config(groups(**pool)))["nodes"]["gpuConfig"]["availableGPUTypes"]
    assert set(models) == {"A10G", "A100"}


def test_a_static_node_says_nothing_of_a_group_that_could_be_gone() -> None:
    (group,) = groups(role="initial", size={"min": 2, "max": 2}, instanceTypes=["m6i.2xlarge"])
    assert AnnotationKey.GROUP not in node_metadata(group, "pool-0")["annotations"]
