from typing import Any
from zoneinfo import available_timezones

import pytest

from components.contract.aks.hours import PowerAction, definition, require_possible, role_id, windows_zone
from components.contract.aks.maintenance import Maintenance
from components.contract.hours import OfficeHours

GROUP = "/subscriptions/s/resourceGroups/g"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/c"


def hours(**changes: Any) -> OfficeHours:
    return OfficeHours.model_validate({"from": "08:00", "to": "19:05", "timeZone": "Europe/Berlin", **changes})


def window(day: str, start: int, length: int = 4) -> Maintenance:
    return Maintenance.model_validate({"day": day, "startHour": start, "hours": length})


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        ("Europe/Berlin", "W. Europe Standard Time"),
        ("America/New_York", "Eastern Standard Time"),
        ("Asia/Kolkata", "India Standard Time"),
        ("UTC", "UTC"),
    ],
)
def test_a_zone_has_the_name_that_windows_has_for_it(zone: str, name: str) -> None:
    assert windows_zone(zone) == name


def test_few_zones_of_places_have_no_name_in_windows() -> None:
    places = {zone for zone in available_timezones() if zone.startswith(("Africa/", "America/", "Asia/", "Europe/"))}
    assert len([zone for zone in places if not windows_zone(zone)]) < len(places) / 20


@pytest.mark.parametrize(
    ("when", "is_possible"),
    [
        (window("monday", 8), True),
        (window("monday", 7), True),  # 08:00 in winter, 09:00 in summer
        (window("monday", 6), False),  # 07:00 in winter
        (window("monday", 13), True),
        (window("monday", 14), True),  # until 19:00 in winter, 20:00 in summer is 18:00 UTC
        (window("monday", 15), False),
        (window("sunday", 8), False),
        (window("friday", 22, 12), False),
        (window("monday", 8, 24), False),
        (None, True),
    ],
)
def test_upgrades_happen_while_the_cluster_runs_all_year(when: Maintenance | None, is_possible: bool) -> None:
    given = hours(to="20:00")
    require_possible(given, when, upgrades=False)
    if is_possible:
        require_possible(given, when, upgrades=True)
        return
    with pytest.raises(ValueError, match="AKS would never upgrade the cluster"):
        require_possible(given, when, upgrades=True)


def test_a_workflow_posts_to_the_cluster_at_its_time_as_its_identity() -> None:
    made = definition(hours(days=["friday", "monday"]), PowerAction.STOP, CLUSTER, "identity")
    assert made["triggers"]["hours"]["recurrence"] == {
        "frequency": "Week",
        "interval": 1,
        "startTime": "2026-01-01T00:00:00",
        "timeZone": "W. Europe Standard Time",
        "schedule": {"weekDays": ["Monday", "Friday"], "hours": [19], "minutes": [5]},
    }
    request = made["actions"]["stop"]["inputs"]
    assert request["uri"] == f"https://management.azure.com{CLUSTER}/stop?api-version=2025-09-01"
    assert request["authentication"]["identity"] == "identity"
    start = definition(hours(), PowerAction.START, CLUSTER, "identity")
    assert start["triggers"]["hours"]["recurrence"]["schedule"]["hours"] == [8]
    assert start["actions"]["start"]["inputs"]["uri"].endswith("/start?api-version=2025-09-01")


def test_each_group_has_a_role_of_its_own() -> None:
    assert role_id(GROUP) == role_id(GROUP.upper())
    assert role_id(GROUP) != role_id(f"{GROUP}2")
