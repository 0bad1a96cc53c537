"""Workflows of Logic Apps: what they may contain, when they run, and as whom."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from components.contract.aks.hours import RIGHTS, PowerAction, definition
from components.contract.hours import OfficeHours
from emulators.azure.server.kinds.workflows import Recurrence, matches
from support.aks_account import LOCATION, Account, unique

MINUTE = timedelta(minutes=1)
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)


def hours(**changes: Any) -> OfficeHours:
    return OfficeHours.model_validate({"from": "08:00", "to": "19:00", "timeZone": "UTC", **changes})


def body(cluster: str, identity: str, action: PowerAction = PowerAction.STOP) -> dict[str, Any]:
    return {
        "location": LOCATION,
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}},
        "properties": {"definition": definition(hours(), action, cluster, identity)},
    }


def workflow(own: Account) -> str:
    return f"{own.group}/providers/Microsoft.Logic/workflows/{unique('stop')}"


def ran(own: Account, workflow: str, moment: datetime) -> list[str]:
    """Let a moment come and return what became of the requests of one workflow; other tests have theirs."""
    name = workflow.rpartition("/")[2]
    told = (each.split() for each in own.az.run_schedules(moment))
    return [outcome for ran, outcome in told if ran == name]


def role(own: Account, *actions: str) -> tuple[str, dict[str, Any]]:
    """Return name and body of a role of an owner."""
    name = str(uuid.uuid4())
    permissions = [{"actions": list(actions)}]
    return name, {
        "properties": {"roleName": name, "permissions": permissions, "assignableScopes": [own.group]},
    }


def allow(own: Account, identity: str, *actions: str, scope: str = "") -> str:
    """Give an identity a role with actions and return the id of the role."""
    name, given = role(own, *actions)
    made = own.put(f"{own.group}/providers/Microsoft.Authorization/roleDefinitions/{name}", given)
    own.grant(identity, name, scope or own.group)
    return str(made.body["id"])


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", datetime(2026, 3, 28, tzinfo=UTC)),  # summer time begins in the next night
        ("Europe/Berlin", datetime(2026, 10, 24, tzinfo=UTC)),  # and ends
        ("America/New_York", datetime(2026, 11, 1, tzinfo=UTC)),
        ("Asia/Kolkata", datetime(2026, 5, 30, tzinfo=UTC)),
    ],
)
def test_workflows_run_exactly_when_office_hours_open_and_close(zone: str, day: datetime) -> None:
    given = hours(days=["saturday", "sunday", "monday"], timeZone=zone, **{"from": "08:30"})
    stop, start = (
        Recurrence.model_validate(definition(given, action, "/c", "/i")["triggers"]["hours"]["recurrence"])
        for action in (PowerAction.STOP, PowerAction.START)
    )
    was_open, changes = given.is_open(day - MINUTE), 0
    for minute in (day + number * MINUTE for number in range(3 * 24 * 60)):
        is_open = given.is_open(minute)
        assert matches(start, minute) == (is_open and not was_open)
        assert matches(stop, minute) == (was_open and not is_open)
        changes += is_open != was_open
        was_open = is_open
    assert changes >= 4


def test_a_workflow_does_what_its_identity_may_do(own: Account) -> None:
    cluster, identity = own.cluster(), own.new_identity()
    stop, night = workflow(own), MONDAY.replace(hour=19)
    own.put(stop, body(cluster, identity))
    assert ran(own, stop, night - MINUTE) == []
    assert ran(own, stop, night) == ["AuthorizationFailed"]
    allow(own, identity, *RIGHTS)
    assert ran(own, stop, night) == ["Succeeded"]
    assert own.properties(cluster)["powerState"] == {"code": "Stopped"}
    assert ran(own, stop, night) == ["OperationNotAllowed"]


def test_a_role_without_the_action_or_elsewhere_is_no_right(own: Account) -> None:
    cluster, identity = own.cluster(), own.new_identity()
    stop = workflow(own)
    own.put(stop, body(cluster, identity))
    allow(own, identity, "Microsoft.ContainerService/managedClusters/start/action")
    allow(own, identity, *RIGHTS, scope=own.cluster())
    assert ran(own, stop, MONDAY.replace(hour=19)) == ["AuthorizationFailed"]


def test_a_workflow_that_does_not_say_when_it_begins_runs_at_once(own: Account) -> None:
    cluster, identity = own.cluster(), own.new_identity()
    allow(own, identity, *RIGHTS)
    given = body(cluster, identity)
    del given["properties"]["definition"]["triggers"]["hours"]["recurrence"]["startTime"]
    own.put(workflow(own), given)
    assert own.properties(cluster)["powerState"] == {"code": "Stopped"}


def test_what_logic_apps_refuse_is_refused(own: Account) -> None:
    cluster, identity = own.cluster(), own.new_identity()
    given = body(cluster, identity)
    recurrence = given["properties"]["definition"]["triggers"]["hours"]["recurrence"]
    recurrence["timeZone"] = "Europe/Berlin"
    assert "time zone 'Europe/Berlin'" in own.refused("PUT", workflow(own), given).message
    recurrence["timeZone"] = "UTC"
    recurrence["frequency"] = "Fortnight"
    assert own.refused("PUT", workflow(own), given).code == "InvalidTemplate"
    other = {**body(cluster, identity), "identity": None}
    assert own.refused("PUT", workflow(own), other).code == "WorkflowManagedIdentityNotSpecified"


def test_a_role_is_in_the_subscription_wherever_it_was_made_and_goes_after_its_assignments(own: Account) -> None:
    identity = own.new_identity()
    id_ = allow(own, identity, *RIGHTS)
    assert id_.startswith(f"/subscriptions/{id_.split('/')[2]}/providers/Microsoft.Authorization/roleDefinitions/")
    assert own.get(id_)["properties"]["type"] == "CustomRole"
    assert own.refused("DELETE", id_).code == "RoleDefinitionHasAssignments"
    name, given = role(own, *RIGHTS)
    given["properties"]["roleName"] = own.get(id_)["properties"]["roleName"]
    place = f"{own.group}/providers/Microsoft.Authorization/roleDefinitions/{name}"
    assert own.refused("PUT", place, given).code == "RoleDefinitionWithSameNameExists"


def test_a_new_role_can_be_assigned_after_a_while(own: Account) -> None:
    identity = own.new_identity()
    own.az.set_scale(1)
    name, given = role(own, *RIGHTS)
    own.put(f"{own.group}/providers/Microsoft.Authorization/roleDefinitions/{name}", given)
    place = f"{own.group}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    assert own.refused("PUT", place, own.grant_body(identity, name)).code == "RoleDefinitionDoesNotExist"
    own.az.advance(60)
    own.put(place, own.grant_body(identity, name))
