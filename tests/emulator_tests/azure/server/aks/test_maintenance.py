from typing import Any

import pytest

from support.aks_account import Account, parametrized

WEEKLY = {"schedule": {"weekly": {"intervalWeeks": 1, "dayOfWeek": "Sunday"}}, "durationHours": 6, "startTime": "02:00"}


@pytest.fixture(scope="session")
def shared_cluster(shared_home: Account) -> str:
    return shared_home.cluster()


@pytest.mark.parametrize("name", ["aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"])
def test_a_window_is_kept_as_it_was_sent_and_goes_with_its_cluster(home: Account, name: str) -> None:
    cluster = home.cluster()
    id_ = f"{cluster}/maintenanceConfigurations/{name}"
    home.put(id_, {"properties": {"maintenanceWindow": WEEKLY}})
    assert home.properties(id_) == {"maintenanceWindow": WEEKLY}
    home.delete(cluster)
    assert home.ask("GET", id_).status == 404


@parametrized(
    ({}, "InvalidParameter", "needs maintenanceWindow alone"),
    ({"maintenanceWindow": {**WEEKLY, "durationHours": 3}}, "InvalidParameter", "4 to 24"),
    ({"maintenanceWindow": {**WEEKLY, "schedule": {}}}, "InvalidParameter", "exactly one of"),
    ({"maintenanceWindow": {**WEEKLY, "startTime": 2}}, "InvalidRequestContent", "startTime must be text, given 2"),
)
def test_a_window_that_cannot_be_is_refused(
    home: Account, shared_cluster: str, changes: dict[str, Any], code: str, words: str
) -> None:
    id_ = f"{shared_cluster}/maintenanceConfigurations/aksManagedAutoUpgradeSchedule"
    told = home.refused("PUT", id_, {"properties": changes})
    assert (told.code, words in told.message) == (code, True), told


def test_only_aks_s_own_names_are_taken(home: Account, shared_cluster: str) -> None:
    id_ = f"{shared_cluster}/maintenanceConfigurations/sunday"
    assert "must be default" in home.refused("PUT", id_, {"properties": {"maintenanceWindow": WEEKLY}}).message


def test_the_one_called_default_has_hours_of_the_week(home: Account, shared_cluster: str) -> None:
    id_ = f"{shared_cluster}/maintenanceConfigurations/default"
    assert "timeInWeek" in home.refused("PUT", id_, {"properties": {"maintenanceWindow": WEEKLY}}).message
    home.put(id_, {"properties": {"timeInWeek": [{"day": "Sunday", "hourSlots": [2, 3]}]}})
