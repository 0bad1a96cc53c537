import json
from base64 import b64decode

import pytest

from workbench.offline.azure.noop import SUBSCRIPTION, NoopAzure
from workbench.offline.azure.provider import LIST_CREDENTIALS
from workbench.offline.provider import Existing, RefusedError

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
GROUP = {"resourceGroupName": "dev"}
GIVEN = {**GROUP, "resourceName": "dev", "agentPoolName": "work", "count": 2}
ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/dev/providers/Microsoft.ContainerService/managedClusters/dev"


def test_pretended_azure_gives_ids_and_names_as_azure_does() -> None:
    made = NoopAzure().create(POOL, "pool", GIVEN)
    assert made == (f"{ID}/agentPools/work", {"count": 2, "name": "work", "azureApiVersion": "2025-09-01"})


def test_an_id_inside_an_id_is_in_it_once() -> None:
    inputs = {"resourceUri": ID, "name": "logs"}
    made, _ = NoopAzure().create("azure-native:monitor:DiagnosticSetting", "logs", inputs)
    assert made == f"{ID}/providers/Microsoft.Insights/diagnosticSettings/logs"


def test_identities_go_in_as_a_list_and_come_out_by_their_ids() -> None:
    identity = {"type": "UserAssigned", "userAssignedIdentities": [ID]}
    _, made = NoopAzure().create(CLUSTER, "dev", {**GROUP, "resourceName": "dev", "identity": identity})
    assert made["identity"]["userAssignedIdentities"] == {ID: {}}


def test_a_changed_cluster_still_says_who_issues_its_tokens() -> None:
    inputs = {**GROUP, "resourceName": "dev", "oidcIssuerProfile": {"enabled": True}}
    identifier, made = NoopAzure().create(CLUSTER, "dev", inputs)
    changed = NoopAzure().update(Existing(CLUSTER, "dev", identifier, inputs, made), {**inputs, "tags": {"a": "b"}})
    assert changed == {**made, "tags": {"a": "b"}}


def test_what_was_pretended_stays_as_the_state_has_it() -> None:
    found = NoopAzure().read(Existing(POOL, "pool", f"{ID}/agentPools/work", GIVEN, {"count": 2}))
    assert (found.inputs, found.outputs) == (GIVEN, {"count": 2})


def test_a_cluster_that_is_not_there_leads_nowhere() -> None:
    (credentials,) = NoopAzure().invoke(LIST_CREDENTIALS, {})["kubeconfigs"]
    (cluster,) = json.loads(b64decode(credentials["value"]))["clusters"]
    assert cluster["cluster"]["server"] == "https://127.0.0.1:1"


def test_it_pretends_no_other_answers() -> None:
    with pytest.raises(RefusedError, match="only plans"):
        NoopAzure().invoke("azure-native:authorization:getClientConfig", {})
