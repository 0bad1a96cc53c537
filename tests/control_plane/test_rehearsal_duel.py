"""Karpenter on a real control plane: it keeps the sizes of pools, and its time is the scenario's."""

from collections.abc import Callable
from typing import Any, Final

import psutil
import pytest

from support.rehearsal_stacks import stack_file
from workbench.local import instances
from workbench.prices.book import PriceBook
from workbench.prices.stack_cost import stack_cost
from workbench.rehearsal.cluster.scaling import Scaling, autoscaling
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.duel.karpenter import karpenter
from workbench.rehearsal.play.player import play
from workbench.rehearsal.prices import Prices
from workbench.rehearsal.record import NodeRecord, PodEnd, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace, Scaler
from workbench.rehearsal.verdicts.finding import JITTER
from workbench.rehearsal.verdicts.nodes import peak
from workbench.toolchain import ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

MINUTE: Final = 60.0
CROWD: Final = {
    "description": "More jobs than nodes, one for each node.",
    "lasts": "45m",
    "works": {"train": {"kind": "mlrun-job", "cpu": "6", "memory": "1Gi", "runsFor": "5m"}},
    "arrivals": [{"work": "train", "count": 12}],
    "expectations": [{"expect": "minimum-again"}],
}
SHRINKS: Final = {
    "description": "Two nodes whose large jobs end, so that one would do.",
    "lasts": "40m",
    "works": {
        "large": {"kind": "mlrun-job", "cpu": "5", "memory": "1Gi", "runsFor": "8m"},
        "small": {"kind": "mlrun-job", "cpu": "2", "memory": "1Gi", "runsFor": "2h"},
    },
    "arrivals": [{"work": "large", "count": 2}, {"work": "small", "at": "4m", "count": 2}],
    "expectations": [{"expect": "survives", "work": "small"}],
}


def scaling_of(scaler: Scaler) -> Callable[..., Scaling]:
    book = PriceBook.load()
    return karpenter(scaler, lambda config: Prices(stack_cost(config, book))) if scaler.is_karpenter else autoscaling


def played(
    folder: Any, scaler: Scaler, scenario: Any, look: Callable[[psutil.Process], None] = lambda _: None
) -> Record:
    """Play a scenario, with a look at the scaler's process in the middle of it."""
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler", "karpenter"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(folder / "data"))
        with simulated(
            stack_file(folder), Pace(), binaries=binaries, progress=lambda _: None, scaling_of=scaling_of(scaler)
        ) as cluster:
            program = "karpenter" if scaler.is_karpenter else "cluster-autoscaler"
            process = psutil.Process(cluster.instance.status().pids[program])
            record = play(cluster, Scenario.model_validate(scenario), progress=lambda _: look(process))
        assert not process.is_running()
        assert not instances()
        return record


@pytest.fixture(scope="module")
def listening() -> list[Any]:
    return []


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory, listening: list[Any]) -> Record:
    def look(process: psutil.Process) -> None:
        listening.extend(each for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN)

    return played(tmp_path_factory.mktemp("duel"), Scaler.KARPENTER_EMPTY, CROWD, look)


def added(record: Record) -> list[NodeRecord]:
    """Return the nodes that Karpenter added for the work; the cluster's own pods may have needed one before."""
    return [node for node in record.nodes if node.pool == "work" and node.created > 0]


def test_a_pool_grows_to_its_maximum_and_all_work_is_done(record: Record) -> None:
    """Karpenter counts no node that it is removing: another may come before that one has gone."""
    nodes = [node for node in record.nodes if node.pool == "work"]
    first = min(node.gone or record.lasts for node in nodes) - 5 * MINUTE
    assert peak([node for node in nodes if node.created < first], record.lasts) == 5
    assert {pod.end for pod in record.of_work("train")} == {PodEnd.SUCCEEDED}


def test_nodes_are_ready_after_their_start_and_belong_to_their_group(record: Record) -> None:
    assert added(record)
    for node in added(record):
        assert node.group == "work"
        assert node.ready is not None
        assert node.ready - node.created >= 2 * MINUTE - JITTER * record.speed
    assert all(pod.started is not None and pod.node for pod in record.of_work("train"))


def test_an_empty_node_goes_after_ten_minutes_of_the_scenario(record: Record) -> None:
    """A delay that is not scaled would show: the 15 s before Karpenter acts are 15 minutes at this speed."""
    idle = {}
    for node in added(record):
        last = max(
            [pod.ended or record.lasts for pod in record.pods if pod.node == node.name and pod.work], default=0.0
        )
        idle[node.name] = (node.gone or record.lasts) - last
        assert node.gone is None or idle[node.name] >= 9.5 * MINUTE
    assert any(node.gone for node in added(record))
    assert max(idle.values()) <= 20 * MINUTE, idle


def test_karpenter_opens_no_port(record: Record, listening: list[Any]) -> None:
    assert not listening


@pytest.mark.proofs
def test_karpenter_moves_bare_jobs_to_save_a_node_and_the_autoscaler_does_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lost = {
        scaler: [pod.end_cause for pod in played(tmp_path_factory.mktemp("x"), scaler, SHRINKS).of_work("small")
                 if pod.end is PodEnd.LOST]
        for scaler in Scaler
    }  # fmt: skip
    assert not lost[Scaler.CLUSTER_AUTOSCALER]
    assert not lost[Scaler.KARPENTER_EMPTY]
    # One node for both, or another in place of both: Karpenter chooses by what is ready when it looks.
    assert {cause.partition(" ")[0] for cause in lost[Scaler.KARPENTER]} == {"autoscaler"}


@pytest.mark.proofs
def test_two_runs_of_the_same_differ_by_noise_only(record: Record, tmp_path: Any) -> None:
    again = played(tmp_path, Scaler.KARPENTER_EMPTY, CROWD)
    assert [pod.end for pod in again.of_work("train")] == [pod.end for pod in record.of_work("train")]
    assert len(added(again)) == len(added(record))
    hours = [sum((node.gone or each.lasts) - node.created for node in added(each)) for each in (again, record)]
    assert abs(hours[0] - hours[1]) <= len(added(record)) * 2 * MINUTE
