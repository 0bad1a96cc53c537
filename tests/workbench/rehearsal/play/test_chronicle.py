from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from support.rehearsal_api import Stage
from workbench.rehearsal.play.recording import record_of
from workbench.rehearsal.record import PodEnd, PodRecord, Record, Refusal
from workbench.rehearsal.scenario.places import Place

AUTOSCALER_TAINT = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}


def record(stage: Stage, lasts: float = 3600.0) -> Record:
    return record_of(stage.chronicle, lasts=lasts, units={"train": ["train-0"]}, teams={"train": "vision"})


def only(stage: Stage, lasts: float = 3600.0) -> PodRecord:
    (found,) = record(stage, lasts).pods
    return found


def disrupted(reason: str, message: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}]}


def scaler(replicas: int) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"igz-clusters.io/rehearsal-unit": "model-0"}},
        "status": {"desiredReplicas": replicas},
    }


def test_replicas_that_an_autoscaler_sets_are_noted_and_wanted() -> None:
    stage = Stage()
    stage.chronicle.wants("model-0", 2)
    for change, replicas in [("ADDED", 0), ("MODIFIED", 2), ("MODIFIED", 4), ("MODIFIED", 4), ("DELETED", 1)]:
        stage.chronicle.see_scaler(change, scaler(replicas))
    assert [each.text for each in stage.chronicle.happenings] == ["model-0 from 2 to 4 replicas, by its CPU"]
    stage.chronicle.wants("model-0", 0)
    stage.chronicle.see_scaler("MODIFIED", scaler(5))  # said before the unit was deleted
    assert len(stage.chronicle.happenings) == 1


def test_moments_are_those_of_the_watch_in_scenario_time() -> None:
    stage = Stage()
    stage.node("work-0")
    stage.wait(60)
    stage.pod("train-0", unit="train-0")
    stage.wait(120)
    stage.api.patch("/api/v1/namespaces/mlrun/pods/train-0", {"spec": {"nodeName": "work-0"}})
    stage.wait(30)
    stage.change("train-0", phase="Running")
    stage.wait(600)
    stage.change("train-0", phase="Succeeded")
    found = only(stage)
    assert (found.created, found.scheduled, found.started, found.ended) == (60, 180, 210, 810)
    assert (found.end, found.node, found.unit, found.work) == (PodEnd.SUCCEEDED, "work-0", "train-0", "train")
    assert (found.cpu_millis, found.memory_mib, found.gpus, found.team) == (500, 1024, 1, "vision")


def test_pods_and_nodes_that_come_while_the_record_is_made_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("train-0", unit="train-0")
    at, numbers = stage.chronicle.clock.at, count()

    def late(tick: float) -> float:
        number = next(numbers)
        stage.node(f"late-{number}")
        stage.pod(f"late-{number}")
        return at(tick)

    monkeypatch.setattr(stage.chronicle.clock, "at", late)
    assert only(stage).name == "train-0"


def test_the_record_has_of_a_spec_only_what_decides_where_the_pod_runs() -> None:
    resources = {"requests": {"cpu": "1"}}
    secret = {"command": ["run", "--password=x"], "args": ["x"], "env": [{"name": "TOKEN", "value": "x"}], "image": "x"}
    placing: dict[str, Any] = {
        "nodeSelector": {"a": "b"},
        "affinity": {"nodeAffinity": {}},
        "tolerations": [{"operator": "Exists"}],
        "priority": 7,
        "priorityClassName": "high",
        "overhead": {"cpu": "1"},
    }
    stage = Stage()
    stage.pod(
        "train-0",
        unit="train-0",
        **placing,
        containers=[{"name": "main", "resources": resources, **secret}],
        initContainers=[{"name": "side", "restartPolicy": "Always", "resources": resources, **secret}],
        volumes=[{"name": "own", "secret": {"secretName": "x"}}],
        hostAliases=[{"ip": "10.0.0.1", "hostnames": ["x"]}],
    )
    assert only(stage).spec == {
        **placing,
        "containers": [{"resources": resources}],
        "initContainers": [{"restartPolicy": "Always", "resources": resources}],
    }


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("PreemptionByScheduler", PodEnd.PREEMPTED),
        ("DeletionByTaintManager", PodEnd.LOST),
        ("EvictionByEvictionAPI", PodEnd.LOST),
        ("TerminationByKubelet", PodEnd.LOST),
        ("DeletionByPodGC", PodEnd.LOST),
    ],
)
def test_a_disrupted_pod_ends_as_its_condition_says(reason: str, end: PodEnd) -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("train-0", "work-0", "train-0")
    stage.change("train-0", phase="Failed", **disrupted(reason, "for pod b"))
    assert only(stage).end is end
    assert only(stage).end_cause


def test_a_pod_that_its_owner_deletes_is_not_lost() -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("train-0", "work-0", "train-0")
    stage.remove("train-0")
    assert only(stage).end is PodEnd.DELETED


def test_a_pod_on_a_node_that_an_event_takes_is_lost_to_it() -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("train-0", "work-0", "train-0")
    stage.chronicle.mark_node("work-0", "spot-reclaim")
    stage.remove("train-0")
    assert (only(stage).end, only(stage).end_cause) == (PodEnd.LOST, "spot-reclaim of node work-0")


def test_a_pod_that_ended_before_its_node_was_taken_is_not_lost() -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("train-0", "work-0", "train-0")
    stage.change("train-0", phase="Succeeded")
    stage.chronicle.mark_node("work-0", "spot-reclaim")
    stage.remove("train-0")
    assert only(stage).end is PodEnd.SUCCEEDED


def test_the_autoscaler_takes_nodes_that_it_taints() -> None:
    stage = Stage()
    stage.node("work-x", elastic=True)
    stage.pod("train-0", "work-x", "train-0")
    stage.api.patch("/api/v1/nodes/work-x", {"spec": {"taints": [AUTOSCALER_TAINT]}})
    stage.remove("train-0")
    stage.wait(60)
    stage.api.delete("/api/v1/nodes/work-x")
    assert only(stage).end_cause == "autoscaler removed node work-x"
    (node,) = record(stage).nodes
    assert (node.gone, node.gone_cause, node.group) == (60, "autoscaler", "work")


def test_karpenter_takes_nodes_that_it_deletes() -> None:
    stage = Stage()
    stage.node("work-x", elastic=True)
    stage.pod("train-0", "work-x", "train-0")
    stage.api.patch("/api/v1/nodes/work-x", {"metadata": {"deletionTimestamp": "now"}})
    stage.remove("train-0")
    assert only(stage).end_cause == "autoscaler removed node work-x"


def test_what_karpenter_says_of_a_pod_that_waits_is_the_autoscalers_word() -> None:
    stage = Stage()
    stage.pod("train-0", "", "train-0")
    (uid,) = stage.chronicle.pods
    for component, text in (("default-scheduler", "0/3 nodes are available"), ("karpenter", "limits exhausted")):
        stage.chronicle.see_event(
            "ADDED",
            {
                "reason": "FailedScheduling",
                "source": {"component": component},
                "involvedObject": {"kind": "Pod", "uid": uid},
                "message": text,
            },
        )
    assert [(each.component, each.text) for each in only(stage).reasons] == [
        ("scheduler", "0/3 nodes are available"), ("autoscaler", "limits exhausted")]  # fmt: skip


def test_a_unit_that_the_scenario_deletes_is_deleted_not_failed() -> None:
    stage = Stage()
    stage.pod("train-0", "", "train-0")
    stage.chronicle.mark_unit("train-0", "the scenario")
    stage.remove("train-0")
    assert (only(stage).end, only(stage).end_cause) == (PodEnd.DELETED, "the scenario")


def test_what_was_never_placed_waits_and_what_runs_runs() -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("a", "", "train-0")
    stage.pod("b", "work-0", "train-0")
    assert [each.end for each in record(stage).pods] == [PodEnd.WAITS, PodEnd.RUNS]


def test_the_record_ends_with_the_scenario() -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("a", "work-0", "train-0")
    stage.wait(100)
    stage.change("a", phase="Succeeded")
    stage.pod("late", "work-0", "train-0")
    found = only(stage, lasts=50)
    assert (found.name, found.end, found.ended, found.end_cause) == ("a", PodEnd.RUNS, None, "")


def test_the_next_pod_of_a_unit_replaces_the_lost_one() -> None:
    stage = Stage()
    stage.node("work-0")
    first = stage.pod("a", "work-0", "train-0")
    stage.pod("other", "work-0", "train-1")
    stage.chronicle.mark_node("work-0", "spot-reclaim")
    stage.remove("a")
    stage.pod("of-another-unit", "work-0", "train-1")
    stage.pod("b", "work-0", "train-0")
    stage.pod("c", "work-0", "train-0")
    replaced = {each.name: each.replaces for each in record(stage).pods}
    assert replaced["b"] == first["metadata"]["uid"]
    assert [replaced[name] for name in ("a", "c", "of-another-unit")] == [None, None, None]


def event(reason: str, message: str, uid: str = "uid-1", kind: str = "Pod", name: str = "a") -> dict[str, Any]:
    return {"reason": reason, "message": message, "involvedObject": {"kind": kind, "uid": uid, "name": name}}


def test_reasons_are_kept_once_in_their_order_even_if_they_come_before_the_pod() -> None:
    stage = Stage()
    for reason, text in (
        ("FailedScheduling", "no node"),
        ("FailedScheduling", "no node"),
        ("NotTriggerScaleUp", "max"),
    ):
        stage.chronicle.see_event("ADDED", event(reason, text))
    stage.chronicle.see_event("ADDED", event("Scheduled", "to work-0"))
    stage.pod("a", "", "train-0")
    assert [(each.component, each.text) for each in only(stage).reasons] == [
        ("scheduler", "no node"),
        ("autoscaler", "max"),
    ]


def forbid(stage: Stage, message: str = "forbidden", name: str = "model-0-5d8c") -> None:
    stage.chronicle.see_event("ADDED", event("FailedCreate", message, kind="ReplicaSet", name=name))


def refused(stage: Stage) -> Refusal:
    (found,) = record(stage).refusals
    return found


def controlled(pods: int) -> Stage:
    """Return a stage with a unit whose controller is to make so many pods."""
    stage = Stage()
    stage.chronicle.owns("model-0", "model-0")
    stage.chronicle.wants("model-0", pods)
    return stage


def test_pods_that_a_controller_may_not_create_are_one_refusal_in_the_last_words() -> None:
    stage = controlled(3)
    forbid(stage, "other", name="other-5d8c")
    stage.wait(60)
    forbid(stage, "too early")
    stage.wait(60)
    forbid(stage, "(combined from similar events): exceeded quota")
    found = refused(stage)
    assert (found.unit, found.work, found.message) == ("model-0", "model", "exceeded quota")
    assert (found.at, found.missing) == (60, 3)


def test_a_unit_still_lacks_what_was_refused_when_one_of_its_pods_is_replaced() -> None:
    stage = controlled(12)
    for index in range(4):
        stage.pod(f"p{index}", unit="model-0")
    forbid(stage)
    stage.remove("p0")
    stage.pod("p4", unit="model-0")
    assert refused(stage).missing == 8


def test_a_unit_that_got_all_its_pods_in_the_end_lacks_none_even_if_they_end_later() -> None:
    stage = controlled(2)
    stage.pod("a", unit="model-0")
    forbid(stage)
    stage.pod("b", unit="model-0")
    stage.change("a", phase="Succeeded")
    assert refused(stage).missing == 0
    stage.remove("b")
    assert refused(stage).missing == 0


def test_a_unit_that_is_made_smaller_lacked_what_it_did_not_get_before() -> None:
    stage = controlled(2)
    stage.pod("a", unit="model-0")
    stage.pod("b", unit="model-0")
    stage.chronicle.wants("model-0", 10)
    forbid(stage)
    stage.chronicle.wants("model-0", 2)
    assert refused(stage).missing == 8


def test_static_nodes_belong_to_the_group_that_their_name_begins_with() -> None:
    stage = Stage()
    stage.node("initial-1", "initial")
    stage.node("notebooks-r3", "notebooks")
    assert [each.group for each in record(stage).nodes] == ["initial", "notebooks"]
    assert record(stage).nodes[0].cpu_millis == 7910


def test_nodes_with_most_pods_of_the_scenario_come_first_then_by_name() -> None:
    stage = Stage()
    for name in ("work-2", "work-0", "work-1"):
        stage.node(name)
    stage.node("spot-0", "spot")
    stage.pod("a", "work-2", "train-0")
    stage.pod("system-1", "work-1")
    found = [each.name for each in stage.chronicle.nodes_in(Place.model_validate({"pool": "work"}))]
    assert found == ["work-2", "work-0", "work-1"]
    assert [each.name for each in stage.chronicle.nodes_in(Place.model_validate({"lifecycle": "spot"}))] == ["spot-0"]


def test_pods_of_one_work_share_one_spec() -> None:
    stage = Stage()
    token = {"volumes": [{"name": "kube-api-access-abc12"}]}
    stage.pod("a", "", "train-0", **token)
    stage.pod("b", "", "train-1", volumes=[{"name": "kube-api-access-xyz99"}])
    first, second = record(stage).pods
    assert first.spec is second.spec


def test_the_wait_of_a_job_for_its_next_pod_is_said_in_scenario_time() -> None:
    stage = Stage()
    stage.node("work-0")
    stage.pod("report-0-x", node="work-0", unit="report-0")
    assert not any("Job replaces" in each for each in record(stage).assumptions)
    (sight,) = stage.chronicle.pods.values()
    sight.kind = "batch-job"
    stage.change("report-0-x", phase="Failed")
    assert any(
        "A Job replaces a failed or lost pod" in each and "here 10m" in each for each in record(stage).assumptions
    )


@pytest.mark.parametrize("elastic", [True, False])
def test_the_age_of_failed_nodes_is_said_of_elastic_groups(elastic: bool) -> None:
    stage = Stage()
    (group,) = (each for each in stage.cluster.groups if each.pool == "work")
    stage.cluster.groups = (replace(group, is_elastic=elastic),)
    stage.node("work-0", elastic=elastic)
    assert not any("treats a failed node" in each for each in record(stage).assumptions)
    stage.chronicle.mark_node("work-0", "node-failure")
    stage.api.delete("/api/v1/nodes/work-0")
    assert any("treats a failed node" in each for each in record(stage).assumptions) is elastic
