"""Every type, from its first request to its last, against a server that runs."""

from collections.abc import Callable
from typing import Any

import pytest

from components.contract.aks.hours import PowerAction, definition
from components.contract.hours import OfficeHours
from support import azure_backups
from support.azure_resources import (
    ADDRESS,
    ASSIGNMENT,
    BINDING,
    CLUSTER,
    COLLECTED,
    COLLECTION,
    CONTAINER,
    CONTRIBUTOR,
    CREDENTIAL,
    DIAGNOSTICS,
    EXTENSION,
    FILE_SERVICE,
    GROUP,
    IDENTITY,
    IN_GROUP,
    INSTANCE,
    MAINTENANCE,
    NAT,
    NETWORK,
    PLACE,
    PLACEMENT,
    POLICY,
    POOL,
    ROLE,
    RULES,
    SHARE,
    STORAGE,
    SUBNET,
    SUBSCRIPTION,
    VAULT,
    WORKFLOW,
    WORKSPACE,
    Stack,
)
from workbench.offline.azure.facts import facts
from workbench.offline.provider import Existing

Made = tuple[Existing, dict[str, Any]]
"""A resource, and inputs that change in place; None takes one away."""

TAGS = {"tags": {"team": "ml"}}
HERE = {**IN_GROUP, **PLACE}


def group(stack: Stack) -> Made:
    return stack.group(), TAGS


def network(stack: Stack) -> Made:
    stack.group()
    made = stack.make(
        NETWORK, "net", virtualNetworkName="net", addressSpace={"addressPrefixes": ["10.8.0.0/16"]}, **HERE
    )
    return made, {"addressSpace": {"addressPrefixes": ["10.8.0.0/16", "10.9.0.0/16"]}}


def subnet(stack: Stack) -> Made:
    made = stack.subnet()
    rules = stack.make(RULES, "rules", networkSecurityGroupName="rules", **HERE)
    return made, {"networkSecurityGroup": {"id": rules.id}}


def rules(stack: Stack) -> Made:
    stack.group()
    rule = {
        "name": "web",
        "priority": 100,
        "access": "Allow",
        "direction": "Inbound",
        "protocol": "Tcp",
        "sourceAddressPrefix": "*",
        "sourcePortRange": "*",
        "destinationAddressPrefix": "*",
        "destinationPortRange": "443",
    }
    made = stack.make(RULES, "rules", networkSecurityGroupName="rules", securityRules=[rule], **HERE)
    return made, {"securityRules": [{**rule, "priority": 200}]}


def address(stack: Stack) -> Made:
    stack.group()
    given = {"sku": {"name": "Standard"}, "publicIPAllocationMethod": "Static", "zones": ["1", "2", "3"]}
    return stack.make(ADDRESS, "out", publicIpAddressName="out", **given, **HERE), {"idleTimeoutInMinutes": 10}


def nat(stack: Stack) -> Made:
    out, _ = address(stack)
    given = {"sku": {"name": "Standard"}, "publicIpAddresses": [{"id": out.id}]}
    return stack.make(NAT, "nat", natGatewayName="nat", **given, **HERE), {"idleTimeoutInMinutes": 30}


def identity(stack: Stack) -> Made:
    stack.group()
    return stack.make(IDENTITY, "who", resourceName="who", **HERE), TAGS


def assignment(stack: Stack) -> Made:
    place = stack.group()
    who = stack.make(IDENTITY, "who", resourceName="who", **HERE)
    made = stack.make(
        ASSIGNMENT,
        "may",
        roleAssignmentName="33333333-2222-3333-4444-555555555555",
        scope=place.id,
        principalId=who.outputs["principalId"],
        principalType="ServicePrincipal",
        roleDefinitionId=CONTRIBUTOR,
    )
    return made, {"description": "for the cluster"}


def role(stack: Stack) -> Made:
    made = stack.make(
        ROLE,
        "switch",
        scope=f"/subscriptions/{SUBSCRIPTION}",
        roleDefinitionId="44444444-2222-3333-4444-555555555555",
        roleName="switch",
        roleType="CustomRole",
        permissions=[{"actions": ["Microsoft.ContainerService/managedClusters/stop/action"]}],
        assignableScopes=[f"/subscriptions/{SUBSCRIPTION}"],
    )
    return made, {"description": "stops clusters"}


def workflow(stack: Stack) -> Made:
    stack.group()
    who = stack.make(IDENTITY, "who", resourceName="who", **HERE)
    hours = OfficeHours.model_validate({"from": "08:00", "to": "19:00", "timeZone": "Europe/Berlin"})
    made = stack.make(
        WORKFLOW,
        "stop",
        workflowName="stop",
        state="Enabled",
        identity={"type": "UserAssigned", "userAssignedIdentities": [who.id]},
        definition=definition(hours, PowerAction.STOP, "/subscriptions/s/cluster", who.id),
        **HERE,
    )
    return made, {"definition": definition(hours, PowerAction.START, "/subscriptions/s/cluster", who.id)}


def placement(stack: Stack) -> Made:
    stack.group()
    given = {"proximityPlacementGroupName": "mpi-2", "proximityPlacementGroupType": "Standard"}
    return stack.make(PLACEMENT, "mpi-2", **given, **HERE), TAGS


def credential(stack: Stack) -> Made:
    stack.group()
    stack.make(IDENTITY, "who", resourceName="who", **HERE)
    made = stack.make(
        CREDENTIAL,
        "jobs",
        resourceName="who",
        federatedIdentityCredentialResourceName="igz-jobs",
        issuer="https://issuer.invalid/",
        subject="system:serviceaccount:vision:igz-jobs",
        audiences=["api://AzureADTokenExchange"],
        **IN_GROUP,
    )
    return made, {"subject": "system:serviceaccount:speech:igz-jobs"}


def cluster(stack: Stack) -> Made:
    profile = {"autoScalerProfile": {"expander": "priority", "scanInterval": "20s"}}
    return stack.cluster(), {**profile, "httpProxyConfig": {"httpProxy": "http://proxy:3128/"}, **TAGS}


def pool(stack: Stack) -> Made:
    stack.cluster()
    return stack.pool("work"), {"maxCount": 5, "nodeTaints": ["a=b:NoSchedule"]}


def maintenance(stack: Stack) -> Made:
    stack.cluster()
    window = {"durationHours": 4, "schedule": {"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 1}}}
    window |= {"startTime": "02:00", "utcOffset": "+00:00"}
    made = stack.make(
        MAINTENANCE, "up", resourceName="dev", configName="aksManagedAutoUpgradeSchedule", maintenanceWindow=window,
        **IN_GROUP,
    )  # fmt: skip
    return made, {"maintenanceWindow": {**window, "durationHours": 6}}


def workspace(stack: Stack) -> Made:
    stack.group()
    given = {"sku": {"name": "PerGB2018"}, "retentionInDays": 30}
    return stack.make(WORKSPACE, "logs", workspaceName="logs", **given, **HERE), {"retentionInDays": 90}


def diagnostics(stack: Stack) -> Made:
    watched = stack.cluster()
    logs = stack.make(WORKSPACE, "logs", workspaceName="logs", sku={"name": "PerGB2018"}, **HERE)
    given = {"logs": [{"category": "kube-audit-admin", "enabled": True}], "workspaceId": logs.id}
    more = {"logs": [*given["logs"], {"category": "guard", "enabled": True}]}
    return stack.make(DIAGNOSTICS, "told", name="told", resourceUri=watched.id, **given), more


def collection(stack: Stack) -> Made:
    logs, _ = workspace(stack)
    streams = ["Microsoft-ContainerLogV2"]
    extension = {"name": "own", "extensionName": "ContainerInsights", "streams": streams}
    given = {
        "dataSources": {"extensions": [{**extension, "extensionSettings": {"interval": "1m", "deep": {"yes": True}}}]},
        "destinations": {"logAnalytics": [{"name": "here", "workspaceResourceId": logs.id}]},
        "dataFlows": [{"streams": streams, "destinations": ["here"]}],
    }
    return stack.make(COLLECTION, "rule", dataCollectionRuleName="rule", **given, **HERE), TAGS


def collected(stack: Stack) -> Made:
    watched = stack.cluster()
    logs = stack.make(WORKSPACE, "logs", workspaceName="logs", sku={"name": "PerGB2018"}, **HERE)
    given = {
        "dataSources": {"extensions": []},
        "destinations": {"logAnalytics": [{"name": "here", "workspaceResourceId": logs.id}]},
        "dataFlows": [],
    }
    rule = stack.make(COLLECTION, "rule", dataCollectionRuleName="rule", **given, **HERE)
    made = stack.make(
        COLLECTED, "told", associationName="ContainerInsightsExtension", resourceUri=watched.id,
        dataCollectionRuleId=rule.id,
    )  # fmt: skip
    return made, {"description": "logs"}


def storage_account(stack: Stack) -> Made:
    subnet = stack.subnet()
    stack.change(subnet, serviceEndpoints=[{"service": "Microsoft.Storage"}])
    admitted = {"virtualNetworkResourceId": subnet.id, "action": "Allow"}
    closed = {"defaultAction": "Deny", "bypass": "None", "virtualNetworkRules": [admitted]}
    given = {"allowSharedKeyAccess": False, "enableHttpsTrafficOnly": True, "networkRuleSet": closed}
    return stack.account(**given), {"allowSharedKeyAccess": True, **TAGS}


def file_service(stack: Stack) -> Made:
    stack.group()
    stack.account()
    kept = {"enabled": True, "days": 14}
    made = stack.make(
        FILE_SERVICE, "corpus", accountName="corpus", fileServicesName="default", shareDeleteRetentionPolicy=kept,
        **IN_GROUP,
    )  # fmt: skip
    return made, {"shareDeleteRetentionPolicy": {"enabled": False}}


def share(stack: Stack) -> Made:
    stack.group()
    stack.account()
    given = {"accountName": "corpus", "shareName": "vision-shared", "enabledProtocols": "NFS", "shareQuota": 100}
    return stack.make(SHARE, "vision-shared", **given, **IN_GROUP), {"shareQuota": 200}


def container(stack: Stack) -> Made:
    stack.group()
    return azure_backups.container(stack), {"metadata": {"team": "ml"}}


def extension(stack: Stack) -> Made:
    stack.cluster()
    made = azure_backups.extension(stack)
    return made, {"configurationSettings": {**made.inputs["configurationSettings"], "resources.limits.cpu": "1"}}


def binding(stack: Stack) -> Made:
    stack.cluster()
    vault = azure_backups.vault(stack)
    made = azure_backups.binding(stack, vault)
    return made, {"roles": [*made.inputs["roles"], *made.inputs["roles"]]}


def vault(stack: Stack) -> Made:
    stack.group()
    return azure_backups.vault(stack), TAGS


def policy(stack: Stack) -> Made:
    stack.group()
    azure_backups.vault(stack)
    return azure_backups.policy(stack), {}


def instance(stack: Stack) -> Made:
    return azure_backups.instance(stack), TAGS


LIVES: dict[str, Callable[[Stack], Made]] = {
    GROUP: group,
    NETWORK: network,
    SUBNET: subnet,
    RULES: rules,
    ADDRESS: address,
    NAT: nat,
    IDENTITY: identity,
    CREDENTIAL: credential,
    ASSIGNMENT: assignment,
    ROLE: role,
    WORKFLOW: workflow,
    CLUSTER: cluster,
    POOL: pool,
    PLACEMENT: placement,
    MAINTENANCE: maintenance,
    WORKSPACE: workspace,
    DIAGNOSTICS: diagnostics,
    COLLECTION: collection,
    COLLECTED: collected,
    STORAGE: storage_account,
    FILE_SERVICE: file_service,
    SHARE: share,
    CONTAINER: container,
    EXTENSION: extension,
    BINDING: binding,
    VAULT: vault,
    POLICY: policy,
    INSTANCE: instance,
}


def test_every_type_of_the_table_has_a_life() -> None:
    assert LIVES.keys() == facts().resources.keys()


@pytest.mark.parametrize("type_", LIVES)
def test_a_resource_is_made_looked_up_changed_imported_and_deleted(stack: Stack, type_: str) -> None:
    made, other = LIVES[type_](stack)
    assert stack.refreshed(made).inputs == made.inputs
    assert stack.refreshed(made).outputs == made.outputs

    changed = stack.change(made, **other) if other else made  # Azure takes no update of a policy of backups
    assert stack.refreshed(changed).inputs == changed.inputs

    imported = stack.provider.read(Existing(type_, "imported", made.id))
    assert imported
    expected = {name: value for name, value in changed.inputs.items() if value not in ([], {})}
    # Of an id in the id the plug-in reads no slash at its begin, whatever the program wrote.
    ids = (name for name in ("scope", "resourceUri") if isinstance(expected.get(name), str))
    expected |= {name: expected[name].strip("/") for name in ids}
    assert {name: imported.inputs.get(name) for name in expected if name != "identity"} == {
        name: _whole(value, imported.inputs.get(name)) for name, value in expected.items() if name != "identity"
    }

    stack.provider.delete(changed)
    left = stack.provider.read(changed)
    assert (left is None) is not facts().resources[type_].singleton
    assert left is None or left.inputs != changed.inputs, "what is not deleted is set back"
    stack.provider.delete(changed)  # what is gone already is fine


def _whole(given: Any, found: Any) -> Any:
    """Return a given value with what Azure added to the objects in it."""
    if isinstance(given, dict) and isinstance(found, dict):
        return {**found, **{name: _whole(value, found.get(name)) for name, value in given.items()}}
    if isinstance(given, list) and isinstance(found, list) and len(given) == len(found):
        return [_whole(*pair) for pair in zip(given, found, strict=True)]
    return given
