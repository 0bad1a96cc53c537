"""The shipped scenario of headroom on a pool with and without it, with the real scheduler and the real autoscaler."""

from pathlib import Path
from typing import Any, Final

import pytest

from components.contract.headroom import HEADROOM
from support.rehearsal_stacks import POOLS, stack_file
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodEnd, Record
from workbench.rehearsal.scenario.files import find_all
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.rehearsal.verdicts.verdict import Verdict
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

ROOM: Final = {"pods": 1, "cpu": "6", "memory": "8Gi"}
"""A node has room for one of the jobs, and takes 2 minutes to start."""


def played(folder: Path, **choices: Any) -> tuple[Record, tuple[Verdict, ...]]:
    (named,) = find_all(["headroom"])
    # The pool's minimum is for Prometheus too.
    stack = stack_file(folder, pools={**POOLS, "work": {**POOLS["work"], "size": {"min": 1, "max": 5}, **choices}})
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    pace = Pace(speed=named.scenario.speed)
    with simulated(stack, pace, binaries=binaries, progress=lambda _: None) as cluster:
        record = play(cluster, named.scenario)
    return record, tuple(judge(named.scenario, record, stack.config, None))


def test_work_that_waits_for_a_node_starts_at_once_with_headroom_and_nothing_is_evicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    without, missed = played(tmp_path)
    record, met = played(tmp_path, headroom=ROOM)
    assert [each.expectation for each in missed if not each.is_met] == ["train waits at most 1m30s"]
    assert "or keep headroom" in missed[0].hints[0].action
    assert [(each.expectation, each.measured) for each in met if not each.is_met] == []
    for each in (without, record):
        assert [pod.end for pod in each.of_work("train")] == [PodEnd.SUCCEEDED, PodEnd.SUCCEEDED]
        assert not any(pod.namespace == HEADROOM for pod in each.pods)
    work = [node for node in record.nodes if node.pool == "work"]
    assert min(node.created for node in work) <= 0  # it was there before the work
    assert len({pod.node for pod in record.of_work("train")}) == 2  # the second had a node of its own, in time
