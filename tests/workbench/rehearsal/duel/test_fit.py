"""What keeps a stack from a duel is said with the field that decides."""

from typing import Any

import pytest

from support.rehearsal_stacks import POOLS, stack
from support.shipped_stacks import SHIPPED, shipped
from workbench.rehearsal.duel.fit import problems_of


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_stack_fits_unless_nothing_scales_it(name: str) -> None:
    config = shipped(name)
    assert bool(problems_of(config)) == (not any(group.is_elastic for group in config.groups))


def pool(**choices: Any) -> dict[str, Any]:
    return {"role": "workload", "size": {"min": 0, "max": 2}, "instanceTypes": ["m6i.2xlarge"], **choices}


def problem(**pools: Any) -> str:
    (found,) = problems_of(stack(pools={"initial": POOLS["initial"], **pools}))
    return found


def test_a_stack_of_fixed_size_has_nothing_to_scale() -> None:
    assert problem() == "no pool has a size.max above its size.min, so nothing scales it."


def test_shares_of_one_machine_type_differ_from_whole_gpus() -> None:
    sharing = {"mode": "time-slicing", "replicas": 4}
    whole = pool(role="gpu", instanceTypes=["g5.2xlarge"])
    said = problem(gpu=whole, shared={**whole, "sharing": sharing})
    assert said.startswith("pools.shared: g5.2xlarge offers other resources than in pool gpu;")


def test_labels_that_karpenter_keeps_for_itself_are_named() -> None:
    said = problem(work=pool(labels={"karpenter.sh/nodepool": "x"}))
    assert said == "pools.work.labels: Karpenter allows no label karpenter.sh/nodepool on a NodePool."


def test_a_pool_with_two_gpu_models_needs_to_be_two() -> None:
    said = problem(gpu=pool(role="gpu", instanceTypes=["g5.2xlarge", "g4dn.12xlarge"]))
    assert said.startswith("pools.gpu.instanceTypes: has the GPU models A10G, T4;")


def test_a_machine_type_with_two_sets_of_resources_is_refused() -> None:
    one, two = (pool(role="gpu", instanceTypes=["g5.2xlarge"], gpuResource=f"{each}.com/gpu") for each in "ab")
    assert "g5.2xlarge offers other resources than in pool one" in problem(one=one, two=two)
