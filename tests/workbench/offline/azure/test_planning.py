from typing import Any

import pytest
from pulumi.runtime.proto.provider_pb2 import PropertyDiff

from workbench.offline.azure.facts import resource
from workbench.offline.azure.noop import NoopAzure
from workbench.offline.azure.provider import OfflineAzure
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Changed, CloudError

CLUSTER, POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
ADDRESS, NETWORK = "azure-native:network:PublicIPAddress", "azure-native:network:VirtualNetwork"
NAT, SUBNET = "azure-native:network:NatGateway", "azure-native:network:Subnet"
GROUP = "azure-native:network:NetworkSecurityGroup"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"


def compare(type_: str, old: dict[str, Any], new: dict[str, Any]) -> Changed:
    return OfflineAzure().compare(type_, old, new, filled=frozenset())


@pytest.mark.parametrize(
    ("type_", "old", "new", "path"),
    [
        (POOL, {"vnetSubnetID": "a"}, {"vnetSubnetID": "b"}, "vnetSubnetID"),
        (POOL, {"availabilityZones": ["1"]}, {"availabilityZones": ["2"]}, "availabilityZones[0]"),
        (POOL, {"availabilityZones": ["1", "2"]}, {"availabilityZones": ["1"]}, "availabilityZones[1]"),
        (POOL, {}, {"maxPods": 30}, "maxPods"),
        (POOL, {"kubeletConfig": {"podMaxPids": 1}}, {"kubeletConfig": {"podMaxPids": 2}}, "kubeletConfig.podMaxPids"),
        (ADDRESS, {"zones": ["1", "2"]}, {"zones": ["1", "2", "3"]}, "zones[2]"),
        (ADDRESS, {"zones": ["1", "2"]}, {}, "zones"),
        (ADDRESS, {"dnsSettings": {"domainNameLabel": "a", "fqdn": "b"}}, {"dnsSettings": {"fqdn": "b"}},
         "dnsSettings.domainNameLabel"),
        (NAT, {"zones": ["1"]}, {"zones": ["2"]}, "zones[0]"),
        (CLUSTER, {"oidcIssuerProfile": {"enabled": True}}, {"oidcIssuerProfile": {"enabled": False}},
         "oidcIssuerProfile.enabled"),
    ],
)  # fmt: skip
def test_a_change_that_azure_refuses_is_an_error_of_the_plan(
    type_: str, old: dict[str, Any], new: dict[str, Any], path: str
) -> None:
    with pytest.raises(CloudError) as refused:
        compare(type_, old, new)
    assert f"{path}: " in str(refused.value)


def test_the_error_names_every_refused_input_with_its_source_and_what_to_do() -> None:
    old, new = {"maxPods": 30, "osDiskType": "Managed"}, {"maxPods": 50, "osDiskType": "Ephemeral"}
    description = f"specification/{resource(POOL).source}"
    with pytest.raises(CloudError) as refused:
        compare(POOL, old, new)
    assert str(refused.value).splitlines() == [
        f"Azure does not change this {POOL} in place:",
        "  maxPods: fixed when it is made (MicrosoftDocs/azure-aks-docs articles/aks/create-node-pools.md, 2026)",
        f"  osDiskType: fixed when it is made (Azure/azure-rest-api-specs {description}, 2025)",
        "Undo the change, or give the resource another name, so that another one is made.",
    ]


@pytest.mark.parametrize(
    ("type_", "old", "new"),
    [
        # A replacement makes another one, with any value.
        (POOL, {"vmSize": "a", "maxPods": 30}, {"vmSize": "b", "maxPods": 50}),
        # A value that is not known yet may be the same.
        (POOL, {"vnetSubnetID": "a"}, {"vnetSubnetID": UNKNOWN}),
        (CLUSTER, {"oidcIssuerProfile": {"enabled": False}}, {"oidcIssuerProfile": {"enabled": True}}),
        # The list is kept as a whole; what a given rule leaves out is not.
        (GROUP, {"securityRules": [{"name": "a", "description": "b"}]}, {"securityRules": [{"name": "a"}]}),
        # Only assumed.
        (ASSIGNMENT, {"roleDefinitionId": "a"}, {"roleDefinitionId": "b"}),
        (POOL, {"nodeLabels": {"a": "1"}}, {}),
        (POOL, {"upgradeSettings": {"maxSurge": "1"}}, {}),
        (CLUSTER, {"addonProfiles": {"a": {"config": {"b": "c"}}}}, {"addonProfiles": {"a": {}}}),
        (SUBNET, {"natGateway": {"id": "a"}}, {}),
        (ADDRESS, {"dnsSettings": {"domainNameLabel": "a"}}, {}),
    ],
)
def test_what_azure_may_do_stays_a_change(type_: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    planned = compare(type_, old, new)
    assert planned == OfflineAzure().difference(type_, old, new, filled=frozenset())
    assert planned.kinds
    assert planned.warnings == ()


@pytest.mark.parametrize(
    ("type_", "old", "new", "path", "how"),
    [
        (CLUSTER, {"addonProfiles": {"omsagent": {"enabled": True}}}, {"addonProfiles": {}}, "addonProfiles.omsagent",
         "To change it, set the add-on with enabled false."),
        (CLUSTER, {"apiServerAccessProfile": {"authorizedIPRanges": ["a"]}}, {"apiServerAccessProfile": {}},
         "apiServerAccessProfile.authorizedIPRanges", "To change it, set an empty list."),
        (POOL, {"upgradeSettings": {"drainTimeoutInMinutes": 5}}, {"upgradeSettings": {}},
         "upgradeSettings.drainTimeoutInMinutes",
         "It cannot be cleared, only changed; another resource has none."),
        (NETWORK, {"subnets": [{"id": "a"}]}, {}, "subnets", "To change it, set an empty list."),
    ],
)  # fmt: skip
def test_an_input_that_azure_keeps_is_no_change_and_a_warning_says_so(
    type_: str, old: dict[str, Any], new: dict[str, Any], path: str, how: str
) -> None:
    planned = compare(type_, old, new)
    assert planned.kinds == {}
    [warning] = planned.warnings
    assert warning.startswith(f"{path} is no longer set, but Azure keeps its value (")
    assert warning.endswith(how)


def test_other_changes_of_the_same_resource_stay() -> None:
    planned = compare(POOL, {"upgradeSettings": {"maxSurge": "1"}, "count": 1}, {"upgradeSettings": {}, "count": 2})
    assert planned.kinds == {"count": PropertyDiff.UPDATE}
    assert len(planned.warnings) == 1


def test_a_pretended_stack_is_planned_alike() -> None:
    with pytest.raises(CloudError, match="vnetSubnetID"):
        NoopAzure().compare(POOL, {"vnetSubnetID": "a"}, {"vnetSubnetID": "b"}, filled=frozenset())
