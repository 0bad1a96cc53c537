"""What pods need on the groups of a cluster; tests/control_plane/test_corrections.py lets an API server do it."""

from typing import Any

import pytest

from components.contract.groups import resolve_groups
from components.contract.pod_corrections import PodCorrections, correction_patches, pod_corrections
from components.contract.pools import NodePool
from components.contract.taints import AKS_SPOT_TAINT, OWN_SPOT_TAINT, Taint

JOBS = {"role": "workload", "size": {"min": 0, "max": 9}, "instanceTypes": ["m6i.2xlarge"]}
GPU = {"role": "gpu", "size": {"min": 0, "max": 9}, "instanceTypes": ["g5.4xlarge"]}
SPOT = {**JOBS, "lifecycle": "spot"}
SPOT_GPU = {**GPU, "lifecycle": "spot"}
ROLES = {"gpu_resources": ("nvidia.com/gpu",), "gpu_role": "gpu", "job_role": "workload"}


@pytest.mark.parametrize(
    ("pools", "spot_taint", "expected"),
    [
        ({"jobs": JOBS}, None, PodCorrections(job_role="workload")),
        ({"gpu": GPU}, None, PodCorrections(gpu_role="gpu")),
        ({"jobs": JOBS, "gpu": GPU}, None, PodCorrections(**ROLES)),
        ({"spot": SPOT}, OWN_SPOT_TAINT, PodCorrections(job_role="workload", spot_taint=OWN_SPOT_TAINT)),
        ({"jobs": JOBS, "gpu": SPOT_GPU}, AKS_SPOT_TAINT, PodCorrections(**ROLES, spot_taint=AKS_SPOT_TAINT)),
        ({"spot": SPOT}, None, PodCorrections(job_role="workload", has_untainted_spot=True)),
        # The GPU's taint does not keep GPU pods off spot nodes.
        ({"jobs": JOBS, "gpu": SPOT_GPU}, None, PodCorrections(**ROLES, has_untainted_spot=True)),
    ],
)
def test_a_pod_is_corrected_only_as_far_as_the_groups_need_it(
    pools: dict[str, Any], spot_taint: Taint | None, expected: PodCorrections
) -> None:
    groups = resolve_groups({name: NodePool.model_validate(pool) for name, pool in pools.items()}, spot_taint)
    assert pod_corrections(groups) == expected


def test_a_cluster_with_one_kind_of_groups_corrects_nothing() -> None:
    assert not pod_corrections(resolve_groups({"jobs": NodePool.model_validate(JOBS)})).is_needed


def test_no_toleration_is_added_for_a_taint_that_no_node_has() -> None:
    assert "tolerations/-" not in correction_patches(PodCorrections(has_untainted_spot=True))
