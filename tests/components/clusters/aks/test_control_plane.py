import base64

import pytest

from components.contract.certificates import EXAMPLE
from support.aks import (
    ADMINS,
    CLUSTER,
    EXISTING,
    KEY_ID,
    NO_INTERNET,
    REGISTRY_ID,
    TENANT,
    ZONE_ID,
    Props,
    build,
    built,
)

WINDOW = "azure-native:containerservice:MaintenanceConfiguration"


def cluster(changes: Props | None = None) -> Props:
    recorder = build(changes) if changes else built()
    return recorder.of_type(CLUSTER)["test-cluster"]


def test_the_api_is_private_unless_ranges_are_named() -> None:
    assert cluster()["apiServerAccessProfile"] == {
        "enablePrivateCluster": True,
        "enablePrivateClusterPublicFQDN": False,
        "privateDNSZone": "system",
        "disableRunCommand": True,
    }
    ranges = ["203.0.113.0/24"]
    public = cluster({"cluster.authorizedRanges": ranges})["apiServerAccessProfile"]
    assert public == {"authorizedIPRanges": ranges, "disableRunCommand": True}


def test_the_name_of_a_private_api_is_in_the_zone_that_the_stack_file_names() -> None:
    api = cluster({"cluster.privateDnsZoneId": ZONE_ID})["apiServerAccessProfile"]
    assert (api["enablePrivateCluster"], api["privateDNSZone"]) == (True, ZONE_ID)


def test_nodes_of_a_public_api_go_out_by_an_address_that_aks_lets_in() -> None:
    assert cluster()["networkProfile"]["outboundType"] == "userAssignedNATGateway"
    public = cluster({"cluster.authorizedRanges": ["203.0.113.0/24"]})
    assert public["networkProfile"]["outboundType"] == "loadBalancer"


@pytest.mark.parametrize("ranges", [[], ["203.0.113.0/24"]])
def test_nodes_behind_a_firewall_go_out_by_the_routes_of_their_subnet(ranges: list[str]) -> None:
    made = cluster({"cluster.network": {**EXISTING, "internet": "firewall"}, "cluster.authorizedRanges": ranges})
    assert made["networkProfile"]["outboundType"] == "userDefinedRouting"
    assert "bootstrapProfile" not in made


def test_an_isolated_cluster_gets_aks_own_images_from_the_registry_of_its_network() -> None:
    made = cluster(NO_INTERNET)
    assert made["networkProfile"]["outboundType"] == "none"
    assert made["bootstrapProfile"] == {"artifactSource": "Cache", "containerRegistryId": REGISTRY_ID}
    assert made["apiServerAccessProfile"]["enablePrivateCluster"]


def test_a_network_that_says_nothing_of_the_internet_is_what_it_was() -> None:
    assert "bootstrapProfile" not in cluster()
    for network in ({"kind": "created", "cidr": "10.30.0.0/16"}, EXISTING):
        said = cluster({"cluster.network": {**network, "internet": "nat"}})
        assert said == cluster({"cluster.network": network})


def test_accounts_are_entras_and_roles_are_azures() -> None:
    made = cluster()
    assert (made["disableLocalAccounts"], made["enableRBAC"]) == (True, True)
    assert made["aadProfile"] == {
        "managed": True,
        "enableAzureRBAC": True,
        "tenantID": TENANT,
        "adminGroupObjectIDs": [ADMINS],
    }


def test_production_is_paid_for() -> None:
    tiers = {e: built(e).of_type(CLUSTER)["test-cluster"]["sku"]["tier"] for e in ("dev", "prod")}
    assert tiers == {"dev": "Free", "prod": "Standard"}


def test_own_keys_are_used_where_they_are_named() -> None:
    kms = cluster()["securityProfile"]["azureKeyVaultKms"]
    assert kms["enabled"]
    assert kms["keyId"] == "https://research.vault.azure.net/keys/aks/0123456789abcdef0123456789abcdef"
    assert cluster()["diskEncryptionSetID"].endswith("/diskEncryptionSets/research")
    without = cluster({"cluster.secretsKeyId": None, "cluster.diskEncryptionSetId": None})
    assert "azureKeyVaultKms" not in without["securityProfile"]
    assert "diskEncryptionSetID" not in without


def test_a_key_that_is_dropped_is_turned_off_in_words_because_aks_keeps_what_is_left_out() -> None:
    dropped = cluster({"cluster.secretsKeyId": None, "cluster.previousSecretsKeyId": KEY_ID})
    kms = dropped["securityProfile"]["azureKeyVaultKms"]
    assert (kms["enabled"], kms.get("keyId")) == (False, None)


@pytest.mark.parametrize(
    ("changes", "channels"),
    [
        ({"pools.data": None}, ("patch", "NodeImage")),
        ({}, ("none", "None")),
        ({"pools.data": None, "cluster.nodeImageChannel": "security-patch"}, ("patch", "SecurityPatch")),
        ({"pools.data": None, "cluster.upgradeChannel": "none"}, ("none", "NodeImage")),
    ],
)
def test_aks_upgrades_by_itself_unless_that_would_erase_data(changes: Props, channels: tuple[str, str]) -> None:
    profile = cluster(changes)["autoUpgradeProfile"]
    assert (profile["upgradeChannel"], profile["nodeOSUpgradeChannel"]) == channels


def test_upgrades_keep_to_the_hours_that_the_stack_file_names() -> None:
    hours = {"day": "saturday", "startHour": 22, "hours": 8}
    windows = build({"cluster.maintenance": hours}).of_type(WINDOW)
    assert {window["configName"] for window in windows.values()} == {
        "aksManagedAutoUpgradeSchedule",
        "aksManagedNodeOSUpgradeSchedule",
    }
    for window in windows.values():
        assert window["maintenanceWindow"] == {
            "schedule": {"weekly": {"dayOfWeek": "Saturday", "intervalWeeks": 1}},
            "startTime": "22:00",
            "durationHours": 8,
            "utcOffset": "+00:00",
        }


def test_the_autoscaler_is_set_for_the_work_that_is_named() -> None:
    batch, people = cluster(), cluster({"cluster.autoscaler": "interactive"})
    assert batch["autoScalerProfile"]["expander"] == "least-waste"
    assert batch["autoScalerProfile"] != people["autoScalerProfile"]


def test_azures_list_of_all_pools_is_left_as_it_is() -> None:
    """Its other pools are resources of their own: compared, they would be taken out by each update."""
    assert built().options[CLUSTER, "test-cluster"].ignore_changes == ("agentPoolProfiles",)


def test_the_cluster_is_never_replaced_to_change_its_initial_pool() -> None:
    assert not built().options[CLUSTER, "test-cluster"].delete_before_replace
    (before,) = cluster()["agentPoolProfiles"]
    (after,) = cluster({"pools.initial.instanceTypes": ["Standard_D8s_v5"]})["agentPoolProfiles"]
    assert (before["name"], after["name"]) == ("initial", "initial")


def test_nodes_have_no_proxy_and_trust_public_authorities_only() -> None:
    assert "httpProxyConfig" not in cluster()
    assert "customCATrustCertificates" not in cluster()["securityProfile"]


def test_addresses_of_a_proxy_end_with_a_slash_and_its_exceptions_keep_to_rfc_1123() -> None:
    proxy = {"http": "http://proxy.corp.example:3128", "except": [".corp.example", "192.168.0.0/16"]}
    assert cluster({"cluster.proxy": proxy})["httpProxyConfig"] == {
        "httpProxy": "http://proxy.corp.example:3128/",
        "httpsProxy": "http://proxy.corp.example:3128/",
        "noProxy": ["10.30.0.0/16", "svc", "cluster.local", "corp.example", "192.168.0.0/16"],
    }


def test_certificates_are_sent_in_base64() -> None:
    (sent,) = cluster({"cluster.trustedCertificates": [EXAMPLE]})["securityProfile"]["customCATrustCertificates"]
    assert base64.b64decode(sent).decode() == EXAMPLE
