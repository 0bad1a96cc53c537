"""The same work on a pool with and without headroom, with the real scheduler and the real autoscaler."""

from pathlib import Path
from typing import Any, Final

import pytest

from components.contract.headroom import HEADROOM
from support.rehearsal_stacks import POOLS, stack_file
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodEnd, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.rehearsal.verdicts.verdict import Verdict
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

ROOM: Final = {"pods": 1, "cpu": "6", "memory": "8Gi"}
SCENARIO: Final = Scenario.model_validate(
    {
        "description": "Two people start a job, one after the other",
        "lasts": "55m",
        "speed": 40,
        "works": {
            "train": {"kind": "mlrun-job", "mode": "prevent", "cpu": "6", "memory": "8Gi", "runsFor": "10m"},
        },
        "arrivals": [{"work": "train", "at": "2m"}, {"work": "train", "at": "8m"}],
        "expectations": [
            {"expect": "waits-at-most", "work": "train", "time": "90s"},
            {"expect": "completes", "work": "train"},
            {"expect": "minimum-again", "place": {"role": "workload"}},
        ],
    }
)
"""A node takes 2 minutes to start, and has room for one of the jobs. The pool's minimum is for Prometheus too."""


def played(folder: Path, **choices: Any) -> tuple[Record, tuple[Verdict, ...]]:
    stack = stack_file(folder, pools={**POOLS, "work": {**POOLS["work"], "size": {"min": 1, "max": 5}, **choices}})
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    with simulated(stack, Pace(speed=40), binaries=binaries, progress=lambda _: None) as cluster:
        record = play(cluster, SCENARIO)
    return record, tuple(judge(SCENARIO, record, stack.config, None))


def test_work_that_waits_for_a_node_starts_at_once_with_headroom_and_nothing_is_evicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    without, missed = played(tmp_path)
    record, met = played(tmp_path, headroom=ROOM)
    assert [each.is_met for each in missed] == [False, True, True]
    assert "or keep headroom" in missed[0].hints[0].action
    assert [each.is_met for each in met] == [True, True, True]
    for each in (without, record):
        assert [pod.end for pod in each.of_work("train")] == [PodEnd.SUCCEEDED, PodEnd.SUCCEEDED]
        assert not any(pod.namespace == HEADROOM for pod in each.pods)
    work = [node for node in record.nodes if node.pool == "work"]
    assert min(node.created for node in work) <= 0  # it was there before the work
    assert len({pod.node for pod in record.of_work("train")}) == 2  # the second had a node of its own, in time
