"""Mistakes of labels, taints, devices and zones, with what scheduler 1.36.3 and Cluster Autoscaler say about them."""

from typing import Any

from support.records import (
    GPU_TAINT,
    SPOT_TAINT,
    USER,
    group,
    hints,
    node,
    pod,
    record,
    spec,
)

SOON = {"expect": "waits-at-most", "work": "train", "time": "5m"}
NO_MATCH = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."  # noqa: E501 as the scheduler says it
TAINTED = "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had "
"untolerated taint(s)."
UNFIT = "pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector"
ROLE, POOL, LIFE = "igz-clusters.io/role", "igz-clusters.io/pool", "app.iguazio.com/lifecycle"
INITIAL = group("initial", role="initial", size=(2, 2))
WORK, GPU = group("workload"), group("gpu", role="gpu", size=(0, 4))
SPOT = group("spot", lifecycle="spot", taints=(SPOT_TAINT,))
GPUS = {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
TOLERATES_GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def waiting(*groups: Any, said: tuple[str, ...] = (NO_MATCH, UNFIT), works: Any = None, **facts: Any) -> dict[str, str]:
    """Return the hints on one pod that waits."""
    stuck = pod("train-1", said=said, **{"spec": spec(**facts.pop("spec", {}))} | facts)
    return hints(record([stuck], groups=groups), SOON, **({"works": works} if works else {}))


def test_a_misspelled_label_is_named_with_the_nearest() -> None:
    found = waiting(WORK, spec={"selector": {**USER, "igz-clusters.io/rolle": "workload"}})
    assert found["works.train.nodeSelector"].endswith(
        "igz-clusters.io/rolle, which no pool has, did you mean 'igz-clusters.io/role'?"
    )


def test_a_misspelled_value_is_named_with_the_nearest() -> None:
    found = waiting(WORK, spec={"selector": {**USER, POOL: "worklaod"}})
    assert ("igz-clusters.io/pool: worklaod, which no pool has, did you mean 'workload'?") in found[
        "works.train.nodeSelector"
    ]


def test_a_selector_of_a_missing_role_asks_for_its_pool() -> None:
    found = waiting(WORK, spec={"selector": {**USER, ROLE: "jupyter"}})
    assert "jupyter, which no pool has" in found["pools"]


def test_labels_that_no_single_pool_has_are_named() -> None:
    found = waiting(WORK, GPU, spec={"selector": {ROLE: "workload", POOL: "gpu"}, "tolerations": [TOLERATES_GPU]})
    assert "no pool has all of them" in found["works.train.nodeSelector"]


def test_constrain_without_a_spot_pool_is_named() -> None:
    found = waiting(INITIAL, WORK, spec={"selector": {**USER, LIFE: "preemptible"}})
    assert "train runs on spot nodes only (mode constrain)" in found["pools"]
    assert "works.train.mode" in found


def test_on_demand_only_pods_with_only_spot_pools_are_named() -> None:
    found = waiting(INITIAL, SPOT, spec={"selector": {**USER, LIFE: "non-preemptible"}})
    assert "train runs on on-demand nodes only (mode prevent), and all pools for user work are spot" in found["pools"]


def test_a_spot_taint_that_the_job_does_not_tolerate_is_named() -> None:
    found = waiting(INITIAL, SPOT, said=(TAINTED,))
    assert f"Pool spot has the taint {SPOT_TAINT}, which train does not tolerate" in found["works.train.mode"]


def test_a_taint_that_no_pod_tolerates_is_named() -> None:
    special = group(taints=("team=vision:NoSchedule",))
    found = waiting(special, said=("0/1 nodes are available: 1 node(s) had untolerated taint {team: vision}.",))
    assert "Pool workload has the taint team=vision:NoSchedule" in found["works.train.tolerations"]


def test_a_preferred_taint_keeps_nothing_off() -> None:
    found = waiting(group(taints=("team=vision:PreferNoSchedule",)), said=(TAINTED,))
    assert "works.train.tolerations" not in found


def test_a_toleration_of_another_key_or_value_is_named() -> None:
    typo = {"key": "app.iguazio.com/lifecicle", "operator": "Exists"}
    value = {"key": LIFE, "operator": "Equal", "value": "spot", "effect": "NoSchedule"}
    for toleration, words in ((typo, "lifecicle, no taint of the stack"), (value, "with another value")):
        found = waiting(SPOT, said=(TAINTED,), spec={"tolerations": [toleration]})
        assert words in found["works.train.tolerations"]
        assert "did you mean it?" in found["works.train.tolerations"]


def test_arm_nodes_beside_amd64_ones_are_named() -> None:
    arm = group("arm", instance_type="m7g.2xlarge", taints=("igz-clusters.io/arch=arm64:NoSchedule",))
    found = waiting(arm, said=(TAINTED,))
    assert "its nodes are ARM" in found["works.train.tolerations"]


def test_an_architecture_without_a_pool_is_named() -> None:
    found = waiting(WORK, spec={"selector": {**USER, "kubernetes.io/arch": "arm64"}})
    assert [*found] == ["pools"]
    assert "needs arm64 nodes, and the pools for user work have amd64" in found["pools"]


def test_a_misspelled_architecture_is_no_request_for_a_pool() -> None:
    found = waiting(WORK, spec={"selector": {**USER, "kubernetes.io/arch": "amd46"}})
    assert [*found] == ["works.train.nodeSelector"]
    assert found["works.train.nodeSelector"].endswith("did you mean 'amd64'?")


def test_user_pods_on_the_initial_group_are_named() -> None:
    here = pod("train-1", on="i", spec=spec(selector={ROLE: "initial"}))
    expectation = {"expect": "never-on", "work": "train", "place": {"role": "initial"}}
    works = {"train": {"kind": "batch-job", "role": "workload"}}
    found = hints(record([here], groups=[INITIAL], nodes=[node("i", INITIAL)]), expectation, works=works)
    assert "the initial group, which is for core services" in found["works.train.role"]


def test_label_only_spot_with_tolerations_is_named_whether_pods_should_be_there_or_not() -> None:
    label_only = group("spot", lifecycle="spot")
    tolerant = spec(tolerations=[{"key": LIFE, "operator": "Exists"}])
    nodes = [node("s", label_only), node("w", WORK)]
    on_spot = record([pod("a", on="s", spec=tolerant)], groups=[label_only, WORK], nodes=nodes)
    elsewhere = record([pod("a", on="w", spec=tolerant)], groups=[label_only, WORK], nodes=nodes)
    place = {"work": "train", "place": {"lifecycle": "spot"}}
    for facts, expect in ((on_spot, "never-on"), (elsewhere, "lands-on")):
        found = hints(facts, place | {"expect": expect})
        assert "a label only and no taint" in found["works.train.mode"]


def test_a_toleration_leads_nowhere() -> None:
    tolerant = spec(tolerations=[{"key": LIFE, "operator": "Exists"}])
    facts = record([pod("a", on="w", spec=tolerant)], groups=[SPOT, WORK], nodes=[node("w", WORK)])
    found = hints(facts, {"expect": "lands-on", "work": "train", "place": {"lifecycle": "spot"}})
    assert "does not require them" in found["works.train.mode"]


def test_mode_prevent_keeps_work_off_spot_nodes_that_it_should_use() -> None:
    facts = record([pod("a", on="w")], groups=[SPOT, WORK], nodes=[node("w", WORK)])
    works = {"train": {"kind": "mlrun-job", "mode": "prevent"}}
    found = hints(facts, {"expect": "lands-on", "work": "train", "place": {"lifecycle": "spot"}}, works=works)
    assert "The mode prevent of train" in found["works.train.mode"]


def test_gpu_work_without_a_gpu_pool_is_named() -> None:
    found = waiting(WORK, said=("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",), spec=GPUS, gpus=1)
    assert found["pools"] == "train requests 1 nvidia.com/gpu, and the stack has no pool of role gpu."


def test_gpus_of_another_name_are_named() -> None:
    asked = {"requests": {"amd.com/gpu": "1"}, "limits": {"amd.com/gpu": "1"}}
    found = waiting(WORK, GPU, said=("0/3 nodes are available: 3 Insufficient amd.com/gpu.",), spec=asked, gpus=1)
    assert ("requests amd.com/gpu, which no pool offers; the GPU pools offer nvidia.com/gpu") in found[
        "pools.gpu.gpuResource"
    ]


def test_whole_gpus_where_all_are_shared_need_a_pool_of_their_own() -> None:
    shared = group("gpu", role="gpu", gpu_resource="nvidia.com/gpu.shared")
    found = waiting(WORK, shared, said=("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",), spec=GPUS, gpus=1)
    assert "requests nvidia.com/gpu, which no pool offers; the GPU pools offer nvidia.com/gpu.shared" in found["pools"]
    assert "pools.gpu.gpuResource" not in found


def test_more_gpus_for_a_pod_than_any_machine_has_are_named() -> None:
    many = {"requests": {"nvidia.com/gpu": "4"}, "limits": {"nvidia.com/gpu": "4"}, "tolerations": [TOLERATES_GPU]}
    found = waiting(GPU, said=("pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu",), spec=many, gpus=4)
    assert ("requests 4 nvidia.com/gpu, and the largest machine of the GPU pools, g5.2xlarge, has 1") in found[
        "pools.gpu.instanceTypes"
    ]


def test_a_launcher_on_a_gpu_selector_is_named() -> None:
    launcher = pod("train-1-launcher", spec=spec(selector={**USER, ROLE: "gpu"}), said=(TAINTED,), unit="train-1")
    works = {"train": {"kind": "mpi", "role": "gpu", "gpus": 1}}
    found = hints(record([launcher], groups=[WORK, GPU]), SOON, works=works)
    assert "train-1-launcher requests no GPU but selects GPU nodes" in found["works.train.role"]
    assert GPU_TAINT in found["works.train.role"]


def test_gpu_work_that_selects_another_role_is_named() -> None:
    works = {"train": {"kind": "mlrun-job", "role": "workload"}}
    found = waiting(WORK, GPU, spec={**GPUS, "selector": {**USER, ROLE: "workload"}}, gpus=1, works=works)
    assert ("requests a GPU and selects igz-clusters.io/role: workload, whose nodes have none") in found[
        "works.train.role"
    ]


def test_a_gpu_pool_without_the_selected_label_is_named() -> None:
    unlabelled = group("gpu", role="gpu", labels={ROLE: "accelerated"})
    found = waiting(WORK, unlabelled, spec={**GPUS, "selector": {ROLE: "gpu"}}, gpus=1)
    assert "selects igz-clusters.io/role: gpu, which no pool has" in found["works.train.nodeSelector"]


CONFLICT = "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity."
CLAIM = {"volumes": [{"name": "home", "persistentVolumeClaim": {"claimName": "home"}}]}


def in_zone(zone: str) -> dict[str, Any]:
    return {"train": {"kind": "notebook", "volume": {"zone": zone}}}


def test_a_claim_in_a_zone_without_a_group_is_named() -> None:
    groups = [group(f"desk-{zone}", pool="desk", role="jupyter", zone=zone) for zone in ("eu-west-1a", "eu-west-1b")]
    found = waiting(*groups, said=(CONFLICT,), spec=CLAIM, works=in_zone("eu-west-1c"))
    assert ("zone eu-west-1c, and its pools have nodes in eu-west-1a, eu-west-1b only") in found[
        "works.train.volume.zone"
    ]
    assert "has no group in zone eu-west-1c" in found["pools.desk.size.max"]


def test_an_elastic_group_over_several_zones_that_is_unknown_at_zero_is_named() -> None:
    found = waiting(group("desk", role="jupyter"), said=(CONFLICT,), spec=CLAIM, works=in_zone("eu-west-1b"))
    assert "span several zones and may be empty" in found["pools.desk.zonal"]


def test_a_claim_in_a_zone_that_is_full_is_named() -> None:
    full = group("desk-a", pool="desk", role="jupyter", zone="eu-west-1a", size=(0, 1))
    found = waiting(full, said=(CONFLICT,), spec=CLAIM, works=in_zone("eu-west-1a"))
    assert "where pool desk has at most 1 node." in found["pools.desk.size.max"]


def test_a_zone_that_the_cluster_does_not_have_is_named_where_the_work_selects_it(monkeypatch: Any) -> None:
    monkeypatch.setattr("workbench.rehearsal.verdicts.hints_volumes.zones_of", lambda _: ("eu-west-1a", "eu-west-1b"))
    selects = {"selector": {**USER, "topology.kubernetes.io/zone": "eu-west-1f"}}
    works = {"train": {"kind": "notebook", "volume": {"size": "1Gi"}}}
    for there in (WORK, group("workload-a", pool="workload", zone="eu-west-1a")):
        found = waiting(there, spec=selects, works=works)
        assert "zones of the cluster are eu-west-1a, eu-west-1b" in found["works.train.nodeSelector"]
        assert "cluster.zones" in found
