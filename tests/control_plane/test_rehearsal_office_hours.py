"""A night of a pool with office hours, with the real scheduler and the real autoscaler."""

from pathlib import Path

import pytest

from support.rehearsal_stacks import POOLS, stack_file
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodEnd
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
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
    scenario = Scenario.model_validate(
        {
            "description": "A job runs into the night",
            "lasts": "110m",
            "speed": 60,
            "works": {
                "train": {
                    "kind": "mlrun-job",
                    "mode": "prevent",
                    "nodeSelector": {"igz-clusters.io/pool": "work"},
                    "cpu": "2",
                    "memory": "4Gi",
                    "runsFor": "10m",
                }
            },
            "arrivals": [{"work": "train", "at": "1m"}],
            "events": [{"event": "office-hours", "at": "5m", "lasts": "75m"}],
            "expectations": [{"expect": "completes", "work": "train"}],
        }
    )
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    stack = stack_file(tmp_path, pools=POOLS | {"work": WORK, "steady": STEADY})
    with simulated(stack, Pace(speed=60), binaries=binaries, progress=lambda _: None) as cluster:
        record = play(cluster, scenario)

    def nodes(minute: float) -> int:
        moment = 60 * minute
        there = [each for each in record.nodes if each.pool == "work" and each.created <= moment]
        return sum(each.gone is None or each.gone > moment for each in there)

    assert nodes(0) == 2
    # The job ends after 11 minutes, and the autoscaler removes a node 10 minutes after its last pod. The rest of the
    # night, 50 seconds of real time, is for its restart on a busy machine.
    assert nodes(79) == 0
    assert nodes(109) == 2
    (pod,) = (each for each in record.pods if each.work == "train")
    assert pod.end is PodEnd.SUCCEEDED  # nothing was evicted
