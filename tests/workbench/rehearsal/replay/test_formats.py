import gzip
import json
from pathlib import Path

import pytest

from support.replays import START, audit, event, life, lines, pod, run, write
from workbench.rehearsal.replay.files import Replayed, read
from workbench.rehearsal.replay.part import Part
from workbench.rehearsal.scenario.work import Work, WorkKind

FIXTURES = Path(__file__).parent / "fixtures"
T0 = START.timestamp()


def works(replayed: Replayed) -> dict[str, Work]:
    return dict(replayed.scenario.works)


def moments(replayed: Replayed, work: str) -> list[int]:
    return sorted(at for each in replayed.scenario.arrivals if each.work == work for at in each.moments)


def note(replayed: Replayed, begins: str) -> str:
    return next(each for each in replayed.notes if each.startswith(begins))


@pytest.fixture(scope="module")
def log() -> Replayed:
    return read(FIXTURES / "audit.jsonl")


def test_an_audit_log_gives_each_kind_of_work_with_its_sizes(log: Replayed) -> None:
    assert {name: work.kind for name, work in works(log).items()} == {
        "train": WorkKind.MLRUN_JOB,
        "notebook": WorkKind.NOTEBOOK,
        "score": WorkKind.NUCLIO_FUNCTION,
        "mpi": WorkKind.MPI,
    }
    train, mpi = log.scenario.works["train"], log.scenario.works["mpi"]
    assert (train.cpu, train.memory, train.priority, train.team) == ("2", "8Gi", "igz-workload-low", "churn")
    assert (mpi.cpu, mpi.memory, mpi.gpus, mpi.workers) == ("4", "16Gi", 1, 2)


def test_work_arrives_at_the_second_at_which_it_was_created_there(log: Replayed) -> None:
    assert moments(log, "train") == [0, 60, 120, 180]
    assert moments(log, "score") == [500]
    assert len([each for each in log.scenario.arrivals if each.work == "train"]) == 1


def test_work_that_ended_by_itself_runs_as_long_and_deleted_work_is_deleted(log: Replayed) -> None:
    runs = [(900 + 61 * i) - (80 * i + 3) for i in range(4)]
    assert log.scenario.works["train"].runs_for == round(sum(runs) / 4)
    notebook = next(each for each in log.scenario.arrivals if each.work == "notebook")
    assert (notebook.at, notebook.stays, log.scenario.works["notebook"].runs_for) == (400, 7200, None)


def test_selectors_and_tolerations_are_kept_but_for_nodes_by_name_and_what_the_api_server_adds(log: Replayed) -> None:
    assert log.scenario.works["notebook"].node_selector == {"igz-clusters.io/role": "jupyter"}
    assert log.scenario.works["score"].tolerations == [{"key": "spot", "operator": "Exists"}]
    assert (
        note(log, "Pods that select a node by its name") == "Pods that select a node by its name (that is left out): 1."
    )


def test_what_the_stack_brings_itself_is_left_out_and_counted(log: Replayed) -> None:
    assert note(log, "Pods of DaemonSets").endswith(": 2.")
    assert note(log, "Pods in namespaces of Kubernetes").endswith(": 1.")
    assert note(log, "Pods of the platform's own services").endswith(": 1.")
    assert note(log, "Pods from before the log's first entry are missing")


def test_placeholders_of_headroom_are_left_out_because_the_stack_has_its_own(tmp_path: Path) -> None:
    placeholder = pod("training-6d4b75cb6d-x2kp7", "igz-headroom", owner="ReplicaSet/training-6d4b75cb6d")
    replayed = read(write(tmp_path, "a.jsonl", lines([*life(placeholder, 0), *life(pod("a"), 60)])))
    assert [work.kind for work in works(replayed).values()] == [WorkKind.POD]
    assert note(replayed, "Pods in namespaces of Kubernetes").endswith(": 1.")


def test_waits_and_completions_there_become_expectations(log: Replayed) -> None:
    found = [each.model_dump(by_alias=True) for each in log.scenario.expectations]
    assert {"work": "mpi", "expect": "waits-at-most", "time": 420, "percent": 100} in found
    assert {"work": "train", "expect": "waits-at-most", "time": 300, "percent": 100} in found
    assert {"work": "train", "expect": "completes", "percent": 100} in found
    assert found[-1] == {"expect": "core-services-unmoved"}
    assert not any(each["expect"] == "completes" and each["work"] == "notebook" for each in found)


@pytest.mark.parametrize("file", ["eks-filter-log-events.json", "aks-storage.jsonl", "aks-log-analytics.json"])
def test_the_exports_of_clouds_give_the_scenario_of_the_plain_log(log: Replayed, file: str) -> None:
    replayed = read(FIXTURES / file)
    assert replayed.scenario.model_copy(update={"description": ""}) == log.scenario.model_copy(
        update={"description": ""}
    )
    assert replayed.notes == log.notes


def _cloudwatch_of_s3(events: list[dict]) -> str:  # type: ignore[type-arg]
    return "".join(f"2026-03-02T08:00:00.000Z {json.dumps(each)}\n" for each in events)


def _insights(events: list[dict]) -> str:  # type: ignore[type-arg]
    rows = [
        [{"field": "@timestamp", "value": "x"}, {"field": "@message", "value": json.dumps(each)}] for each in events
    ]
    return json.dumps({"results": rows, "statistics": {}, "status": "Complete"})


def _subscription(events: list[dict]) -> str:  # type: ignore[type-arg]
    return lines([{"messageType": "DATA_MESSAGE", "logEvents": [{"message": json.dumps(each)} for each in events]}])


def _event_hub(events: list[dict]) -> str:  # type: ignore[type-arg]
    return lines(
        [{"records": [{"category": "kube-audit", "properties": {"log": json.dumps(each)}} for each in events]}]
    )


def _aks_audit_table(events: list[dict]) -> str:  # type: ignore[type-arg]
    names = {"Verb": "verb", "Stage": "stage", "ObjectRef": "objectRef", "ResponseStatus": "responseStatus",
             "RequestReceivedTime": "requestReceivedTimestamp", "RequestObject": "requestObject"}  # fmt: skip
    rows = [{column: each[name] for column, name in names.items() if name in each} for each in events]
    for row, each in zip(rows, events, strict=True):
        row["ResponseObject"] = json.dumps(each["responseObject"]) if "responseObject" in each else None
    return json.dumps(rows)


def _event_list(events: list[dict]) -> str:  # type: ignore[type-arg]
    return json.dumps({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": events}, indent=2)


def _pretty(events: list[dict]) -> str:  # type: ignore[type-arg]
    return "\n".join(json.dumps(each, indent=4) for each in events)


@pytest.mark.parametrize(
    "wrap", [_cloudwatch_of_s3, _insights, _subscription, _event_hub, _aks_audit_table, _event_list, _pretty]
)
def test_every_envelope_and_layout_of_audit_events_is_read(tmp_path: Path, wrap: object) -> None:
    events = [each for i in range(3) for each in life(pod(f"a-{i}"), 10 * i, scheduled=10 * i + 1, completed=500)]
    assert callable(wrap)
    replayed = read(write(tmp_path, "log.json", wrap(events)))
    assert moments(replayed, "pod") == [0, 10, 20]


def test_a_compressed_file_is_recognised_by_its_content(tmp_path: Path, log: Replayed) -> None:
    path = write(tmp_path, "audit.jsonl", gzip.compress((FIXTURES / "audit.jsonl").read_bytes()))
    assert read(path) == log


def test_requests_that_were_refused_or_only_received_make_no_pods(tmp_path: Path) -> None:
    made = life(pod("made"), 0)
    refused = audit("create", 1, "refused", responseObject=pod("refused"), responseStatus={"code": 403})
    received = audit("create", 2, "received", requestObject=pod("received"), stage="RequestReceived")
    assert moments(read(write(tmp_path, "a.jsonl", lines([*made, refused, received]))), "pod") == [0]


def test_a_pod_that_is_created_anew_under_its_name_is_two_units(tmp_path: Path) -> None:
    notebook = pod("jupyter-ada", labels={"component": "singleuser-server"})
    entries = [*life(notebook, 0, scheduled=1, deleted=100), *life(notebook, 500, scheduled=501, deleted=900)]
    replayed = read(write(tmp_path, "a.jsonl", lines(entries)))
    assert [(each.at, each.stays) for each in replayed.scenario.arrivals] == [(0, 100), (500, 400)]


def test_a_pod_that_completed_before_it_was_deleted_has_completed(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", lines(life(pod("a"), 0, scheduled=0, completed=63, deleted=4000)))
    replayed = read(path)
    assert replayed.scenario.works["pod"].runs_for == 60
    assert all(each.stays is None for each in replayed.scenario.arrivals)


def test_events_give_moments_and_owners_and_say_that_sizes_are_missing() -> None:
    replayed = read(FIXTURES / "events.json")
    assert {name: work.kind for name, work in works(replayed).items()} == {
        "nightly": WorkKind.BATCH_JOB, "web": WorkKind.SERVICE, "pod": WorkKind.POD, "pod-2": WorkKind.POD,
    }  # fmt: skip
    assert replayed.scenario.works["nightly"].runs_for == 740
    assert [each.stays for each in replayed.scenario.arrivals if each.work == "web"] == [1479]
    assert note(replayed, "Events have no sizes")
    assert note(replayed, "Pods for which the autoscaler added nodes there").endswith(": 1.")


def test_a_pod_from_before_the_first_event_runs_from_the_start_and_has_no_wait() -> None:
    replayed = read(FIXTURES / "events.json")
    assert moments(replayed, "pod") == [0]
    assert not any(each.expect == "waits-at-most" and each.work == "pod" for each in replayed.scenario.expectations)


def test_events_of_a_watch_are_read(tmp_path: Path) -> None:
    events = [event("Scheduled", 5, "a"), event("Killing", 65, "a"), event("Scheduled", 9, "b")]
    watch = "\n".join(json.dumps({"type": "ADDED", "object": each}, indent=4) for each in events)
    replayed = read(write(tmp_path, "watch.json", watch))
    assert [(each.at, each.stays) for each in replayed.scenario.arrivals] == [(0, 60), (4, None)]


def test_a_dump_of_pods_gives_applications_as_units_with_workers() -> None:
    replayed = read(FIXTURES / "pods.json")
    spark, dask = replayed.scenario.works["spark"], replayed.scenario.works["dask"]
    assert (spark.workers, spark.cpu, spark.memory, spark.runs_for) == (3, "2", "4Gi", 1788)
    assert (dask.workers, dask.runs_for) == (2, None)
    assert len(moments(replayed, "spark")) == len(moments(replayed, "dask")) == 1


def test_a_bare_pod_keeps_exactly_what_it_asked_for() -> None:
    replayed = read(FIXTURES / "pods.json")
    assert replayed.scenario.works["pod"].pod == {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "main",
                "image": "replayed",
                "resources": {
                    "requests": {"cpu": "250m", "memory": "96Mi"},
                    "limits": {"cpu": "250m", "memory": "96Mi"},
                },
            }
        ],
        "nodeSelector": {"disk": "nvme"},
    }
    assert note(replayed, "Pods with the priority class gold").endswith("(it is left out): 1.")
    assert note(replayed, "Pods that select nodes by disk").endswith(": 1.")


def test_an_old_dump_replays_its_last_week_with_what_already_ran(tmp_path: Path) -> None:
    pods = []
    for name, day in (("old", 0), ("new", 95)):
        each = pod(name, owner="ReplicaSet/web-6d4b75cb6d")
        each["metadata"]["creationTimestamp"] = f"2026-{1 + day // 28:02}-{1 + day % 28:02}T00:00:00Z"
        pods.append(each)
    replayed = read(write(tmp_path, "pods.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": pods})))
    assert moments(replayed, "web") == [0, 604_800]
    assert replayed.scenario.speed == 600


@pytest.mark.parametrize("file", ["runs.json", "runs.csv"])
def test_runs_of_mlrun_give_jobs_without_iterations_and_local_runs(file: str) -> None:
    replayed = read(FIXTURES / file)
    assert moments(replayed, "mpi-train") == [100]
    assert replayed.scenario.works["mpi-train"].runs_for == 3900
    jobs = [name for name, work in works(replayed).items() if work.kind is WorkKind.MLRUN_JOB]
    assert sorted(at for name in jobs for at in moments(replayed, name)) == [0, 60, 200, 200, 800]
    assert note(replayed, "Iterations").endswith(": 1.")
    assert note(replayed, "Runs in a client").endswith(": 1.")
    assert note(replayed, "The file does not say how long pods waited")


def test_runs_keep_the_node_selector_that_only_json_has() -> None:
    selectors = [work.node_selector for work in works(read(FIXTURES / "runs.json")).values()]
    assert all(each == {"igz-clusters.io/role": "workload"} for each in selectors)
    assert not any(work.node_selector for work in works(read(FIXTURES / "runs.csv")).values())


def test_the_answer_of_mlruns_api_and_json_lines_of_runs_are_read(tmp_path: Path) -> None:
    runs = [run("train", 0, 60), run("train", 30, 90)]
    for name, text in (("a.json", json.dumps({"runs": runs})), ("b.jsonl", lines(runs))):
        assert moments(read(write(tmp_path, name, text)), "train") == [0, 30]


def test_a_part_starts_with_what_runs_at_its_start_and_ends_at_its_end(tmp_path: Path) -> None:
    entries = [
        *life(pod("over"), 0, scheduled=1, completed=50),
        *life(pod("runs", cpu="2"), 10, scheduled=11, completed=300),
        *life(pod("inside", cpu="3"), 150, scheduled=151, completed=5000),
        *life(pod("later"), 4000, scheduled=4001),
    ]
    path = write(tmp_path, "a.jsonl", lines(entries))
    replayed = read(path, Part(T0 + 100, T0 + 1000))
    found = {work.pod["containers"][0]["resources"]["requests"]["cpu"]: name
             for name, work in works(replayed).items() if work.pod}  # fmt: skip
    assert set(found) == {"2", "3"}
    assert moments(replayed, found["2"]) == [0]
    assert replayed.scenario.works[found["2"]].runs_for == 200
    assert moments(replayed, found["3"]) == [50]
    assert replayed.scenario.works[found["3"]].runs_for is None
