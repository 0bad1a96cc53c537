"""Reserved capacity in a rehearsal, with the real scheduler and the real autoscaler."""

from dataclasses import replace
from pathlib import Path

import pytest

from infra.config import CONFIG_KEY, parse
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.stacks import Stack, find
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

TRAIN = {
    "role": "gpu",
    "lifecycle": "reserved",
    "size": {"min": 0, "max": 2},
    "instanceTypes": ["p5.48xlarge"],
    "zone": "b",
    "reservation": {"id": "cr-0a91582543292e10a"},
}
CHOSEN = {
    "kind": "mlrun-job",
    "cpu": "4",
    "memory": "16Gi",
    "gpus": 8,
    "nodeSelector": {"igz-clusters.io/pool": "train", "igz-clusters.io/role": "gpu"},
}
SCENARIO = {
    "description": "A full reservation, and jobs that chose it",
    "lasts": "60m",
    "works": {"early": {**CHOSEN, "runsFor": "10m"}, "late": {**CHOSEN, "runsFor": "5m"}},
    "arrivals": [{"work": "early"}, {"work": "late", "at": "5m"}],
    "events": [{"event": "capacity-refused", "at": "4m", "place": {"lifecycle": "reserved"}, "lasts": "20m"}],
    "expectations": [
        {"expect": "lands-on", "work": "early", "place": {"lifecycle": "reserved"}},
        {"expect": "never-on", "work": "late", "place": {"lifecycle": "on-demand"}},
        {"expect": "completes", "work": "late"},
        {"expect": "minimum-again", "place": {"lifecycle": "reserved"}},
    ],
}


def with_reservation() -> Stack:
    stack = find("dev")
    config = stack.document["config"]
    choices = {**config[CONFIG_KEY], "pools": {**config[CONFIG_KEY]["pools"], "train": TRAIN}}
    return replace(stack, document={**stack.document, "config": {**config, CONFIG_KEY: choices}}, config=parse(choices))


def test_jobs_wait_for_their_reservation_and_run_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    stack, scenario = with_reservation(), Scenario.model_validate(SCENARIO)
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    with simulated(stack, Pace(), binaries=binaries, progress=lambda _: None) as cluster:
        record = play(cluster, scenario)
    verdicts = judge(scenario, record, stack.config, None)
    assert [(each.expectation, each.measured) for each in verdicts if not each.is_met] == []
    (late,) = record.of_work("late")
    assert late.started is not None
    assert late.started - late.created > 60.0  # the only node was busy, and another did not start
    assert {node.zone for node in record.nodes if node.pool == "train"} == {"eu-west-1b"}
