import base64
from typing import Any

import pytest
import yaml

from emulators.core.faults import FailedRule, Issue, NotYetVisibleRule, StuckRule
from support.aks_account import (
    CRYPTO_USER,
    IDENTITY_OPERATOR,
    LOCATION,
    PRIVATE_DNS,
    SPOT,
    Account,
    parametrized,
    unique,
)
from support.minors import CHOSEN, EARLIER, NEWEST, OLDER, after

WRITE = "Microsoft.ContainerService/managedClusters/write"
KEY = "https://vault.vault.azure.net/keys/secrets/0123456789abcdef0123456789abcdef"


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster()


def update(home: Account, mine: str, **changes: Any) -> dict[str, Any]:
    """Return the whole object of a cluster, with changes of its properties."""
    kept = {"nodeResourceGroup": home.properties(mine)["nodeResourceGroup"]}
    return home.cluster_body(**{**kept, **changes})


def test_a_cluster_is_creating_and_then_there_with_its_pool(home: Account) -> None:
    told = home.put(home.cluster_id(), home.cluster_body())
    properties = told.body["properties"]
    assert (told.status, properties["provisioningState"]) == (201, "Creating")
    assert [(pool["name"], pool["provisioningState"]) for pool in properties["agentPoolProfiles"]] == [
        ("initial", "Creating")
    ]
    assert home.operation(told)["status"] == "Succeeded"
    found = home.properties(told.body["id"])
    assert (found["provisioningState"], found["powerState"]["code"]) == ("Succeeded", "Running")
    assert (found["kubernetesVersion"], found["currentKubernetesVersion"]) == (
        EARLIER,
        f"{EARLIER}.8",
    )
    assert found["fqdn"].endswith(f".hcp.{LOCATION}.azmk8s.io")
    assert home.state(f"{told.body['id']}/agentPools/initial") == "Succeeded"


def test_everything_that_was_sent_is_read_back(home: Account) -> None:
    home.grant(home.identity, CRYPTO_USER, home.vault())
    disks = f"{home.group}/providers/Microsoft.Compute/diskEncryptionSets/{unique('disks')}"
    keyed = {"activeKey": {"keyUrl": KEY}}
    home.put(disks, {"location": LOCATION, "identity": {"type": "SystemAssigned"}, "properties": keyed})
    sent = {
        "apiServerAccessProfile": {"authorizedIPRanges": ["203.0.113.0/24"], "disableRunCommand": True},
        "autoUpgradeProfile": {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "NodeImage"},
        "autoScalerProfile": {"expander": "least-waste", "scan-interval": "10s"},
        "diskEncryptionSetID": disks,
        "oidcIssuerProfile": {"enabled": True},
        "securityProfile": {
            "azureKeyVaultKms": {"enabled": True, "keyId": KEY, "keyVaultNetworkAccess": "Public"},
            "workloadIdentity": {"enabled": True},
        },
        "storageProfile": {"diskCSIDriver": {"enabled": True}},
    }
    found = home.properties(home.cluster(**sent))
    assert found["oidcIssuerProfile"].pop("issuerURL").startswith("https://oidc.prod-aks.azure.com/")
    assert {name: found[name] for name in sent} == sent


@parametrized(
    ({"dnsPrefix": None}, "InvalidParameter", "needs dnsPrefix"),
    ({"kubernetesVersion": "1.19"}, "K8sVersionNotSupported", f"{NEWEST}.8"),
    ({"kubernetesVersion": f"{EARLIER}.99"}, "K8sVersionNotSupported", f"{EARLIER}.8"),
    ({"kubernetesVersion": "new"}, "InvalidParameter", "no version"),
    ({"agentPoolProfiles": []}, "InvalidParameter", "at least one system pool"),
    ({"diskEncryptionSetID": "/subscriptions/s/gone"}, "InvalidParameter", "gone was not found"),
    (
        {"securityProfile": {"azureKeyVaultKms": {"enabled": True, "keyId": "key"}}},
        "InvalidParameter",
        "'key' is no id of a key",
    ),
    (
        {"apiServerAccessProfile": {"enablePrivateCluster": True, "authorizedIPRanges": ["203.0.113.1"]}},
        "InvalidParameter",
        "for a private cluster",
    ),
    ({"apiServerAccessProfile": {"authorizedIPRanges": ["home"]}}, "InvalidParameter", "home is no range"),
    ({"networkProfile": {"dnsServiceIP": "10.9.9.9"}}, "InvalidParameter", "must be in 10.0.0.0/16"),
    ({"networkProfile": {"dnsServiceIP": "10.0.0.1"}}, "InvalidParameter", "not its first address"),
    ({"networkProfile": {"podCidr": "10.0.128.0/17"}}, "InvalidParameter", "overlaps with the service CIDR"),
    ({"networkProfile": {"podCidr": "10.1.0.0/17"}}, "InvalidParameter", "conflicted with subnet CIDR"),
    (
        {"networkProfile": {"serviceCidr": "10.1.0.0/22", "dnsServiceIP": "10.1.0.10"}},
        "ServiceCidrOverlapExistingSubnetsCidr",
        "10.1.0.0/20",
    ),
    ({"networkProfile": {"outboundType": "userAssignedNATGateway"}}, "InvalidParameter", "has no NAT gateway"),
    ({"networkProfile": {"networkPlugin": "flannel"}}, "InvalidRequestContent", "must be one of azure, kubenet, none"),
    ({"kubernetesversion": "1.33"}, "InvalidRequestContent", "properties.kubernetesversion: Managed"),
    ({"enableRBAC": "yes"}, "InvalidRequestContent", "properties.enableRBAC must be true or false, given 'yes'"),
    ({"agentPoolProfiles": {}}, "InvalidRequestContent", "properties.agentPoolProfiles must be a list"),
)
def test_what_does_not_go_together_is_refused(home: Account, changes: dict[str, Any], code: str, words: str) -> None:
    told = home.refused("PUT", home.cluster_id(), home.cluster_body(**changes))
    assert (told.status, told.code) == (400, code)
    assert words in told.message


@parametrized(
    ({"mode": "User"}, "InvalidParameter", "at least one system pool"),
    ({"mode": None}, "InvalidParameter", "at least one system pool"),
    ({"vnetSubnetID": "/subscriptions/s/gone"}, "InvalidParameter", "gone was not found"),
    (SPOT, "InvalidParameter", "cannot be of priority Spot"),
    ({"name": "Initial"}, "InvalidParameter", "at most 12"),
)
def test_an_inline_pool_is_judged_as_any_other(home: Account, changes: dict[str, Any], code: str, words: str) -> None:
    body = home.cluster_body(agentPoolProfiles=[home.system_pool(**changes)])
    told = home.refused("PUT", home.cluster_id(), body)
    assert (told.code, words in told.message) == (code, True), told


def test_a_cluster_stays_where_it_is(home: Account, mine: str) -> None:
    told = home.refused("PUT", mine, {**update(home, mine), "location": "northeurope"})
    assert (told.status, told.code) == (409, "InvalidResourceLocation")


def test_pools_come_and_go_on_their_own_not_with_their_cluster(home: Account, mine: str) -> None:
    home.put(f"{mine}/agentPools/gpu", home.pool_body())
    new = home.system_pool(name="second", mode="User")
    told = home.refused("PUT", mine, update(home, mine, agentPoolProfiles=[home.system_pool(), new]))
    assert (told.code, "A new agent pool was introduced" in told.message) == ("BadRequest", True)
    home.put(mine, update(home, mine))
    assert [pool["name"] for pool in home.properties(mine)["agentPoolProfiles"]] == ["initial", "gpu"]


def test_an_inline_pool_does_not_change_what_it_is_made_with(home: Account, mine: str) -> None:
    larger = home.system_pool(vmSize="Standard_D8s_v5")
    told = home.refused("PUT", mine, update(home, mine, agentPoolProfiles=[larger]))
    assert told.message == "Changing property 'properties.vmSize' is not allowed."
    home.put(mine, update(home, mine, agentPoolProfiles=[home.system_pool(count=3)]))
    assert home.properties(f"{mine}/agentPools/initial")["count"] == 3


def test_a_change_of_the_cluster_sets_all_its_pools_to_work(home: Account, mine: str) -> None:
    home.put(f"{mine}/agentPools/gpu", home.pool_body())
    home.az.set_faults(StuckRule(operation=WRITE))
    home.put(mine, {**update(home, mine), "tags": {"a": "b"}})
    assert {pool["provisioningState"] for pool in home.properties(mine)["agentPoolProfiles"]} == {"Updating"}


def test_a_control_plane_goes_up_one_minor_version_at_a_time(home: Account) -> None:
    mine = home.cluster(kubernetesVersion=f"{after(EARLIER, -1)}.5")
    assert home.refused("PUT", mine, update(home, mine, kubernetesVersion=OLDER)).code == "OperationNotAllowed"
    told = home.put(mine, update(home, mine, kubernetesVersion=EARLIER))
    assert told.body["properties"]["provisioningState"] == "Upgrading"
    assert home.properties(mine)["currentKubernetesVersion"] == f"{EARLIER}.8"
    assert home.properties(f"{mine}/agentPools/initial")["currentOrchestratorVersion"] == f"{after(EARLIER, -1)}.5"
    down = home.refused("PUT", mine, update(home, mine, kubernetesVersion=after(EARLIER, -1)))
    assert "Downgrading" in down.message


def test_a_minor_version_alone_keeps_the_patch_that_runs(home: Account) -> None:
    mine = home.cluster(kubernetesVersion=f"{EARLIER}.2")
    home.put(mine, update(home, mine, kubernetesVersion=EARLIER))
    assert home.properties(mine)["currentKubernetesVersion"] == f"{EARLIER}.2"


def test_a_control_plane_waits_for_pools_that_are_too_old(home: Account) -> None:
    mine = home.cluster(kubernetesVersion=OLDER)
    home.pool(mine, orchestratorVersion=after(EARLIER, -2))
    told = home.refused("PUT", mine, update(home, mine, kubernetesVersion=CHOSEN))
    assert told.code == "NodePoolMcVersionIncompatible"


def test_spot_pools_keep_control_plane_and_pools_from_going_together(home: Account, mine: str) -> None:
    both = {"kubernetesVersion": OLDER, "agentPoolProfiles": [home.system_pool(orchestratorVersion=OLDER)]}
    home.pool(mine, **SPOT)
    told = home.refused("PUT", mine, update(home, mine, **both))
    assert (told.code, "spot node pools" in told.message) == ("OperationNotAllowed", True)
    plain = home.cluster()
    home.put(plain, update(home, plain, **both))
    assert home.properties(f"{plain}/agentPools/initial")["currentOrchestratorVersion"] == f"{OLDER}.8"


def test_inline_pools_go_to_the_version_of_the_control_plane_or_stay(home: Account) -> None:
    mine = home.cluster(
        kubernetesVersion=OLDER, agentPoolProfiles=[home.system_pool(orchestratorVersion=after(EARLIER, -1))]
    )
    between = [home.system_pool(orchestratorVersion=EARLIER)]
    told = home.refused("PUT", mine, update(home, mine, kubernetesVersion=OLDER, agentPoolProfiles=between))
    assert told.code == "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged"


def test_an_identity_without_rights_on_the_subnet_is_refused(home: Account) -> None:
    body = home.cluster_body()
    stranger = home.new_identity()
    body["identity"]["userAssignedIdentities"] = {stranger: {}}
    told = home.refused("PUT", home.cluster_id(), body)
    assert (told.status, told.code) == (403, "LinkedAuthorizationFailed")
    body["identity"]["userAssignedIdentities"] = {f"{stranger}-gone": {}}
    assert home.refused("PUT", home.cluster_id(), body).code == "FailedIdentityOperation"


def test_a_private_cluster_needs_leave_to_join_its_zone_to_the_network(own: Account) -> None:
    network = own.subnet.removesuffix("/subnets/nodes")
    body = own.cluster_body(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "system"})
    told = own.refused("PUT", own.cluster_id(), body)
    assert (told.status, told.code) == (403, "LinkedAuthorizationFailed")
    assert f"'Microsoft.Network/virtualNetworks/join/action' on {network}," in told.message
    own.cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "none"})
    own.grant(own.identity, PRIVATE_DNS, network)
    own.put(own.cluster_id(), body)


def test_a_private_cluster_needs_leave_to_write_into_a_zone_of_ones_own(own: Account) -> None:
    own.grant(own.identity, PRIVATE_DNS, own.subnet.removesuffix("/subnets/nodes"))
    zone = own.network("privateDnsZones", f"privatelink.{LOCATION}.azmk8s.io")
    body = own.cluster_body(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": zone})
    own.refused("PUT", own.cluster_id(), body)
    own.put(zone, {"location": "global"})
    told = own.refused("PUT", own.cluster_id(), body)
    assert (told.status, told.code) == (400, "CustomPrivateDNSZoneMissingPermissionError")
    own.grant(own.identity, PRIVATE_DNS, zone)
    own.put(own.cluster_id(), body)
    (link,) = own.get(f"{zone}/virtualNetworkLinks")["value"]
    assert link["properties"]["virtualNetwork"]["id"] == own.subnet.removesuffix("/subnets/nodes")


def test_an_identity_of_ones_own_for_nodes_needs_leave(home: Account) -> None:
    nodes = home.new_identity()
    body = home.cluster_body(identityProfile={"kubeletidentity": {"resourceId": nodes}})
    told = home.refused("PUT", home.cluster_id(), body)
    assert told.code == "CustomKubeletIdentityMissingPermissionError"
    home.grant(home.identity, IDENTITY_OPERATOR, nodes)
    made = home.put(home.cluster_id(), body).body["properties"]
    assert made["identityProfile"]["kubeletidentity"]["objectId"] == home.principal(nodes)


def test_rights_hold_some_calls_after_they_were_given(own: Account) -> None:
    identity, body = own.new_identity(), own.cluster_body()
    body["identity"]["userAssignedIdentities"] = {identity: {}}
    own.grant(identity, "b24988ac-6180-42a0-ab88-20f7382dd24c", own.group)
    own.az.set_faults(NotYetVisibleRule(operation=WRITE, calls=2))
    id_ = own.cluster_id()
    assert own.refused("PUT", id_, body).code == "LinkedAuthorizationFailed"
    own.get(own.group)
    assert own.put(id_, body).status == 201


def test_a_cluster_that_could_not_be_made_says_why_and_its_pools_too(home: Account) -> None:
    issue = Issue(code="VMExtensionProvisioningError", message="Nodes could not reach the API server.")
    home.az.set_faults(FailedRule(operation=WRITE, issues=(issue,)))
    told = home.put(home.cluster_id(), home.cluster_body())
    assert home.operation(told)["error"] == {"code": issue.code, "message": issue.message}
    found = home.properties(told.body["id"])
    assert found["provisioningState"] == found["agentPoolProfiles"][0]["provisioningState"] == "Failed"
    home.az.set_faults()
    home.put(told.body["id"], update(home, told.body["id"]))
    assert home.state(told.body["id"]) == "Succeeded"


def test_aks_makes_a_group_for_the_nodes_and_removes_it(own: Account) -> None:
    cluster = own.cluster()
    group = f"{own.group.rpartition('/')[0]}/{own.properties(cluster)['nodeResourceGroup']}"
    assert own.get(group)["managedBy"] == cluster
    own.delete(cluster)
    assert own.ask("GET", group).code == "ResourceGroupNotFound"
    assert own.ask("GET", f"{cluster}/agentPools/initial").status == 404


def test_a_group_for_the_nodes_must_not_be_there(home: Account) -> None:
    name = home.group.rpartition("/")[2]
    told = home.refused("PUT", home.cluster_id(), home.cluster_body(nodeResourceGroup=name))
    assert "AKS must make it itself" in told.message


def test_a_stuck_cluster_can_be_removed(home: Account) -> None:
    home.az.set_faults(StuckRule(operation=WRITE))
    told = home.put(home.cluster_id(), home.cluster_body())
    assert home.state(told.body["id"]) == "Creating"
    assert home.refused("PUT", told.body["id"], update(home, told.body["id"])).code == "OperationNotAllowed"
    home.delete(told.body["id"])
    assert home.ask("GET", told.body["id"]).status == 404


def test_a_user_gets_a_kubeconfig_that_asks_kubelogin(home: Account, mine: str) -> None:
    told = home.ask("POST", f"{mine}/listClusterUserCredential", format="exec")
    (only,) = told.body["kubeconfigs"]
    document = yaml.safe_load(base64.b64decode(only["value"]))
    helper = document["users"][0]["user"]["exec"]
    assert (only["name"], helper["command"], helper["args"][0]) == ("clusterUser", "kubelogin", "get-token")
    assert document["clusters"][0]["cluster"]["server"] == f"https://{home.properties(mine)['fqdn']}:443"
    assert home.refused("POST", f"{mine}/listClusterUserCredential").code == "BadRequest"


def test_there_is_no_administrator_without_local_accounts(home: Account, mine: str) -> None:
    told = home.refused("POST", f"{mine}/listClusterAdminCredential")
    assert "Getting static credential is not allowed" in told.message
