"""Pods as users write them, placed by the real scheduler on nodes that the real autoscaler makes."""

import re

import pytest

from components.clusters.local.node_groups import node_metadata, node_taints
from components.contract.groups import resolve_groups
from components.contract.labels import AnnotationKey, LabelKey, WellKnownLabel
from components.contract.pools import NodePool
from components.contract.taints import ARM_TAINT, OWN_SPOT_TAINT
from support.cluster import Cluster, eventually, holds_for, pod
from workbench.stacks import find

pytestmark = pytest.mark.control_plane

USER = {LabelKey.USER_WORKLOADS.value: "true"}
ON_SPOT = pod(
    "on-spot",
    annotations={AnnotationKey.RESTART_PLAN.value: "retry"},
    nodeSelector={**USER, LabelKey.LIFECYCLE.value: "preemptible"},
    tolerations=[OWN_SPOT_TAINT.toleration()],
)


def test_a_pod_that_selects_and_tolerates_spot_gets_a_spot_node_from_zero(cluster: Cluster) -> None:
    eventually(lambda: not cluster.nodes(pool="spot"))
    cluster.apply(ON_SPOT)
    assert eventually(lambda: cluster.pool_of("on-spot")) == "spot"
    (node,) = cluster.nodes(pool="spot").values()
    assert node["metadata"]["labels"][LabelKey.LIFECYCLE] == "preemptible"
    assert OWN_SPOT_TAINT.to_kubernetes() in node["spec"]["taints"]


def test_the_default_selector_never_leads_to_spot_gpu_or_initial_nodes(cluster: Cluster) -> None:
    # Room on a spot, a GPU and two initial nodes, so that keeping off them is a choice and no accident.
    cluster.apply(ON_SPOT)
    cluster.apply(pod("on-gpu", gpus=1, nodeSelector=USER))
    assert eventually(lambda: cluster.pool_of("on-spot")) == "spot"
    assert eventually(lambda: cluster.pool_of("on-gpu")) == "gpu"
    names = [f"job-{index}" for index in range(6)]
    for name in names:  # more than fits on the nodes that are there, so the autoscaler has to choose as well
        cluster.apply(pod(name, cpu="3", nodeSelector=USER))
    placed = {name: eventually(lambda name=name: cluster.pool_of(name)) for name in names}
    assert set(placed.values()) <= {"workload", "jupyter"}


def test_only_pods_that_ask_for_arm_get_arm_nodes(cluster: Cluster) -> None:
    arm = {"role": "workload", "size": {"min": 1, "max": 1}, "instanceTypes": ["m7g.2xlarge"]}
    pools = {**find("local").config.pools, "arm": NodePool.model_validate(arm)}
    (group,) = (each for each in resolve_groups(pools) if each.name == "arm")
    spec = {"taints": node_taints(group)}
    cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": node_metadata(group, "arm-0"), "spec": spec})
    eventually(lambda: cluster.nodes(pool="arm")["arm-0"]["status"].get("allocatable"))
    names = [f"amd-{index}" for index in range(6)]
    for name in names:
        cluster.apply(pod(name, nodeSelector=USER))
    selector = {**USER, WellKnownLabel.ARCH.value: "arm64"}
    cluster.apply(pod("on-arm", nodeSelector=selector, tolerations=[ARM_TAINT.toleration()]))
    assert eventually(lambda: cluster.pool_of("on-arm")) == "arm"
    placed = {eventually(lambda name=name: cluster.pool_of(name)) for name in names}
    assert placed <= {"workload", "jupyter"}
    cluster.kubectl("delete", "pod", "on-arm", "-n", "mlrun", "--grace-period=0", "--force")
    cluster.kubectl("delete", "node", "arm-0")


def test_a_pod_that_chooses_another_place_than_user_pools_is_refused_with_words_that_help(cluster: Cluster) -> None:
    refused = cluster.apply(pod("lost", nodeSelector={LabelKey.POOL.value: "initial"}), check=False)
    assert refused.returncode == 1
    assert "[PL-01]" in refused.stderr
    assert "igz-clusters.io/user-workloads" in refused.stderr


def test_a_pod_that_names_a_node_is_refused(cluster: Cluster) -> None:
    refused = cluster.apply(pod("pinned", nodeSelector=USER, nodeName="initial-0"), check=False)
    assert "[PL-04]" in refused.stderr


def test_a_system_class_is_refused_to_user_work(cluster: Cluster) -> None:
    for name in ("igz-system-critical", "system-node-critical"):
        refused = cluster.apply(pod("proud", nodeSelector=USER, priorityClassName=name), check=False)
        assert refused.returncode == 1, name
        assert re.search(r"igz-workload-medium.*\[PR-05\]", refused.stderr), name


@pytest.mark.full
def test_who_names_no_class_learns_that_a_global_default_gave_one(cluster: Cluster) -> None:
    foreign = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "foreign"}}
    cluster.apply({**foreign, "value": 50, "globalDefault": True})
    try:
        refused = eventually(
            lambda: "[PR-05]" in (said := cluster.apply(pod("plain", nodeSelector=USER), check=False).stderr) and said
        )
        assert "globalDefault: true" in refused
    finally:
        cluster.kubectl("delete", "priorityclass", "foreign")


def test_a_pod_that_asks_for_a_gpu_gets_its_toleration_and_a_gpu_node_from_zero(cluster: Cluster) -> None:
    eventually(lambda: not cluster.nodes(pool="gpu"))
    cluster.apply(pod("trainer", gpus=1, nodeSelector=USER))
    tolerated = {t["key"] for t in cluster.pod("trainer")["spec"]["tolerations"]}
    assert "nvidia.com/gpu" in tolerated
    assert eventually(lambda: cluster.pool_of("trainer")) == "gpu"
    (node,) = cluster.nodes(pool="gpu").values()
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "1"


def is_at_minimum(cluster: Cluster) -> bool:
    """Return whether the autoscaler has removed every node that it may."""
    minimum = {"workload": 1, "spot": 0, "jupyter": 0, "gpu": 0}
    return {pool: len(cluster.nodes(pool=pool)) for pool in minimum} == minimum


def test_with_the_cluster_full_a_high_pod_evicts_nothing_and_goes_before_low_ones(cluster: Cluster) -> None:
    # Each node of an earlier test that leaves lets the scheduler try the waiting pods again, and back off.
    eventually(lambda: is_at_minimum(cluster))
    full = 4  # GPU nodes at most, one GPU each
    runners = [f"low-{index}" for index in range(full)]
    for name in runners:
        cluster.apply(pod(name, gpus=1, nodeSelector=USER, priorityClassName="igz-workload-low"))
    for name in runners:
        assert eventually(lambda name=name: cluster.pool_of(name)) == "gpu"
    for name in ("low-waiting-1", "low-waiting-2"):
        cluster.apply(pod(name, gpus=1, nodeSelector=USER, priorityClassName="igz-workload-low"))
    cluster.apply(pod("high", gpus=1, nodeSelector=USER, priorityClassName="igz-workload-high"))
    # Longer than the scheduler's back-off of at most 10 s: a pod that waits in it lets those of lower priority pass.
    holds_for(lambda: all(cluster.pool_of(name) == "gpu" for name in runners), seconds=11)
    assert cluster.pool_of("high") is None
    cluster.kubectl("delete", "pod", runners[0], "-n", "mlrun", "--grace-period=0", "--force")
    assert eventually(lambda: cluster.pool_of("high")) == "gpu"
    assert cluster.pool_of("low-waiting-1") is None
    assert cluster.pool_of("low-waiting-2") is None


def test_a_pod_that_fits_no_pool_stays_pending_with_the_schedulers_reason(cluster: Cluster) -> None:
    cluster.apply(pod("giant", cpu="64", nodeSelector=USER))

    def reason() -> str:
        conditions = cluster.pod("giant")["status"].get("conditions", [])
        return next((c["message"] for c in conditions if c["type"] == "PodScheduled"), "")

    assert "Insufficient cpu" in eventually(reason)
    holds_for(lambda: cluster.pool_of("giant") is None, seconds=5)


def test_emptied_elastic_nodes_are_removed_and_static_ones_never(cluster: Cluster) -> None:
    static = set(cluster.nodes(pool="initial"))
    cluster.apply(pod("short", gpus=1, nodeSelector=USER))
    eventually(lambda: cluster.nodes(pool="gpu"))
    cluster.kubectl("delete", "pod", "short", "-n", "mlrun", "--grace-period=0", "--force")
    eventually(lambda: is_at_minimum(cluster))
    assert set(cluster.nodes(pool="initial")) == static == {"initial-0", "initial-1"}
