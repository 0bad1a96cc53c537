from collections.abc import Sequence
from typing import Any

import pytest

from support.rehearsal_stacks import stack
from workbench.rehearsal.play import labels
from workbench.rehearsal.play.objects import Objects
from workbench.rehearsal.play.observed import ObservedPod
from workbench.rehearsal.play.operators import (
    NOW,
    Action,
    Create,
    Fail,
    Later,
    Operator,
    Remove,
    RunFor,
    operator_of,
    state_of,
    thresholds,
)
from workbench.rehearsal.play.units import Unit
from workbench.rehearsal.record import PodEnd
from workbench.rehearsal.scenario.work import Work
from workbench.rehearsal.settings import Pace


class Pods:
    """Pods of a unit, and its operator."""

    def __init__(self, kind: str, **fields: Any) -> None:
        self.objects = Objects(stack(), Pace())
        work = Work.model_validate({"kind": kind, "runsFor": "10m", **fields})
        self.unit: Unit = self.objects.unit("etl", work, 0)
        self.pods: list[ObservedPod] = []
        self.operator: Operator = found(operator_of(self.unit, self.objects))

    def add(self, part: str, *, runs: bool = True) -> ObservedPod:
        name = f"etl-0-{part}"
        observed = ObservedPod(
            name=name, namespace="mlrun", uid=f"{name}-{len(self.pods)}", labels={labels.PART: part}, kind="",
            created=0, spec={}, amounts={}, started=0 if runs else None,
        )  # fmt: skip
        self.pods.append(observed)
        return observed

    def actions(self, now: float = 0) -> Sequence[Action]:
        return list(self.operator.actions(self.pods, now))


def found(operator: Operator | None) -> Operator:
    assert operator
    return operator


def end(pod: ObservedPod, how: PodEnd, *, exists: bool = False) -> None:
    pod.ended, pod.end, pod.exists = 1.0, how, exists


def created(actions: Sequence[Action]) -> list[str]:
    return [act.request.name for act in actions if isinstance(act, Create)]


def test_a_driver_creates_its_executors_once_it_runs() -> None:
    spark = Pods("spark", workers=2)
    driver = spark.add("driver", runs=False)
    assert not spark.actions()
    driver.started = 1.0
    assert created(spark.actions()) == ["etl-0-exec-1", "etl-0-exec-2"]
    assert not spark.actions()


def test_an_application_works_from_its_first_executor_on() -> None:
    spark = Pods("spark", workers=1)
    driver = spark.add("driver")
    spark.actions()
    executor = spark.add("executor", runs=False)
    assert not spark.actions()
    executor.started = 2.0
    assert spark.actions() == [RunFor(driver, "10000ms")]
    assert not spark.actions()


def test_a_driver_replaces_each_lost_executor_once() -> None:
    spark = Pods("spark", workers=2)
    spark.add("driver")
    spark.actions()
    first, _ = spark.add("executor"), spark.add("executor")
    spark.actions()
    end(first, PodEnd.LOST)
    assert created(spark.actions()) == ["etl-0-exec-3"]
    assert not spark.actions()


def test_executors_end_with_their_driver() -> None:
    spark = Pods("spark", workers=2)
    driver = spark.add("driver")
    spark.actions()
    running, waiting = spark.add("executor"), spark.add("executor", runs=False)
    spark.actions()
    end(driver, PodEnd.SUCCEEDED, exists=True)
    assert spark.actions() == [RunFor(running, NOW), Remove(waiting)]
    assert not spark.actions()


def test_a_lost_driver_creates_nothing() -> None:
    spark = Pods("spark", workers=2)
    driver = spark.add("driver")
    spark.actions()
    executor = spark.add("executor")
    end(driver, PodEnd.LOST)
    end(executor, PodEnd.LOST)
    assert not spark.actions()


@pytest.fixture
def gang() -> Pods:
    pods = Pods("mpi", workers=2)
    for part in ("worker-0", "worker-1"):
        pods.add(part)
    return pods


def test_a_gang_works_only_while_all_its_workers_run(gang: Pods) -> None:
    launcher = gang.add("launcher")
    late = gang.pods[1]
    late.started = None
    assert not gang.actions(0)
    late.started = 1.0
    assert gang.actions(100) == [Later(600)]
    assert not gang.actions(300)
    assert gang.actions(700) == [RunFor(each, NOW) for each in (*gang.pods[:2], launcher)]
    assert not gang.actions(800)


def test_a_gang_that_loses_a_worker_at_work_fails(gang: Pods) -> None:
    launcher = gang.add("launcher")
    gang.actions(0)
    end(gang.pods[0], PodEnd.LOST)
    fail, remove = gang.actions(10)
    assert isinstance(fail, Fail)
    assert fail.pod is launcher
    assert remove == Remove(gang.pods[1])
    assert not gang.actions(20)


def test_a_worker_that_is_lost_before_the_work_comes_back(gang: Pods) -> None:
    gang.add("launcher")
    gang.pods[1].started = None
    gang.actions(0)
    end(gang.pods[0], PodEnd.LOST, exists=True)
    assert not gang.actions(5)
    end(gang.pods[0], PodEnd.LOST)
    assert created(gang.actions(10)) == ["etl-0-worker-0"]
    assert not gang.actions(20)


def test_a_lost_launcher_begins_the_work_anew(gang: Pods) -> None:
    launcher = gang.add("launcher")
    gang.actions(0)
    end(launcher, PodEnd.LOST)
    assert created(gang.actions(500)) == ["etl-0-launcher"]
    again = gang.add("launcher")
    assert gang.actions(500) == [Later(600)]
    assert not gang.actions(700)
    assert RunFor(again, NOW) in gang.actions(1100)


def test_a_step_follows_the_one_before_only_if_that_succeeded() -> None:
    pipeline = Pods("pipeline", workers=3)
    first = pipeline.add("step-0")
    assert not pipeline.actions()
    end(first, PodEnd.SUCCEEDED, exists=True)
    second = pipeline.actions()
    assert created(second) == ["etl-0-step-1"]
    assert [each.missing for each in second if isinstance(each, Create)] == [2]
    assert not pipeline.actions()
    end(pipeline.add("step-1"), PodEnd.LOST)
    assert not pipeline.actions()


def test_a_pipeline_ends_with_its_last_step() -> None:
    pipeline = Pods("pipeline", workers=1)
    end(pipeline.add("step-0"), PodEnd.SUCCEEDED, exists=True)
    assert not pipeline.actions()


def test_only_runs_of_mlrun_have_thresholds_those_of_the_stack() -> None:
    config = stack(platform={"mlrun": {"pendingNotScheduled": "2h", "executing": "-1"}})
    objects = Objects(config, Pace())
    of = {
        kind: thresholds(objects.unit("a", Work.model_validate({"kind": kind}), 0), objects)
        for kind in ("mlrun-job", "notebook")
    }
    assert of == {"mlrun-job": {"pending_not_scheduled": 7200, "pending_scheduled": 3600}, "notebook": {}}


def test_states_of_runs_follow_the_pods_phase() -> None:
    pod = Pods("pipeline").add("step-0", runs=False)
    assert state_of(pod) == "pending_not_scheduled"
    pod.scheduled = 1.0
    assert state_of(pod) == "pending_scheduled"
    pod.started = 2.0
    assert state_of(pod) == "executing"


def test_a_lost_notebook_comes_back_once_its_user_notices_that_it_is_gone() -> None:
    notebook = Pods("notebook", runsFor=None, returns="2m", volume={})
    server = notebook.add("0")
    assert not notebook.actions(10)
    end(server, PodEnd.LOST)
    assert notebook.actions(30) == [Later(120)]
    assert notebook.actions(100) == [Later(50)]
    assert created(notebook.actions(150)) == ["jupyter-etl-0"]
    assert not notebook.actions(160)


def test_a_notebook_cannot_start_before_the_node_that_holds_its_pod_is_gone() -> None:
    pods, held = Pods("notebook", runsFor=None, returns="2m"), [True]
    pods.operator = found(operator_of(pods.unit, pods.objects, lambda _: held[0]))
    end(pods.add("0"), PodEnd.LOST)
    pods.actions(0)
    assert pods.actions(130) == [Later(15)]
    held.clear()
    held.append(False)
    assert created(pods.actions(145)) == ["jupyter-etl-0"]


def test_a_notebook_that_its_user_stopped_or_that_nobody_misses_stays_away() -> None:
    stopped = Pods("notebook", runsFor=None, returns="2m")
    end(stopped.add("0"), PodEnd.DELETED)
    assert not stopped.actions(500)
    objects = Objects(stack(), Pace())
    assert operator_of(objects.unit("etl", Work.model_validate({"kind": "notebook"}), 0), objects) is None
