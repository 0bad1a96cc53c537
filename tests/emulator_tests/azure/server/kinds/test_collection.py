from typing import Any

import pytest

from support.aks_account import LOCATION, Account, unique


@pytest.fixture
def rule(own: Account) -> dict[str, Any]:
    """The body of a rule for a workspace that is there."""
    logs = f"{own.group}/providers/Microsoft.OperationalInsights/workspaces/{unique('logs-')}"
    own.put(logs, {"location": LOCATION, "properties": {}})
    streams = ["Microsoft-ContainerLogV2"]
    source = {"name": "containers", "extensionName": "ContainerInsights", "streams": streams}
    return {
        "location": LOCATION,
        "kind": "Linux",
        "properties": {
            "dataSources": {"extensions": [source]},
            "destinations": {"logAnalytics": [{"name": "logs", "workspaceResourceId": logs}]},
            "dataFlows": [{"streams": streams, "destinations": ["logs"]}],
        },
    }


def collection(own: Account) -> str:
    return f"{own.group}/providers/Microsoft.Insights/dataCollectionRules/{unique('rule-')}"


def association(cluster: str) -> str:
    return f"{cluster}/providers/Microsoft.Insights/dataCollectionRuleAssociations/containers"


def test_a_rule_stays_as_long_as_a_cluster_is_associated_with_it(own: Account, rule: dict[str, Any]) -> None:
    id_ = str(own.put(collection(own), rule).body["id"])
    assert rule["properties"].items() <= own.properties(id_).items()
    link = association(own.cluster())
    own.put(link, {"properties": {"dataCollectionRuleId": id_}})
    assert own.refused("DELETE", id_).code == "Conflict"
    own.delete(link)
    own.delete(id_)


def test_a_rule_needs_its_workspace_and_the_destinations_it_names(own: Account, rule: dict[str, Any]) -> None:
    rule["properties"]["dataFlows"][0]["destinations"] = ["nowhere"]
    assert "nowhere" in own.refused("PUT", collection(own), rule).message
    rule["properties"]["destinations"]["logAnalytics"][0]["workspaceResourceId"] = "/subscriptions/s/gone"
    assert "gone' was not found" in own.refused("PUT", collection(own), rule).message


def test_an_association_needs_a_rule_that_is_there(own: Account) -> None:
    link = association(own.cluster())
    assert own.refused("PUT", link, {"properties": {}}).code == "BadRequest"
    body = {"properties": {"dataCollectionRuleId": f"{own.group}/gone"}}
    assert own.refused("PUT", link, body).code == "InvalidAssociation"
