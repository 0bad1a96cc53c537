import threading
import time
from typing import Any

import pytest

from components.contract.headroom import HEADROOM
from support.rehearsal_api import FakeApi, FakeCluster, FakeWatch
from support.rehearsal_stacks import stack
from workbench.rehearsal.cluster.simulated import LostError
from workbench.rehearsal.play import authors
from workbench.rehearsal.play.chronicle import Chronicle
from workbench.rehearsal.play.player import Progress, play
from workbench.rehearsal.record import PodEnd
from workbench.rehearsal.scenario.model import Scenario

SPEED = 1200.0
NODE = "work-0"


def scenario(*arrivals: dict[str, Any], lasts: str = "10m", events: tuple[Any, ...] = (), **works: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "description": "A test.",
            "lasts": lasts,
            "works": works,
            "arrivals": list(arrivals),
            "events": list(events),
            "expectations": [{"expect": "minimum-again"}],
        }
    )


def cluster(*, runs: str = NODE, **choices: Any) -> FakeCluster:
    api = FakeApi()
    api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": {}}})
    api.runs = runs
    return FakeCluster(api, speed=SPEED, **choices)


def threads() -> set[str]:
    return {each.name for each in threading.enumerate() if each.name.startswith(("play", "watch"))}


def test_units_arrive_in_their_time_and_are_deleted_after_their_stay() -> None:
    arrival = {"work": "train", "at": "2m", "count": 3, "every": "1m", "stays": "2m"}
    record = play(cluster(), scenario(arrival, train={"kind": "mlrun-job", "team": "vision"}))
    assert record.units == {"train": ("train-0", "train-1", "train-2")}
    pods = record.of_work("train")
    assert [each.unit for each in pods] == ["train-0", "train-1", "train-2"]
    for index, pod in enumerate(pods):
        assert pod.created >= 120 + 60 * index
        assert pod.ended is not None
        assert pod.ended >= 120 + 60 * index + 120
        assert (pod.end, pod.end_cause, pod.team) == (PodEnd.DELETED, "the scenario", "vision")


def test_units_that_the_control_plane_was_too_slow_for_are_counted_and_said() -> None:
    made = cluster()
    create, over = made.api.create, threading.Event()

    def slow(*arguments: Any, **options: Any) -> Any:
        over.wait(0.3)
        return create(*arguments, **options)

    made.api.create = slow  # type: ignore[method-assign]
    record = play(made, scenario({"work": "a", "count": 60}, a={"kind": "mlrun-job"}))
    assert len(record.units["a"]) == 60
    assert len(record.of_work("a")) < 60
    assert "Units arrived up to" in record.assumptions[-1]
    assert "rehearse at a lower speed" in record.assumptions[-1]


def test_units_whose_requests_took_long_are_late() -> None:
    made = cluster()
    create = made.api.create

    def slow(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.1)  # two minutes of the scenario
        return create(*arguments, **options)

    made.api.create = slow  # type: ignore[method-assign]
    record = play(made, scenario({"work": "a"}, a={"kind": "mlrun-job"}))
    assert "late, and 0 not at all" in record.assumptions[-1]


def test_what_existed_before_counts_as_created_before_the_start() -> None:
    made = cluster()
    record = play(made, scenario({"work": "a"}, a={"kind": "mlrun-job"}))
    (node,) = record.nodes
    assert node.created <= 0
    assert record.groups == made.groups
    assert "It is a fake." in record.assumptions


def test_a_pod_that_is_seen_late_still_counts_as_running_from_the_start() -> None:
    made = cluster()
    made.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db", "namespace": "core"}, "spec": {}})
    watch = made.api.watch

    def late(path: str) -> FakeWatch:
        found = watch(path)
        if path.endswith("/pods"):
            ((_, events),) = [each for each in made.api.watches if each[0] == path]
            first = events.events.get()
            threading.Timer(0.2, events.events.put, (first,)).start()
        return found

    made.api.watch = late  # type: ignore[method-assign]
    record = play(made, scenario({"work": "a"}, a={"kind": "mlrun-job"}))
    (pod,) = (each for each in record.pods if each.name == "db")
    assert pod.started is not None
    assert pod.started <= 0


def test_placeholders_of_headroom_are_not_in_the_record_and_the_start_waits_for_none() -> None:
    made = cluster()
    waiting = {"name": "room", "namespace": HEADROOM}
    made.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": waiting, "spec": {}})
    record = play(made, scenario({"work": "a"}, a={"kind": "mlrun-job"}))
    assert [pod.work for pod in record.pods] == ["a"]


def test_a_refused_object_is_recorded_with_the_servers_words() -> None:
    made = cluster()
    made.api.refuses["Pod"] = "HG-01: no"
    record = play(made, scenario({"work": "a"}, a={"kind": "dask", "workers": 3}))
    (refusal,) = record.refusals
    assert (refusal.work, refusal.unit, refusal.kind, refusal.message) == ("a", "a-0", "Pod", "HG-01: no")
    assert record.units == {"a": ("a-0",)}
    assert not record.pods


@pytest.mark.parametrize(
    ("kind", "refused", "missing"),
    [("MPIJob", {"kind": "mpi", "workers": 3}, 4),
     ("Pod", {"kind": "dask", "workers": 3}, 4), ("Pod", {"kind": "spark", "workers": 3}, 4),
     ("Pod", {"kind": "mlrun-job"}, 1), ("Deployment", {"kind": "service", "workers": 3}, 3)],
)  # fmt: skip
def test_a_refusal_counts_all_pods_that_its_unit_does_not_get(kind: str, refused: dict[str, Any], missing: int) -> None:
    made = cluster()
    made.api.refuses[kind] = "no"
    (refusal,) = play(made, scenario({"work": "a"}, a=refused)).refusals
    assert refusal.missing == missing


def test_a_gang_that_is_refused_halfway_lacks_the_rest() -> None:
    made = cluster()
    create = made.api.create

    def full(manifest: Any, **options: Any) -> Any:
        if manifest["metadata"]["name"] == "a-0-worker-1":
            made.api.refuses["Pod"] = "exceeded quota"
        return create(manifest, **options)

    made.api.create = full  # type: ignore[method-assign]
    record = play(made, scenario({"work": "a"}, a={"kind": "mpi", "workers": 4}))
    assert [each.name for each in record.pods] == ["a-0-worker-0"]
    assert [each.missing for each in record.refusals] == [4]


def test_the_pods_of_a_gang_belong_to_its_job_and_go_with_it() -> None:
    made = cluster()
    deleted: list[str] = []
    delete = made.api.delete

    def noted(path: str, **options: Any) -> bool:
        deleted.append(path)
        return delete(path, **options)

    made.api.delete = noted  # type: ignore[method-assign]
    record = play(made, scenario({"work": "a", "stays": "5m"}, a={"kind": "mpi", "workers": 2}))
    job = "/apis/kubeflow.org/v1/namespaces/mlrun/mpijobs/a-0"
    pods = ["a-0-launcher", "a-0-worker-0", "a-0-worker-1"]
    assert deleted[0] == job
    assert sorted(deleted[1:]) == [f"/api/v1/namespaces/mlrun/pods/{name}" for name in pods]
    assert sorted(each.name for each in record.pods) == pods
    assert {each.end for each in record.pods} == {PodEnd.DELETED}
    assert job in made.api.authors


def test_the_owner_of_a_gangs_pods_is_the_job_that_was_created() -> None:
    made = cluster()
    play(made, scenario({"work": "a"}, a={"kind": "mpi", "workers": 1}))
    job = made.api.objects["/apis/kubeflow.org/v1/namespaces/mlrun/mpijobs/a-0"]
    pods = [each for each in made.api.objects.values() if each["kind"] == "Pod"]
    owners = [owner for each in pods for owner in each["metadata"]["ownerReferences"]]
    assert [(owner["kind"], owner["uid"], owner["controller"]) for owner in owners] == [
        ("MPIJob", job["metadata"]["uid"], True)
    ] * 2


def test_a_volume_that_is_refused_keeps_no_pod_from_being() -> None:
    made = cluster()
    made.api.refuses["PersistentVolumeClaim"] = "no"
    record = play(made, scenario({"work": "a"}, a={"kind": "mlrun-job", "volume": {}}))
    assert [each.missing for each in record.refusals] == [0]
    assert len(record.pods) == 1


def test_a_unit_whose_controller_is_scaled_and_deleted_wants_other_numbers_of_pods() -> None:
    made, seen = cluster(), list[tuple[str, int]]()
    wants = Chronicle.wants

    def noted(chronicle: Chronicle, unit: str, pods: int) -> None:
        seen.append((unit, pods))
        wants(chronicle, unit, pods)

    event = {"event": "scale", "at": "3m", "work": "a", "replicas": 7}
    arrival = {"work": "a", "stays": "6m"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chronicle, "wants", noted)
        play(made, scenario(arrival, events=(event,), a={"kind": "service", "workers": 2}))
    assert seen == [("a-0", 2), ("a-0", 7), ("a-0", 0)]


def test_objects_are_sent_as_their_makers() -> None:
    made = cluster()
    play(made, scenario({"work": "a"}, a={"kind": "mlrun-job"}))
    user, groups = made.api.authors["/api/v1/namespaces/mlrun/pods/a-0"]
    assert user == f"system:serviceaccount:mlrun:{authors.MLRUN}"
    assert "system:serviceaccounts:mlrun" in groups


def test_an_operator_acts_on_what_the_watch_delivers() -> None:
    # Half an hour is 1.5 s of real time: the operator acts twice, also on a busy machine.
    record = play(cluster(), scenario({"work": "etl"}, etl={"kind": "spark", "workers": 2}, lasts="30m"))
    assert {each.name for each in record.of_work("etl")} == {"etl-0-driver", "etl-0-exec-1", "etl-0-exec-2"}


def test_mlruns_threshold_ends_a_run_that_waits_too_long() -> None:
    config = stack(platform={"mlrun": {"pendingNotScheduled": "5m"}})
    works: dict[str, Any] = {"a": {"kind": "mlrun-job"}, "c": {"kind": "notebook"}}
    record = play(cluster(runs="", config=config), scenario({"work": "a"}, {"work": "c"}, **works))
    run, notebook = record.of_work("a")[0], record.of_work("c")[0]
    assert (run.end, run.end_cause) == (PodEnd.DELETED, "MLRun aborted the run: pending_not_scheduled")
    assert run.ended is not None
    assert run.ended >= 330
    assert notebook.end is PodEnd.WAITS


def test_replicas_change_when_the_scenario_says_so() -> None:
    made = cluster()
    event = {"event": "scale", "at": "5m", "work": "model", "replicas": 7}
    record = play(made, scenario({"work": "model", "count": 2}, events=(event,), model={"kind": "service"}))
    replicas = [each["spec"]["replicas"] for each in made.api.objects.values() if each["kind"] == "Deployment"]
    assert replicas == [7, 7]
    assert [each.text for each in record.happenings] == ["model to 7 replicas"]


SERVED = {"kind": "service", "cpu": "1", "scales": {"min": 2, "max": 5}}


def test_traffic_is_what_the_scenario_says_and_ends_with_it() -> None:
    made = cluster()
    seen: list[list[int]] = []

    def look(_: Progress) -> None:
        if made.usages:
            seen.append([each.cpu_millis for each in made.usages("mlrun", {})])

    events = ({"event": "load", "at": "2m", "work": "model", "cpu": "3"},)
    record = play(made, scenario({"work": "model"}, events=events, model=SERVED), look)
    assert made.usages is None
    assert seen[-1] == []  # the fake API has no controller that makes pods
    assert [each.text for each in record.happenings] == ["traffic of model needs 3 CPU"]
    assert any("each up to its limit" in text for text in record.assumptions)


def test_a_scenario_without_traffic_offers_no_metrics() -> None:
    made = cluster()
    made.serve_metrics = None  # type: ignore[assignment,method-assign]
    record = play(made, scenario({"work": "model"}, model={"kind": "service"}))
    assert not any("traffic" in text for text in record.assumptions)


def test_a_scaler_that_is_refused_costs_its_unit_no_pod() -> None:
    made = cluster()
    made.api.refuses["HorizontalPodAutoscaler"] = "no"
    record = play(made, scenario({"work": "model"}, model=SERVED))
    assert [each.missing for each in record.refusals] == [0]


def test_what_scales_a_unit_goes_with_it() -> None:
    made = cluster()
    play(made, scenario({"work": "model", "stays": "5m"}, model=SERVED))
    assert not [each for each in made.api.objects.values() if each["kind"] in ("Deployment", "HorizontalPodAutoscaler")]


def test_a_volume_moves_into_the_zone_of_the_first_node() -> None:
    made = cluster()
    made.api.patch(f"/api/v1/nodes/{NODE}", {"metadata": {"labels": {"topology.kubernetes.io/zone": "b"}}})
    play(made, scenario({"work": "a"}, a={"kind": "notebook", "volume": {"size": "1Gi"}}))
    (volume,) = [each for each in made.api.objects.values() if each["kind"] == "PersistentVolume"]
    assert "'values': ['b']" in str(volume["spec"]["nodeAffinity"])


def test_progress_is_reported_up_to_the_end() -> None:
    seen: list[Progress] = []
    play(cluster(), scenario({"work": "a", "count": 4}, a={"kind": "mlrun-job"}), seen.append)
    assert (seen[-1].at, seen[-1].lasts, seen[-1].running, seen[-1].waiting, seen[-1].nodes) == (600, 600, 4, 0, 1)


def test_ctrl_c_leaves_no_thread() -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(cluster(), scenario({"work": "a", "count": 20}, a={"kind": "mlrun-job"}), interrupt)
    assert not threads()


def test_a_lost_control_plane_ends_the_scenario_at_once() -> None:
    made = cluster()
    made.lost = LostError("etcd has ended")
    with pytest.raises(LostError, match="etcd has ended"):
        play(made, scenario({"work": "a"}, lasts="24h", a={"kind": "mlrun-job"}))
    assert not threads()
