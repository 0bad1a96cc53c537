"""Notebooks return to the zones of their homes on a real control plane, and nowhere else."""

from pathlib import Path

import pytest

from workbench import stacks
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodEnd
from workbench.rehearsal.scenario import files
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.judge import judge
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]


def test_notebooks_of_a_failed_node_come_back_in_the_zones_of_their_homes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    stack, [named] = stacks.find("dev"), files.find_all(["zonal-volumes"])
    with simulated(stack, Pace(), binaries=binaries, progress=lambda _: None) as cluster:
        record = play(cluster, named.scenario)
    verdicts = judge(named.scenario, record, stack.config, None)
    assert [(each.expectation, each.measured) for each in verdicts if not each.is_met] == []
    zones: dict[str, set[str | None]] = {}
    for pod in record.of_work("author"):
        node = record.node(pod.node)
        zones.setdefault(pod.unit, set()).add(node.zone if node else None)
    assert len(zones) == 6
    assert all(len(each) == 1 and None not in each for each in zones.values()), zones
    lost = [pod for pod in record.of_work("author") if pod.end is PodEnd.LOST]
    assert lost
    assert {pod.replaces for pod in record.of_work("author")} >= {pod.uid for pod in lost}
