from functools import lru_cache
from typing import Any

from components.contract.aks.hours import RIGHTS, role_id
from support.aks import AGENT_POOL, CLUSTER_ID, GROUP_ID, ROLE_ASSIGNMENT, SUBSCRIPTION, build, built
from support.recorder import Recorder

WORKFLOW = "azure-native:logic:Workflow"
ROLE = "azure-native:authorization:RoleDefinition"
HOURS = {"from": "08:00", "to": "19:00", "timeZone": "Europe/Berlin"}
CHANGES: dict[str, Any] = {
    "cluster.officeHours": HOURS,
    "cluster.maintenance": {"day": "monday", "startHour": 9, "hours": 4},
    "pools.data": None,
}


@lru_cache(maxsize=1)
def made() -> Recorder:
    return build(CHANGES)


def test_without_hours_nothing_stops_the_cluster() -> None:
    assert not built().of_type(WORKFLOW)
    assert not built().of_type(ROLE)


def test_two_workflows_stop_and_start_the_cluster() -> None:
    workflows = made().of_type(WORKFLOW)
    assert set(workflows) == {"test-hours-stop", "test-hours-start"}
    for action in ("stop", "start"):
        workflow = workflows[f"test-hours-{action}"]
        assert workflow["workflowName"] == f"research-{action}"
        assert workflow["definition"]["actions"][action]["inputs"]["uri"] == (
            f"https://management.azure.com{CLUSTER_ID}/{action}?api-version=2025-09-01"
        )
        assert workflow["identity"] == {"type": "UserAssigned", "userAssignedIdentities": ["test-hours-identity-id"]}
        assert workflow["tags"]["team"] == "ml"


def test_their_identity_may_do_nothing_else_and_nowhere_else() -> None:
    role = made().of_type(ROLE)["test-hours-role"]
    assert role["permissions"] == [{"actions": list(RIGHTS)}]
    assert role["scope"] == GROUP_ID
    assert role["assignableScopes"] == [GROUP_ID]
    right = made().of_type(ROLE_ASSIGNMENT)["test-hours-right"]
    assert (right["scope"], right["principalId"]) == (GROUP_ID, "test-hours-identity-principal")
    assert right["roleDefinitionId"] == (
        f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role_id(GROUP_ID)}"
    )
    needs = {key for _, key in made().needs((ROLE_ASSIGNMENT, "test-hours-right"))}
    assert "test-hours-role" in needs


def test_nothing_stops_a_cluster_that_is_not_finished_or_is_being_deleted() -> None:
    pools = set(made().of_type(AGENT_POOL))
    for action in ("stop", "start"):
        needs = {key for _, key in made().needs((WORKFLOW, f"test-hours-{action}"))}
        assert {"test-cluster", "test-hours-right", *pools} <= needs
