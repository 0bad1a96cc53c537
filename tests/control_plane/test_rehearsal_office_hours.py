"""The shipped scenario of office hours, with the real scheduler and the real autoscaler."""

from pathlib import Path

import pytest

from support.rehearsal_stacks import POOLS, stack_file
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.scenario.files import find_all
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

HOURS = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
WORK = {**POOLS["work"], "size": {"min": 2, "max": 4}, "officeHours": HOURS}
STEADY = {**POOLS["work"], "size": {"min": 1, "max": 1}}
"""A pool without hours, to which Prometheus, a service with a node of a workload pool, can move at night."""


def test_a_pool_empties_at_night_around_work_that_runs_on_and_is_back_in_the_morning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    (named,) = find_all(["office-hours"])
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    stack = stack_file(tmp_path, pools=POOLS | {"work": WORK, "steady": STEADY})
    pace = Pace(speed=named.scenario.speed / 2)  # the autoscaler restarts at the speed of the machine
    with simulated(stack, pace, binaries=binaries, progress=lambda _: None) as cluster:
        record = play(cluster, named.scenario)

    def nodes(minute: float) -> int:
        moment = 60 * minute
        there = [each for each in record.nodes if each.pool == "work" and each.created <= moment]
        return sum(each.gone is None or each.gone > moment for each in there)

    assert nodes(0) == 2
    # The jobs end after 12 minutes, and the autoscaler removes a node 10 minutes after its last pod. The rest of the
    # night, 50 seconds of real time, is for its restart.
    assert nodes(63) == 0
    assert nodes(99) >= 2
    verdicts = judge(named.scenario, record, stack.config, None)
    assert [(each.expectation, each.measured) for each in verdicts if not each.is_met] == []  # nothing was evicted
    assert any(node and node.pool == "work" for node in (record.node(pod.node) for pod in record.of_work("late")))
