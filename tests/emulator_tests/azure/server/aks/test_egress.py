"""How traffic leaves a cluster, and clusters that none leaves."""

from typing import Any

import pytest

from support.aks_account import IDENTITY_OPERATOR, LOCATION, NETWORK_CONTRIBUTOR, Account, parametrized, unique

ACR_PULL = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
REGISTRY = "Microsoft.ContainerRegistry/registries"

NETWORK = {
    "networkPlugin": "azure",
    "networkPluginMode": "overlay",
    "podCidr": "10.244.0.0/16",
    "serviceCidr": "10.100.0.0/16",
    "dnsServiceIP": "10.100.0.10",
}
PRIVATE = {"enablePrivateCluster": True, "privateDNSZone": "none"}
ISOLATED = {
    "apiServerAccessProfile": PRIVATE,
    "bootstrapProfile": {"artifactSource": "Cache"},
    "networkProfile": {**NETWORK, "outboundType": "none"},
}


def own_subnet(home: Account, **properties: Any) -> str:
    """Make a network with one subnet, which a cluster may join, and return the id of that."""
    network = home.network("virtualNetworks")
    home.put(network, {"location": LOCATION, "properties": {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}})
    subnet = f"{network}/subnets/nodes"
    home.put(subnet, {"properties": {"addressPrefix": "10.1.0.0/20", **properties}})
    home.grant(home.identity, NETWORK_CONTRIBUTOR, subnet)
    return subnet


def table(home: Account, *hops: str) -> str:
    """Make a route table with default routes that lead to these."""
    id_ = home.network("routeTables")
    routes = [
        {"name": f"out{number}", "properties": {"addressPrefix": "0.0.0.0/0", "nextHopType": hop}}
        for number, hop in enumerate(hops)
    ]
    return str(home.put(id_, {"location": LOCATION, "properties": {"routes": routes}}).body["id"])


def routed(home: Account, subnet: str) -> dict[str, Any]:
    """Return a cluster in a subnet whose own routes lead out."""
    pools = [home.system_pool(vnetSubnetID=subnet)]
    return home.cluster_body(agentPoolProfiles=pools, networkProfile={**NETWORK, "outboundType": "userDefinedRouting"})


def test_a_cluster_takes_what_it_starts_from_at_its_source_if_nothing_is_said(home: Account) -> None:
    found = home.properties(home.cluster())
    assert found["bootstrapProfile"] == {"artifactSource": "Direct"}
    assert found["networkProfile"]["outboundType"] == "loadBalancer"


def test_an_isolated_cluster_has_a_registry_of_azures_that_goes_with_it(own: Account) -> None:
    cluster = own.cluster(**ISOLATED)
    found = own.properties(cluster)
    assert found["networkProfile"]["outboundType"] == "none"
    registry = found["bootstrapProfile"]["containerRegistryId"]
    assert found["nodeResourceGroup"] in registry
    assert registry in own.az.inventory()[REGISTRY]
    own.put(cluster, own.cluster_body(**ISOLATED, nodeResourceGroup=found["nodeResourceGroup"]))
    assert own.properties(cluster)["bootstrapProfile"] == found["bootstrapProfile"]
    own.delete(cluster)
    assert registry not in own.az.inventory().get(REGISTRY, [])


@parametrized(
    ({"bootstrapProfile": None}, "InvalidNetworkIsolatedClusterConfiguration", "artifactSource must be 'Cache'"),
    (
        {"bootstrapProfile": {"artifactSource": "Direct"}},
        "InvalidNetworkIsolatedClusterConfiguration",
        "artifactSource must be 'Cache'",
    ),
    ({"apiServerAccessProfile": None}, "InvalidNetworkIsolatedClusterConfiguration", "must be private"),
    (
        {"networkProfile": {"networkPlugin": "kubenet", "outboundType": "none"}},
        "InvalidNetworkIsolatedClusterConfiguration",
        "kubenet",
    ),
    (
        {"autoUpgradeProfile": {"nodeOSUpgradeChannel": "Unmanaged"}},
        "InvalidNetworkIsolatedClusterConfiguration",
        "Unmanaged",
    ),
    (
        {"autoUpgradeProfile": {"nodeOSUpgradeChannel": "SecurityPatch"}},
        "InvalidNetworkIsolatedClusterConfiguration",
        "SecurityPatch",
    ),
    ({"networkProfile": {"outboundType": "block"}}, "InvalidRequestContent", "must be one of loadBalancer"),
    (
        {"bootstrapProfile": {"artifactSource": "Cache", "containerRegistryId": "/subscriptions/s/registry"}},
        "InvalidParameter",
        "is no id of a container registry",
    ),
    (
        {"servicePrincipalProfile": {"clientId": "0b1f6471-1bf0-4dda-aec3-cb9272f09590"}},
        "BootstrapArtifactSourceNotAllowed",
        "ServicePrincipalCluster",
    ),
)
def test_what_no_isolated_cluster_has_is_refused(home: Account, changes: dict[str, Any], code: str, words: str) -> None:
    told = home.refused("PUT", home.cluster_id(), home.cluster_body(**{**ISOLATED, **changes}))
    assert (told.status, told.code) == (400, code)
    assert words in told.message


@pytest.mark.parametrize(
    "changes",
    [
        {"apiServerAccessProfile": {"enableVnetIntegration": True}},
        {"autoUpgradeProfile": {"nodeOSUpgradeChannel": "None"}},
    ],
    ids=["its API server in the network", "no upgrades of nodes"],
)
def test_what_an_isolated_cluster_may_have_is_taken(home: Account, changes: dict[str, Any]) -> None:
    assert home.properties(home.cluster(**{**ISOLATED, **changes}))["provisioningState"] == "Succeeded"


def test_a_registry_of_ones_own_must_let_the_nodes_in(home: Account) -> None:
    registry = f"{home.group}/providers/{REGISTRY}/{unique('images')}"
    owned = {"bootstrapProfile": {"artifactSource": "Cache", "containerRegistryId": registry}}
    told = home.refused("PUT", home.cluster_id(), home.cluster_body(**{**ISOLATED, **owned}))
    assert "needs a kubelet identity" in told.message
    kubelet = home.new_identity()
    home.grant(home.identity, IDENTITY_OPERATOR, kubelet)
    body = home.cluster_body(**{**ISOLATED, **owned}, identityProfile={"kubeletidentity": {"resourceId": kubelet}})
    told = home.refused("PUT", home.cluster_id(), body)
    assert "must have the role AcrPull" in told.message
    home.grant(kubelet, ACR_PULL, registry)
    found = home.put(home.cluster_id(), body).body["properties"]
    assert found["bootstrapProfile"] == owned["bootstrapProfile"]


def test_a_registry_is_of_clusters_that_start_from_one(home: Account) -> None:
    unused = {"containerRegistryId": f"{home.group}/providers/{REGISTRY}/images"}
    told = home.refused("PUT", home.cluster_id(), home.cluster_body(bootstrapProfile=unused))
    assert (told.code, "artifactSource Cache" in told.message) == ("InvalidParameter", True)


def test_a_cluster_is_isolated_in_two_steps_and_connected_in_one(home: Account) -> None:
    cluster = home.cluster(apiServerAccessProfile=PRIVATE)
    kept = {"nodeResourceGroup": home.properties(cluster)["nodeResourceGroup"]}
    told = home.refused("PUT", cluster, home.cluster_body(**ISOLATED, **kept))
    assert (told.code, "reimaged" in told.message) == ("InvalidNetworkIsolatedClusterConfiguration", True)
    cached = {name: ISOLATED[name] for name in ("apiServerAccessProfile", "bootstrapProfile")}
    home.put(cluster, home.cluster_body(**cached, **kept))
    home.put(cluster, home.cluster_body(**ISOLATED, **kept))
    assert home.properties(cluster)["networkProfile"]["outboundType"] == "none"
    told = home.refused(
        "PUT", cluster, home.cluster_body(**{**ISOLATED, "bootstrapProfile": {"artifactSource": "Direct"}}, **kept)
    )
    assert told.code == "InvalidNetworkIsolatedClusterConfiguration"
    direct = {"bootstrapProfile": {"artifactSource": "Direct"}, "networkProfile": {"outboundType": "loadBalancer"}}
    home.put(cluster, home.cluster_body(**{**ISOLATED, **direct}, **kept))
    assert home.properties(cluster)["bootstrapProfile"] == {"artifactSource": "Direct"}


def test_no_pool_of_an_isolated_cluster_runs_windows(home: Account) -> None:
    cluster = home.cluster(**ISOLATED)
    told = home.refused("PUT", f"{cluster}/agentPools/win", home.pool_body(osType="Windows"))
    assert (told.code, "Windows" in told.message) == ("InvalidNetworkIsolatedClusterConfiguration", True)


def test_extensions_that_need_a_way_out_are_refused_without_one(home: Account) -> None:
    backup = {"extensionType": "Microsoft.DataProtection.Kubernetes", "scope": {"cluster": {"releaseNamespace": "a"}}}
    where = "providers/Microsoft.KubernetesConfiguration/extensions/backup"
    told = home.refused("PUT", f"{home.cluster(**ISOLATED)}/{where}", {"properties": backup})
    assert (told.code, "not supported" in told.message) == ("InvalidNetworkIsolatedClusterConfiguration", True)
    home.put(f"{home.cluster()}/{where}", {"properties": backup})


def test_routes_of_ones_own_must_lead_out(home: Account) -> None:
    bare = own_subnet(home)
    told = home.refused("PUT", home.cluster_id(), routed(home, bare))
    assert (told.status, told.code) == (400, "ExistingRouteTableNotAssociatedWithSubnet")
    for hops, code in (((), "RouteTableMissingDefaultRouteError"), (("Internet",), "RouteTableInvalidNextHop")):
        subnet = own_subnet(home, routeTable={"id": table(home, *hops)})
        told = home.refused("PUT", home.cluster_id(), routed(home, subnet))
        assert (told.status, told.code) == (400, code)
    subnet = own_subnet(home, routeTable={"id": table(home, "VirtualAppliance")})
    cluster = home.put(home.cluster_id(), routed(home, subnet)).body["id"]
    assert home.properties(cluster)["networkProfile"]["outboundType"] == "userDefinedRouting"


def test_a_route_table_in_use_stays(home: Account) -> None:
    routes = table(home, "VirtualAppliance")
    subnet = own_subnet(home, routeTable={"id": routes})
    assert home.properties(routes)["subnets"] == [{"id": subnet}]
    told = home.refused("DELETE", routes)
    assert told.code == "InUseRouteTableCannotBeDeleted"
    home.put(routes, {"location": LOCATION, "properties": {"routes": []}})
    home.delete(subnet)
    home.delete(routes)


def test_a_subnet_without_default_access_outwards_is_read_back_and_changes(home: Account) -> None:
    subnet = own_subnet(home, defaultOutboundAccess=False)
    assert home.properties(subnet)["defaultOutboundAccess"] is False
    pools = [home.system_pool(vnetSubnetID=subnet)]
    home.cluster(**ISOLATED, agentPoolProfiles=pools)
    home.put(subnet, {"properties": {"addressPrefix": "10.1.0.0/20", "defaultOutboundAccess": True}})
    assert home.properties(subnet)["defaultOutboundAccess"] is True
