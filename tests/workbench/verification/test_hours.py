"""What schedules change by night and in the morning is no deviation, and everything else still is one."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import pytest
import yaml

from support import eks
from support.verification import API_POD, REPORT, Objects, Site, site
from workbench.engine.live_objects import LiveObject
from workbench.verification.snapshot import Snapshot
from workbench.verification.verify import verify

HOURS: Final = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
NODE: Final = ("Node", "", "workload-0")
POOL: Final[Mapping[str, Any]] = {
    "pools.workload.size": {"min": 3, "max": 10},
    "pools.workload.officeHours": {**HOURS, "nightMin": 1},
}
CLUSTER: Final[Mapping[str, Any]] = {"cluster.officeHours": HOURS, "pools.data": None}
LATER: Final = {"node-count", "initial-group", "autoscaler", "autoscaler-groups", "mlrun-settings"}
"""Checks of what a cluster with hours lacks until all its nodes are back."""


def changed(changes: Mapping[str, Any]) -> Site:
    """Return the clean cluster, whose pool workload has one node, after an `up` of ``changes``."""
    clean = site("eks")
    return Site(replace(clean.contract, config=eks.config(dict(changes))), clean.objects)


def minimum(objects: Objects, low: int) -> None:
    """Let the autoscaler report a minimum of the pool workload."""
    data = objects[REPORT]["data"]
    content = yaml.safe_load(data["status"])
    (group,) = (each for each in content["nodeGroups"] if "-workload-" in each["name"])
    group["health"]["minSize"] = low
    data["status"] = yaml.safe_dump(content)


@pytest.mark.parametrize(
    ("low", "expected"),
    [(1, []), (2, [("autoscaler-groups", "1 to 10 or 3 to 10")]), (3, [])],
    ids=["night", "neither", "day"],
)
def test_a_pool_with_hours_may_have_either_minimum(low: int, expected: list[tuple[str, str]]) -> None:
    found = changed(POOL).verified(lambda objects: minimum(objects, low)).deviations
    assert [(check, each.expected) for check, each in found] == expected


def test_a_pool_with_hours_may_not_have_fewer_nodes_than_by_night() -> None:
    def night(objects: Objects) -> None:
        minimum(objects, 1)
        del objects[NODE]

    ((check, found),) = changed(POOL).verified(night).deviations
    assert (check, found.problem, found.expected) == ("node-count", "has 0 nodes", "1..10 nodes")


@pytest.mark.parametrize(
    ("time", "judged"),
    [("19:05", set()), ("22:00", set()), ("08:15", set()), ("08:31", LATER)],
    ids=["stops", "night", "wakes", "open"],
)
def test_what_waits_for_nodes_is_judged_once_a_cluster_with_hours_is_awake(time: str, judged: set[str]) -> None:
    clean, gone = changed(CLUSTER), (NODE, ("Node", "", "initial-1"))
    kept = {key: deepcopy(each) for key, each in clean.objects.items() if key not in gone}
    minimum(kept, 0)
    kept[API_POD]["status"] = {"phase": "Pending"}
    taken = datetime.fromisoformat(f"2026-11-25T{time}:00+00:00")
    seen = Snapshot({key: LiveObject(each) for key, each in kept.items()}, taken=taken)
    assert {check for check, _ in verify(clean.contract, seen).deviations} & LATER == judged
