from types import SimpleNamespace
from typing import Any, cast

import pytest

from workbench.rehearsal.cluster.tuning import Emulation, is_sync_late, tuning
from workbench.rehearsal.settings import Pace

OWN = "1.36.3"


@pytest.mark.parametrize(
    ("wanted", "minor", "assumption"),
    [
        ("1.36", "", ""),
        ("1.35", "1.35", "offers the APIs and features of 1.35"),
        ("1.33", "1.33", "offers the APIs and features of 1.33"),
        ("1.32", "", "the stack names 1.32, which it cannot emulate"),
        ("1.37", "", "the stack names 1.37, which it cannot emulate"),
        (None, "", "the stack names no version"),
    ],
)
def test_the_control_plane_behaves_as_the_version_of_the_stack_or_says_why_not(
    wanted: str | None, minor: str, assumption: str
) -> None:
    cluster = cast("Any", SimpleNamespace(version=wanted))
    found = Emulation.of(cluster, OWN)
    assert found.minor == minor
    assert assumption in found.assumption
    assert bool(found.assumption) == bool(assumption)


@pytest.mark.parametrize(("speed", "seconds"), [(1, "300"), (60, "5"), (1000, "1")])
def test_pods_stay_on_lost_nodes_as_long_as_in_the_scenarios_time(speed: float, seconds: str) -> None:
    flags = tuning(Pace(speed=speed), {}).flags
    assert flags["kube-apiserver"]["default-not-ready-toleration-seconds"] == seconds
    assert flags["kube-apiserver"]["default-unreachable-toleration-seconds"] == seconds
    assert float(str(flags["kube-controller-manager"]["node-eviction-rate"])) == pytest.approx(0.1 * speed)


@pytest.mark.parametrize(("speed", "sync", "stays"), [(1, "15000ms", "300000ms"), (60, "250ms", "5000ms"),
                                                     (600, "100ms", "500ms")])  # fmt: skip
def test_replicas_are_looked_at_as_often_as_in_the_scenarios_time(speed: float, sync: str, stays: str) -> None:
    flags = tuning(Pace(speed=speed), {}).flags["kube-controller-manager"]
    assert flags["horizontal-pod-autoscaler-sync-period"] == sync
    assert flags["horizontal-pod-autoscaler-downscale-stabilization"] == stays
    assert flags["horizontal-pod-autoscaler-cpu-initialization-period"] == stays
    assert is_sync_late(Pace(speed=speed)) == (sync == "100ms")


def test_the_stacks_flags_of_the_autoscaler_replace_those_of_a_rehearsal() -> None:
    flags = tuning(Pace(), {"scan-interval": "1s", "kube-client-qps": "7"}).flags["cluster-autoscaler"]
    assert (flags["scan-interval"], flags["kube-client-qps"]) == ("1s", "7")


def test_the_control_plane_ends_with_the_process_that_made_it() -> None:
    owner = tuning(Pace(), {}).owner
    assert owner
    assert owner.is_alive()
