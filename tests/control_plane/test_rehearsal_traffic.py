"""Replicas follow traffic on a real control plane: the HorizontalPodAutoscaler acts on the metrics that it is given."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.rehearsal_stacks import stack_file
from workbench.rehearsal.cluster.simulation import Simulation, simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodRecord, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.rehearsal.verdicts.verdict import Verdict
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]  # `make test` plays a scenario of jobs

SCENARIO: dict[str, Any] = {
    "description": "A model server grows with its traffic, a function has too few replicas.",
    "lasts": "55m",
    "works": {
        "model": {
            "kind": "service", "cpu": "2", "memory": "2Gi", "scales": {"min": 1, "max": 6, "cpuUtilization": 70},
        },
        "score": {"kind": "nuclio-function", "cpu": "500m", "memory": "1Gi", "scales": {"max": 2}},
    },
    "arrivals": [{"work": "model"}, {"work": "score"}],
    "events": [
        {"event": "load", "at": "2m", "work": "model", "cpu": "7500m"},
        {"event": "load", "at": "2m", "work": "score", "cpu": "2"},
        {"event": "load", "at": "20m", "work": "model", "cpu": "100m"},
        {"event": "load", "at": "20m", "work": "score", "cpu": "0"},
    ],
    "expectations": [
        {"expect": "keeps-up", "work": "model", "time": "15m"},
        {"expect": "keeps-up", "work": "score", "time": "10m"},
        {"expect": "minimum-again", "place": {"role": "workload"}},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Simulation, Record, tuple[Verdict, ...]]]:
    folder = tmp_path_factory.mktemp("traffic")
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    pools = {
        "initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]},
        "work": {"role": "workload", "size": {"min": 1, "max": 4}, "instanceTypes": ["m6i.2xlarge"]},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(folder / "data"))
        stack = stack_file(folder, pools=pools)
        with simulated(stack, Pace(), binaries=binaries, progress=lambda _: None) as cluster:
            scenario = Scenario.model_validate(SCENARIO)
            record = play(cluster, scenario)
            yield cluster, record, judge(scenario, record, stack.config, None)


def existing(record: Record, work: str, moment: float) -> list[PodRecord]:
    return [
        each for each in record.of_work(work) if each.created <= moment and (each.ended is None or each.ended > moment)
    ]


def test_replicas_grow_step_by_step_with_the_traffic_and_go_after_it(played: Any) -> None:
    _, record, _ = played
    assert len(existing(record, "model", 100.0)) == 1
    assert len(existing(record, "model", 19 * 60.0)) in (5, 6)  # 7.5 of 2 CPU at 70 %, with a tolerance of 10 %
    assert len(existing(record, "model", record.lasts)) == 1
    steps = [each.text for each in record.happenings if each.event == "scale" and each.text.startswith("model-0 from")]
    assert steps[0] == "model-0 from 1 to 2 replicas, by its CPU"
    assert steps[-1].endswith("to 1 replica, by its CPU")
    assert len(steps) >= 4


def test_replicas_stay_for_five_minutes_after_the_traffic_has_gone(played: Any) -> None:
    _, record, _ = played
    ends = [each.ended for each in record.of_work("model") if each.ended is not None]
    assert min(ends) >= (20 + 5) * 60 - record.speed


def test_nodes_follow_the_replicas_and_go_again(played: Any) -> None:
    _, record, verdicts = played
    nodes = [each for each in record.nodes if each.pool == "work"]
    assert len(nodes) > 1
    assert verdicts[2].is_met, verdicts[2].measured


def test_work_with_enough_replicas_keeps_up_and_work_without_does_not(played: Any) -> None:
    _, _, (model, score, _) = played
    assert model.is_met, model.measured
    assert not score.is_met
    assert (score.hints[0].path, score.hints[0].action) == ("works.score.scales.max", "Raise scales.max to at least 4.")


def test_the_metrics_end_with_the_scenario(played: Any) -> None:
    cluster, *_ = played
    assert cluster.api.get("/api/v1/namespaces/kube-system/services/metrics-server")["spec"]["type"] == "ExternalName"
