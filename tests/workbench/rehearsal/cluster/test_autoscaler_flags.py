"""The rehearsed autoscaler decides as the deployed one does, only faster."""

import pytest

from components.contract.autoscaler import BALANCING_LABELS, SCALING
from components.contract.headroom import BYPASSED_FLAG, HEADROOM
from support.shipped_stacks import SHIPPED, changed, shipped
from workbench.rehearsal.cluster.autoscaler_flags import DEFAULTS, autoscaler_flags
from workbench.rehearsal.settings import Pace

REAL = Pace(speed=1, node_start=0)


def real_seconds(text: object) -> float:
    assert isinstance(text, str)
    return int(text.removesuffix("ms")) / 1000


@pytest.mark.parametrize("name", SHIPPED)
def test_at_real_speed_every_time_is_the_clusters_own(name: str) -> None:
    found = autoscaler_flags(shipped(name), REAL).flags
    assert real_seconds(found["scan-interval"]) == 10
    assert real_seconds(found["max-node-provision-time"]) == 15 * 60
    assert found["max-graceful-termination-sec"] == "600"
    assert found.keys() >= DEFAULTS.keys()


def test_at_real_speed_nothing_is_assumed_of_a_cloud() -> None:
    assert autoscaler_flags(shipped("dev"), REAL).assumptions == ()
    assert autoscaler_flags(shipped("aks-prod"), REAL).assumptions == ()


def test_eks_has_the_flags_that_its_add_on_deploys() -> None:
    found = autoscaler_flags(shipped("prod"), Pace()).flags
    assert found.items() >= SCALING.items()
    assert found["balancing-label"] == BALANCING_LABELS
    assert found["skip-nodes-with-system-pods"] == "true"


def test_aks_has_the_profile_that_the_stack_chooses() -> None:
    cluster = shipped("aks-dev").cluster.model_dump(mode="json", by_alias=True)
    batch = autoscaler_flags(changed("aks-dev", cluster={**cluster, "autoscaler": "batch"}), REAL).flags
    people = autoscaler_flags(changed("aks-dev", cluster={**cluster, "autoscaler": "interactive"}), REAL).flags
    assert (batch["scale-down-utilization-threshold"], people["scale-down-utilization-threshold"]) == ("0.5", "0.3")
    assert real_seconds(people["scale-down-unneeded-time"]) == 30 * 60
    assert (batch["max-scale-down-parallelism"], people["max-scale-down-parallelism"]) == ("20", "5")
    assert batch["skip-nodes-with-system-pods"] == "false"
    assert "max-empty-bulk-delete" not in batch


@pytest.mark.parametrize("name", ["aks-dev", "aks-prod"])
def test_aks_balances_groups_whose_agent_pools_differ(name: str) -> None:
    found = autoscaler_flags(shipped(name), Pace()).flags
    assert set(found["balancing-ignore-label"]) == {"agentpool", "kubernetes.azure.com/agentpool"}
    assert "balancing-label" not in found  # the autoscaler refuses both together


@pytest.mark.parametrize("name", ["local", "existing"])
def test_other_kinds_have_the_defaults_and_the_report_says_so(name: str) -> None:
    found = autoscaler_flags(shipped(name), REAL)
    assert {key: found.flags[key] for key in ("expander", "balance-similar-node-groups")} == {
        "expander": "least-waste",
        "balance-similar-node-groups": "false",
    }
    assert found.assumptions == (
        "The autoscaler has upstream's default settings: the stack file says nothing about them.",
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_minimum_sizes_are_kept_everywhere(name: str) -> None:
    assert autoscaler_flags(shipped(name), Pace()).flags["enforce-node-group-min-size"] == "true"


def test_times_pass_as_fast_as_the_scenario() -> None:
    found = autoscaler_flags(shipped("dev"), Pace(speed=60)).flags
    assert real_seconds(found["scale-down-unneeded-time"]) == 10
    assert real_seconds(found["node-delete-delay-after-taint"]) == pytest.approx(5 / 60, abs=0.001)
    assert found["max-graceful-termination-sec"] == "10"


def test_pods_need_no_age_before_nodes_are_added_for_them() -> None:
    fast = autoscaler_flags(shipped("dev"), Pace(speed=60))
    assert fast.flags[BYPASSED_FLAG] == HEADROOM
    assert any("30 s for GPUs" in each for each in fast.assumptions)
    assert autoscaler_flags(shipped("dev"), REAL).flags[BYPASSED_FLAG] == ()


def test_with_headroom_a_real_cluster_needs_no_age_either() -> None:
    pools = shipped("dev").model_dump(mode="json", by_alias=True, exclude_unset=True)["pools"]
    pools["workload"]["headroom"] = {"pods": 1, "cpu": "3", "memory": "8Gi"}
    found = autoscaler_flags(changed("dev", pools=pools), REAL)
    assert found.flags[BYPASSED_FLAG] == HEADROOM
    assert found.assumptions == ()


def test_what_would_be_too_short_is_longer_and_said() -> None:
    found = autoscaler_flags(shipped("dev"), Pace(speed=60, node_start=120))
    assert found.flags["scan-interval"] == "200ms"
    assert real_seconds(found.flags["max-node-provision-time"]) == 22
    assert (
        "At 60 times the speed, some times of the autoscaler are longer than on the cluster: max-node-provision-time "
        "22m (15m), max-pod-eviction-time 10m (2m), scale-down-unready-time 22m (20m), scan-interval 12s (10s)."
    ) in found.assumptions


@pytest.mark.parametrize("speed", [1, 10, 60, 600, 10_000])
def test_no_time_is_so_short_that_a_flag_means_something_else(speed: float) -> None:
    found = autoscaler_flags(shipped("aks-prod"), Pace(speed=speed)).flags
    assert real_seconds(found["scan-interval"]) >= 0.2
    assert real_seconds(found["scale-down-unneeded-time"]) >= 2 * 0.2
    assert int(str(found["max-graceful-termination-sec"])) >= 1
    assert real_seconds(found["new-pod-scale-up-delay"]) == 0
