"""Shared GPUs with the real scheduler and the real autoscaler: capacity, names, quota, and from zero and back."""

from pathlib import Path

import pytest

from support.rehearsal_stacks import POOLS, stack_file
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodEnd, Record
from workbench.rehearsal.scenario.files import find_all
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

TURNS = {**POOLS["gpu"], "size": {"min": 0, "max": 3}, "sharing": {"mode": "time-slicing", "replicas": 4}}
SLICES = {
    **POOLS["gpu"],
    "size": {"min": 0, "max": 2},
    "instanceTypes": ["p4d.24xlarge"],
    "sharing": {"mode": "mig", "profile": "1g.5gb"},
}
QUOTA = {"cpu": "400", "memory": "4Ti", "gpus": 1, "gpuSlices": 60}
AMOUNTS = {"cpu": "1", "memory": "1Gi"}
SLICE = {**AMOUNTS, "nvidia.com/mig-1g.5gb": "1"}


def pod(amounts: dict[str, str]) -> dict[str, object]:
    main = {"name": "main", "image": "example.com/x:1", "resources": {"requests": amounts, "limits": amounts}}
    return {"containers": [main], "nodeSelector": {"igz-clusters.io/user-workloads": "true"}}


SCENARIO = {
    "description": "Turns, slices and whole GPUs beside each other",
    "lasts": "60m",
    "works": {
        "turn": {"kind": "mlrun-job", **AMOUNTS, "gpuSlices": 1, "runsFor": "10m"},
        "slice": {"kind": "pod", "pod": pod(SLICE), "runsFor": "10m"},
        "whole": {"kind": "mlrun-job", **AMOUNTS, "gpus": 1, "runsFor": "10m"},
        "beyond": {"kind": "mlrun-job", **AMOUNTS, "gpus": 1},
    },
    "arrivals": [
        {"work": "whole"},
        {"work": "turn", "count": 5, "at": "1m"},
        {"work": "slice", "count": 57, "at": "1m"},
        {"work": "beyond", "at": "6m"},  # while `whole` has all of the quota, and never before it
    ],
    "expectations": [
        {"expect": "completes", "work": "turn"},
        {"expect": "completes", "work": "slice"},
        {"expect": "completes", "work": "whole"},
        {"expect": "refused", "work": "beyond", "because": "exceeded quota"},
        {"expect": "minimum-again", "place": {"role": "gpu"}},
    ],
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, tuple[str, ...]]:
    folder = tmp_path_factory.mktemp("play")
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    pools = POOLS | {"turns": TURNS, "slices": SLICES}
    stack = stack_file(folder, pools=pools, namespaces={"mlrun": {"coreServices": True, "quota": QUOTA}})
    scenario = Scenario.model_validate(SCENARIO)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(folder / "data"))
        with simulated(stack, Pace(), binaries=binaries, progress=lambda _: None) as cluster:
            record = play(cluster, scenario)
    verdicts = judge(scenario, record, stack.config, None)
    return record, tuple(f"{each.expectation}: {each.measured}" for each in verdicts if not each.is_met)


def nodes(record: Record, pool: str) -> dict[str, int]:
    return {each.name: each.gpus for each in record.nodes if each.pool == pool}


def test_all_of_it_runs_and_the_pools_are_empty_again(played: tuple[Record, tuple[str, ...]]) -> None:
    _, missed = played
    assert missed == ()


def test_a_node_takes_as_many_pods_as_its_gpus_have_shares(played: tuple[Record, tuple[str, ...]]) -> None:
    record, _ = played
    assert list(nodes(record, "turns").values()) == [4, 4]  # five pods
    assert list(nodes(record, "slices").values()) == [56, 56]  # 57 pods, 8 GPUs with 7 slices each
    assert list(nodes(record, "gpu").values()) == [1]


def test_each_pod_runs_where_its_name_of_a_gpu_is_offered(played: tuple[Record, tuple[str, ...]]) -> None:
    record, _ = played
    pools = {
        work: {node.pool for pod in record.of_work(work) if (node := record.node(pod.node))}
        for work in ("turn", "slice", "whole")
    }
    assert pools == {"turn": {"turns"}, "slice": {"slices"}, "whole": {"gpu"}}
    assert {pod.end for pod in record.of_work("turn")} == {PodEnd.SUCCEEDED}


def test_the_shipped_scenario_of_shared_gpus_is_met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    (named,) = find_all(["shared-gpus"])
    stack = stack_file(tmp_path, pools=POOLS | {"gpu": TURNS})
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    with simulated(stack, Pace(), binaries=binaries, progress=lambda _: None) as cluster:
        record = play(cluster, named.scenario)
    verdicts = judge(named.scenario, record, stack.config, None)
    assert [(each.expectation, each.measured) for each in verdicts if not each.is_met] == []
