import re
from typing import Any

import pytest
from pulumi.runtime.proto.provider_pb2 import PropertyDiff

from workbench.offline.azure.facts import facts
from workbench.offline.azure.provider import LIST_CREDENTIALS, OfflineAzure, naming
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Changed, RefusedError

AZURE = OfflineAzure()
CLUSTER, POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
ADDRESS, NETWORK = "azure-native:network:PublicIPAddress", "azure-native:network:VirtualNetwork"
GROUP = "azure-native:resources:ResourceGroup"


def compare(type_: str, old: dict[str, Any], new: dict[str, Any], *filled: str) -> Changed:
    return AZURE.difference(type_, old, new, filled=frozenset(filled))


def check(type_: str, **inputs: Any) -> list[str]:
    checked = AZURE.check(type_, "main", inputs, seed=b"seed", kept={})
    return [f"{problem.path}: {problem.reason}" for problem in checked.problems]


@pytest.mark.parametrize(
    ("type_", "old", "new", "changed", "replaces"),
    [
        (POOL, {"nodeLabels": {"a/b": "1"}}, {"nodeLabels": {"a/b": "2"}}, ["nodeLabels.a/b"], []),
        (POOL, {"count": 1}, {"count": 2}, ["count"], []),
        (POOL, {"vmSize": "a"}, {"vmSize": "b"}, ["vmSize"], ["vmSize"]),
        (POOL, {"agentPoolName": "a"}, {"agentPoolName": "b"}, ["agentPoolName"], ["agentPoolName"]),
        # AKS refuses both, and the plug-in sends them all the same.
        (POOL, {"availabilityZones": ["1"]}, {"availabilityZones": ["2", "3"]},
         ["availabilityZones[0]", "availabilityZones[1]"], []),
        (POOL, {"osDiskType": "Managed"}, {"osDiskType": "Ephemeral"}, ["osDiskType"], []),
        (CLUSTER, {"networkProfile": {"podCidr": "a"}}, {"networkProfile": {"podCidr": "b"}},
         ["networkProfile.podCidr"], ["networkProfile.podCidr"]),
        (CLUSTER, {"networkProfile": {}}, {"networkProfile": {"podCidr": "b"}}, ["networkProfile.podCidr"],
         ["networkProfile.podCidr"]),
        (CLUSTER, {}, {"networkProfile": {"podCidr": "b"}}, ["networkProfile"], []),
        (CLUSTER, {"networkProfile": {"loadBalancerSku": "a"}}, {"networkProfile": {"loadBalancerSku": "b"}},
         ["networkProfile.loadBalancerSku"], []),
        (CLUSTER, {"agentPoolProfiles": [{"name": "a", "vmSize": "x"}]},
         {"agentPoolProfiles": [{"name": "a", "vmSize": "y"}]}, ["agentPoolProfiles[0].vmSize"], []),
        (CLUSTER, {"linuxProfile": {"ssh": {"publicKeys": [{"keyData": "a"}]}}},
         {"linuxProfile": {"ssh": {"publicKeys": [{"keyData": "b"}]}}},
         ["linuxProfile.ssh.publicKeys[0].keyData"], ["linuxProfile.ssh.publicKeys[0].keyData"]),
        (CLUSTER, {"location": "West Europe"}, {"location": "westeurope"}, [], []),
        (CLUSTER, {"location": "westeurope"}, {"location": "northeurope"}, ["location"], ["location"]),
        (CLUSTER, {"sku": {"name": "Basic", "tier": "Paid"}}, {"sku": {"name": "Base", "tier": "Standard"}}, [], []),
        (CLUSTER, {"sku": {"name": "Base", "tier": "Free"}}, {"sku": {"name": "Base", "tier": "Standard"}},
         ["sku.tier"], []),
        (CLUSTER, {"resourceGroupName": "One"}, {"resourceGroupName": "one"}, [], []),
        (ADDRESS, {"sku": {"name": "Basic"}}, {"sku": {"name": "Standard"}}, ["sku.name"], ["sku.name"]),
        (ADDRESS, {"sku": {"name": "Standard"}}, {"sku": {"name": "Standard", "tier": "Global"}}, ["sku.tier"], []),
        (ASSIGNMENT, {"principalId": "a"}, {"principalId": UNKNOWN}, ["principalId"], ["principalId"]),
        (ASSIGNMENT, {"roleDefinitionId": "a"}, {"roleDefinitionId": "b"}, ["roleDefinitionId"], []),
        (NETWORK, {"tags": {"a": "1"}}, {}, ["tags"], []),
        (NETWORK, {"azureApiVersion": "1"}, {"azureApiVersion": "2"}, ["azureApiVersion"], []),
    ],
)  # fmt: skip
def test_a_change_means_what_the_facts_say(
    type_: str, old: dict[str, Any], new: dict[str, Any], changed: list[str], replaces: list[str]
) -> None:
    found = compare(type_, old, new)
    assert list(found.kinds) == changed
    assert found.replaces == replaces


def test_the_kind_of_a_change_tells_what_was_there() -> None:
    found = compare(POOL, {"maxPods": 30, "nodeTaints": ["a"]}, {"nodeTaints": ["a", "b"], "vmSize": "x"})
    assert found.kinds == {
        "maxPods": PropertyDiff.DELETE,
        "nodeTaints[1]": PropertyDiff.ADD,
        "vmSize": PropertyDiff.ADD_REPLACE,
    }


@pytest.mark.parametrize(
    ("type_", "filled", "first"),
    [
        (CLUSTER, (), True),
        (CLUSTER, ("resourceName",), False),
        (POOL, ("agentPoolName",), True),
        (ASSIGNMENT, ("roleAssignmentName",), False),
        (GROUP, ("location",), True),
    ],
)
def test_the_old_one_goes_first_unless_its_name_is_random(type_: str, filled: tuple[str, ...], first: bool) -> None:
    assert compare(type_, {"location": "a"}, {"location": "b"}, *filled).delete_first is first


@pytest.mark.parametrize(
    ("type_", "how"),
    [
        (CLUSTER, "random"),
        (GROUP, "random"),
        (POOL, "copy"),
        ("azure-native:network:Subnet", "copy"),
        ("azure-native:containerservice:MaintenanceConfiguration", "copy"),
        ("azure-native:monitor:DiagnosticSetting", "random"),
        (ASSIGNMENT, "uuid"),
    ],
)
def test_a_type_is_named_as_the_plug_in_names_it(type_: str, how: str) -> None:
    assert naming(type_) == how


@pytest.mark.parametrize(("type_", "name"), [(POOL, r"main"), (IDENTITY, r"main[0-9a-f]{8}")])
def test_a_name_that_is_not_given_is_filled_in_and_kept(type_: str, name: str) -> None:
    given: dict[str, Any] = {"resourceGroupName": "g", "resourceName": "c", "location": "l"}
    given = {key: value for key, value in given.items() if key != "resourceName" or type_ == POOL}
    own = "agentPoolName" if type_ == POOL else "resourceName"
    first = AZURE.check(type_, "main", given, seed=b"a", kept={}).filled
    assert re.fullmatch(name, first[own])
    assert AZURE.check(type_, "main", given, seed=b"b", kept=first).filled == first


def test_the_version_of_the_api_is_noted_in_every_resource() -> None:
    for type_, known in facts().resources.items():
        assert AZURE.check(type_, "main", {}, seed=b"", kept={}).added == {"azureApiVersion": known.api_version}


@pytest.mark.parametrize(
    ("config", "inputs", "location"),
    [
        ({}, {"resourceGroupName": UNKNOWN}, UNKNOWN),
        ({"location": "westeurope"}, {"resourceGroupName": UNKNOWN}, "westeurope"),
        ({"location": "westeurope"}, {"resourceGroupName": "g", "location": "northeurope"}, None),
    ],
)
def test_a_location_that_is_not_given_is_the_providers_or_the_groups(
    config: dict[str, Any], inputs: dict[str, Any], location: Any
) -> None:
    azure = OfflineAzure()
    azure.configure(config)
    assert azure.check(IDENTITY, "main", inputs, seed=b"", kept={}).filled.get("location") == location


def test_a_location_that_nobody_knows_is_missing() -> None:
    assert f"location: required by {GROUP}, but not given" in check(GROUP)


def test_inputs_that_do_not_exist_or_are_missing_are_told_with_those_that_are_wrong() -> None:
    found = check(
        POOL,
        resourceName="c",
        agentPoolName="Too-Long-A-Name",
        mode="Sytem",
        count=1.5,
        enableAutoScaling="yes",
        nodeTaints="a=b:NoSchedule",
        upgradeSettings={"surge": "1"},
        nodeLabels={"a": "b"},
    )
    assert [line.partition(":")[0] for line in found] == [
        "agentPoolName",
        "count",
        "enableAutoScaling",
        "mode",
        "nodeTaints",
        "resourceGroupName",
        "upgradeSettings.surge",
    ]
    assert "mode: must be one of System, User, Gateway, given 'Sytem' (2025-09-01 of Azure's API)" in found


def test_an_unknown_type_is_told_with_the_table_to_extend() -> None:
    (problem,) = check("azure-native:cache:Redis")
    assert problem.endswith("add it to tools/facts/azure.yaml")


def test_a_preview_knows_what_the_program_says_and_nothing_that_it_leaves_to_azure() -> None:
    given = {"resourceGroupName": "g", "resourceName": "c", "oidcIssuerProfile": {"enabled": True}, "dnsPrefix": "x"}
    foreseen = AZURE.foreseen(CLUSTER, given, {})
    assert foreseen == {"oidcIssuerProfile": {"enabled": True, "issuerURL": UNKNOWN}, "dnsPrefix": "x"}


def test_an_update_makes_outputs_unknown_but_name_and_location() -> None:
    outputs = {"name": "n", "location": "l", "principalId": "p", "clientId": "c"}
    foreseen = AZURE.foreseen(IDENTITY, {"resourceName": "n", "location": "l", "tags": {"a": "1"}}, outputs)
    assert foreseen == {"name": "n", "location": "l", "tags": {"a": "1"}}


def test_a_call_for_credentials_needs_a_cloud() -> None:
    with pytest.raises(RefusedError, match="only plans and cannot call azure-native:containerservice:list"):
        AZURE.invoke(LIST_CREDENTIALS, {})
