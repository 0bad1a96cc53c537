from typing import Any

import pytest

from tools.facts import azure
from tools.facts.azure import UPSTREAM, Upstream, generate, main, rows
from workbench.offline.azure import facts
from workbench.system.errors import UserError


def test_the_checked_in_facts_are_what_the_installed_sdk_and_the_table_give() -> None:
    assert azure.TARGET.read_text() == generate()


@pytest.mark.parametrize(
    ("resource", "row"),
    [
        ("containerservice.AgentPool", ("agentPoolName", "string", False, "replace", "{agentPoolName}", "")),
        ("containerservice.AgentPool", ("vmSize", "string", False, "replace", "properties.vmSize", "")),
        ("containerservice.AgentPool", ("type", "string", False, "update", "properties.type", "AgentPoolType")),
        ("containerservice.AgentPool", ("availabilityZones", "list", False, "update",
         "properties.availabilityZones", "")),
        ("containerservice.ManagedCluster", ("location", "string", True, "replace", "location", "")),
        ("containerservice.ManagedCluster", ("networkProfile.podCidr", "string", False, "replace", "podCidr", "")),
        ("containerservice.ManagedCluster", ("networkProfile.loadBalancerSku", "string", False, "update",
         "loadBalancerSku", "LoadBalancerSku")),
        ("containerservice.ManagedCluster", ("autoScalerProfile.scanInterval", "string", False, "update",
         "scan-interval", "")),
        ("containerservice.ManagedCluster", ("identity.userAssignedIdentities", "keys", False, "update",
         "userAssignedIdentities", "")),
        ("containerservice.ManagedCluster", ("addonProfiles{}.enabled", "boolean", True, "update", "enabled", "")),
        ("network.Subnet", ("addressPrefix", "string", False, "update", "properties.addressPrefix", "")),
        ("network.Subnet", ("delegations[].serviceName", "string", False, "update", "properties.serviceName", "")),
        ("network.PublicIPAddress", ("sku", "object", False, "replace", "sku", "")),
        ("authorization.RoleAssignment", ("scope", "string", True, "replace", "{scope}", "")),
        ("authorization.RoleAssignment", ("principalType", "string", False, "update", "properties.principalType",
         "PrincipalType")),
        ("operationalinsights.Workspace", ("sku", "object", False, "update", "properties.sku", "")),
    ],
)  # fmt: skip
def test_a_fact_is_read(resource: str, row: tuple[Any, ...]) -> None:
    assert row in rows(resource)


def test_what_is_inside_a_whole_other_resource_is_not_described() -> None:
    assert [row.kind for row in rows("network.VirtualNetwork") if row.path.startswith("subnets")] == ["resource"]


def test_the_table_may_not_name_an_input_that_the_sdk_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Upstream("/x/{name}", "a.json", ("cidr",), ("place",), forms={"nick": "a"})
    monkeypatch.setattr(azure, "UPSTREAM", {"network.VirtualNetwork": wrong})
    with pytest.raises(UserError, match=r"network\.VirtualNetwork does not have: cidr, nick, place"):
        rows("network.VirtualNetwork")


def test_every_part_of_an_id_but_the_subscription_is_an_input() -> None:
    for resource, known in UPSTREAM.items():
        named = {f"{{{row.path}}}" for row in rows(resource) if row.place.startswith("{")}
        assert known.id.replace("{subscriptionId}", "").count("{") == len(named), resource
        assert all(name in known.id for name in named)


def test_every_type_has_a_version_an_id_and_a_source() -> None:
    assert len(facts.facts().resources) == len(UPSTREAM)
    for known in facts.facts().resources.values():
        assert all((known.api_version, known.id, known.source, known.outputs))


def test_the_description_that_was_read_is_of_the_version_that_is_used() -> None:
    for known in facts.facts().resources.values():
        assert f"/{known.api_version}/" in known.source


@pytest.mark.parametrize(
    ("type_", "path"),
    [
        ("azure-native:containerservice:ManagedCluster", "oidcIssuerProfile.issuerURL"),
        ("azure-native:containerservice:ManagedCluster", "fqdn"),
        ("azure-native:managedidentity:UserAssignedIdentity", "principalId"),
    ],
)
def test_what_only_azure_says_is_listed(type_: str, path: str) -> None:
    assert path in facts.resource(type_).outputs
    assert path not in facts.resource(type_).inputs


def test_a_stale_file_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stale = azure.TARGET.with_name("facts.json.stale")
    monkeypatch.setattr(azure, "TARGET", stale)
    monkeypatch.setattr(azure, "generate", lambda: "new")
    try:
        stale.write_text("old")
        assert main(["--check"]) == 1
        assert main(["--write"]) == 0
        assert main(["--check"]) == 0
    finally:
        stale.unlink()
