"""A scenario on a real control plane: what the scheduler, controllers and the autoscaler do is in the record."""

from collections.abc import Iterator

import pytest

from support.rehearsal_stacks import stack_file
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.player import play
from workbench.rehearsal.record import PodEnd, PodRecord, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.finding import JITTER
from workbench.toolchain import ensure

pytestmark = pytest.mark.control_plane

KINDS = ("train", "cheap", "function", "etl", "gang", "graph", "nightly", "book", "wrong", "denied")
SCENARIO = {
    "description": "One work of each kind, and a reclaim of spot nodes.",
    "lasts": "40m",
    "works": {
        "train": {"kind": "mlrun-job", "cpu": "2", "runsFor": "5m"},
        "cheap": {"kind": "mlrun-job", "cpu": "1", "mode": "constrain", "runsFor": "2h"},
        "function": {"kind": "nuclio-function", "cpu": "1", "mode": "constrain"},
        "vision": {"kind": "mlrun-job", "cpu": "1", "gpus": 1},
        "etl": {"kind": "spark", "workers": 2, "cpu": "500m", "runsFor": "5m"},
        "gang": {"kind": "mpi", "workers": 2, "cpu": "500m", "runsFor": "5m"},
        "graph": {"kind": "pipeline", "workers": 2, "cpu": "100m", "memory": "128Mi", "runsFor": "1m"},
        "nightly": {"kind": "batch-job", "cpu": "100m", "memory": "128Mi", "runsFor": "1m"},
        "book": {"kind": "notebook", "volume": {"size": "1Gi"}},
        "wrong": {"kind": "mlrun-job", "priorityClass": "nonsense"},
        "denied": {"kind": "service", "priorityClass": "nonsense"},
    },
    "arrivals": [
        {"work": name, "at": "14m" if name == "vision" else "0s"}
        for name in (
            "train",
            "cheap",
            "function",
            "vision",
            "etl",
            "gang",
            "graph",
            "nightly",
            "book",
            "wrong",
            "denied",
        )
    ],
    "events": [{"event": "spot-reclaim", "at": "10m", "place": {"lifecycle": "spot"}, "nodes": "all", "notice": "30s"}],
    "expectations": [{"expect": "minimum-again"}],
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    folder = tmp_path_factory.mktemp("play")
    binaries = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(folder / "data"))
        with simulated(stack_file(folder), Pace(), binaries=binaries, progress=lambda _: None) as cluster:
            yield play(cluster, Scenario.model_validate(SCENARIO))


def only(record: Record, work: str) -> PodRecord:
    (pod,) = record.of_work(work)
    return pod


def pool(record: Record, pod: PodRecord) -> str:
    node = record.node(pod.node)
    assert node
    return node.pool


def test_a_job_lands_on_the_pool_for_jobs_and_ends(record: Record) -> None:
    job = only(record, "train")
    assert pool(record, job) == "work"
    assert job.end is PodEnd.SUCCEEDED
    assert job.started is not None
    assert job.ended is not None
    assert job.ended - job.started >= 300 - JITTER * record.speed


def test_a_job_with_a_gpu_starts_a_node_for_it(record: Record) -> None:
    job = only(record, "vision")
    assert pool(record, job) == "gpu"
    node = record.node(job.node)
    assert node
    assert node.created > job.created
    assert (job.gpus, node.gpus) == (1, 1)
    assert {reason.component for reason in job.reasons} >= {"scheduler", "autoscaler"}


def test_pods_of_a_reclaimed_node_are_lost_and_only_those_of_controllers_come_back(record: Record) -> None:
    job = only(record, "cheap")
    assert (job.end, job.end_cause) == (PodEnd.LOST, f"spot-reclaim of node {job.node}")
    first, second, *_ = record.of_work("function")
    assert first.end is PodEnd.LOST
    assert second.replaces == first.uid
    node = record.node(job.node)
    assert node
    assert node.gone_cause == "spot-reclaim"


@pytest.mark.parametrize(("work", "pods"), [("etl", 3), ("gang", 3), ("graph", 2), ("nightly", 1)])
def test_what_operators_run_completes(record: Record, work: str, pods: int) -> None:
    assert [each.end for each in record.of_work(work)] == [PodEnd.SUCCEEDED] * pods


def test_a_gang_begins_when_its_last_pod_runs(record: Record) -> None:
    gang = record.of_work("gang")
    began = max(each.started or 0 for each in gang)
    assert all((each.ended or 0) >= began + 290 for each in gang)


def test_a_notebook_runs_with_its_volume(record: Record) -> None:
    notebook = only(record, "book")
    assert (notebook.end, pool(record, notebook)) == (PodEnd.RUNS, "notebooks"), notebook.reasons


def test_refused_objects_and_refused_pods_of_controllers_are_recorded(record: Record) -> None:
    refused = {each.work: each for each in record.refusals}
    assert set(refused) == {"wrong", "denied"}
    assert all("nonsense" in each.message for each in refused.values())
    assert not record.of_work("wrong") + record.of_work("denied")


def test_every_unit_and_node_is_recorded(record: Record) -> None:
    assert set(record.units) == {*KINDS, "vision"}
    assert {each.pool for each in record.nodes} == {"initial", "work", "spot", "notebooks", "gpu"}
    assert all(each.cpu_millis and each.ready is not None for each in record.nodes)
