from typing import Any

import pytest

from components.contract.eks.hours import ScheduledAction
from support.eks import NODE_GROUP, build, built
from support.recorder import Recorder

SCHEDULE = "aws:autoscaling/schedule:Schedule"
TAG = "igz-clusters.io/hours"
HOURS = {"from": "08:00", "to": "19:50", "timeZone": "Europe/Berlin"}


def of_pool(size: dict[str, int], pool: str = "workload", **hours: Any) -> Recorder:
    return build({f"pools.{pool}.size": size, f"pools.{pool}.officeHours": {**HOURS, **hours}})


def of_cluster() -> Recorder:
    return build({"cluster.officeHours": HOURS, "pools.data": None})


def sizes(recorder: Recorder, name: str) -> tuple[Any, ...]:
    action = recorder.of_type(SCHEDULE)[name]
    return (action["recurrence"], action["minSize"], action["desiredCapacity"], action["maxSize"])


def test_without_hours_nothing_is_scheduled() -> None:
    assert not built().of_type(SCHEDULE)
    assert all(TAG not in group["tags"] for group in built().of_type(NODE_GROUP).values())


def test_hours_of_a_pool_change_its_minimum_and_leave_its_nodes_to_the_autoscaler() -> None:
    made = of_pool({"min": 3, "max": 10}, nightMin=1)
    assert set(made.of_type(SCHEDULE)) == {"test-workload/night", "test-workload/morning"}
    assert sizes(made, "test-workload/night") == ("50 19 * * 1,2,3,4,5", 1, -1, -1)
    assert sizes(made, "test-workload/morning") == ("0 8 * * 1,2,3,4,5", 3, -1, -1)
    options = made.options[NODE_GROUP, "test-workload"]
    assert set(options.ignore_changes) == {"scalingConfig.desiredSize", "scalingConfig.minSize"}
    assert made.of_type(NODE_GROUP)["test-workload"]["tags"][TAG] == "night=1 day=3"


def test_zones_share_the_minimum_of_the_night_as_that_of_the_day() -> None:
    made = of_pool({"min": 5, "max": 9}, "jupyter", nightMin=1)
    nights = {name: action["minSize"] for name, action in made.of_type(SCHEDULE).items() if name.endswith("/night")}
    days = {name: action["minSize"] for name, action in made.of_type(SCHEDULE).items() if name.endswith("/morning")}
    assert nights == {"test-jupyter-a/night": 1, "test-jupyter-b/night": 0, "test-jupyter-c/night": 0}
    assert days == {"test-jupyter-a/morning": 2, "test-jupyter-b/morning": 2, "test-jupyter-c/morning": 1}


def test_a_zone_whose_minimum_stays_has_no_schedule() -> None:
    made = of_pool({"min": 2, "max": 9}, "jupyter", nightMin=1)
    assert {name.partition("/")[0] for name in made.of_type(SCHEDULE)} == {"test-jupyter-b"}
    options = made.options[NODE_GROUP, "test-jupyter-a"]
    assert "scalingConfig.minSize" not in options.ignore_changes


def test_a_cluster_falls_asleep_with_its_autoscaler_first_and_wakes_in_that_order() -> None:
    made = of_cluster()
    assert sizes(made, "test-initial/night") == ("50 19 * * 1,2,3,4,5", 0, 0, -1)
    assert sizes(made, "test-workload/night") == ("10 20 * * 1,2,3,4,5", 0, 0, -1)
    assert sizes(made, "test-initial/morning") == ("0 8 * * 1,2,3,4,5", 3, 3, -1)
    assert sizes(made, "test-workload/morning") == ("10 8 * * 1,2,3,4,5", 1, -1, -1)  # the rest is the autoscaler's


def test_every_group_of_a_cluster_sleeps_and_an_empty_one_is_not_woken() -> None:
    made = of_cluster()
    nights = {name.removesuffix("/night") for name in made.of_type(SCHEDULE) if name.endswith("/night")}
    assert nights == set(made.of_type(NODE_GROUP))
    assert "test-spot/morning" not in made.of_type(SCHEDULE)


def test_no_two_groups_have_an_action_of_the_same_name() -> None:
    names = [action["scheduledActionName"] for action in of_cluster().of_type(SCHEDULE).values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("change", [{"low": 2}, {"size": 2}, {"recurrence": "0 9 * * 1"}, {"time_zone": "UTC"}])
def test_whatever_changes_in_an_action_makes_another_one(change: dict[str, Any]) -> None:
    made_of = {"group": "workload", "part": "night", "recurrence": "0 8 * * 1", "time_zone": "Europe/Berlin"}
    given: dict[str, Any] = {**made_of, "low": 0}
    assert ScheduledAction(**given).name == ScheduledAction(**given).name
    assert ScheduledAction(**given).name != ScheduledAction(**{**given, **change}).name


def test_actions_of_a_group_are_put_one_after_the_other_and_all_old_ones_go_first() -> None:
    made = of_pool({"min": 3, "max": 10})
    options = made.options[SCHEDULE, "test-workload/morning"]
    assert options.delete_before_replace
    night = (SCHEDULE, "test-workload/night")
    assert set(options.made_from["autoscalingGroupName"]) == {(NODE_GROUP, "test-workload"), night}
    names = {action["autoscalingGroupName"] for action in made.of_type(SCHEDULE).values()}
    assert names == {"test-workload-asg"}
