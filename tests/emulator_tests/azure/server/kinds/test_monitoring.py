from typing import Any

import pytest

from support.aks_account import LOCATION, Account, unique


def workspace(own: Account, **properties: Any) -> str:
    id_ = f"{own.group}/providers/Microsoft.OperationalInsights/workspaces/{unique('logs-')}"
    return str(own.put(id_, {"location": LOCATION, "properties": properties}).body["id"])


def setting(cluster: str) -> str:
    return f"{cluster}/providers/Microsoft.Insights/diagnosticSettings/audit"


def test_a_workspace_has_defaults_and_keeps_what_was_sent(own: Account) -> None:
    found = own.properties(workspace(own, retentionInDays=90))
    assert (found["retentionInDays"], found["sku"], found["provisioningState"]) == (
        90,
        {"name": "PerGB2018"},
        "Succeeded",
    )


@pytest.mark.parametrize("properties", [{"retentionInDays": 900}, {"sku": {"name": "Huge"}}, {"days": 3}])
def test_a_workspace_that_cannot_be_is_refused(own: Account, properties: dict[str, Any]) -> None:
    id_ = f"{own.group}/providers/Microsoft.OperationalInsights/workspaces/{unique('logs-')}"
    told = own.refused("PUT", id_, {"location": LOCATION, "properties": properties})
    assert told.code == "InvalidRequestContent"


def test_a_cluster_sends_its_logs_to_a_workspace_until_it_goes(own: Account) -> None:
    cluster, logs = own.cluster(), workspace(own)
    wanted = {"workspaceId": logs, "logs": [{"category": "kube-audit-admin", "enabled": True}]}
    own.put(setting(cluster), {"properties": wanted})
    assert own.properties(setting(cluster)) == wanted
    own.delete(setting(cluster))
    assert own.ask("GET", setting(cluster)).status == 404


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workspaceId": None}, "At least one data sink"),
        ({"logs": [{"category": "kube-everything", "enabled": True}]}, "'kube-everything' is not supported"),
        ({"logs": [{"categoryGroup": "some", "enabled": True}]}, "'some' is not supported"),
        ({"logs": [{"enabled": True}]}, "either a category or"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(own: Account, changes: dict[str, Any], words: str) -> None:
    cluster, logs = own.cluster(), workspace(own)
    told = own.refused("PUT", setting(cluster), {"properties": {"workspaceId": logs, **changes}})
    assert (told.code, words in told.message) == ("BadRequest", True)


def test_a_setting_needs_a_cluster_and_a_workspace_that_are_there(own: Account) -> None:
    body = {"properties": {"workspaceId": f"{own.group}/gone"}}
    assert own.refused("PUT", setting(own.cluster_id()), body).code == "ResourceNotFound"
    assert own.refused("PUT", setting(own.cluster()), body).message.endswith("/gone' was not found.")
