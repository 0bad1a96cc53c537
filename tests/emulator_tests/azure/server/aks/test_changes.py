"""What a write of a cluster or a pool keeps, and what it may not change."""

from typing import Any

import pytest

from emulators.azure.client import Told
from support.aks_account import CRYPTO_USER, Account

ADDONS = {"azurepolicy": {"enabled": True}, "azureKeyvaultSecretsProvider": {"enabled": True, "config": {"a": "1"}}}


@pytest.fixture
def mine(home: Account) -> str:
    return home.cluster()


def whole(home: Account, cluster: str, **changes: Any) -> dict[str, Any]:
    """Return the whole object of a cluster, with changes of its properties."""
    return home.cluster_body(**{"nodeResourceGroup": home.properties(cluster)["nodeResourceGroup"], **changes})


def changed(home: Account, cluster: str, **changes: Any) -> dict[str, Any]:
    """Write a cluster with changes of its properties and return those that it has then."""
    home.put(cluster, whole(home, cluster, **changes))
    return home.properties(cluster)


def refused(home: Account, cluster: str, **changes: Any) -> Told:
    return home.refused("PUT", cluster, whole(home, cluster, **changes))


def unchangeable(path: str) -> tuple[int, str, str]:
    return 400, "PropertyChangeNotAllowed", f"Changing property 'properties.{path}' is not allowed."


def seen(told: Told) -> tuple[int, str, str]:
    return told.status, told.code, told.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dnsPrefix", "other"),
        ("nodeResourceGroup", "other"),
        ("networkProfile.serviceCidr", "10.200.0.0/16"),
        ("networkProfile.podCidr", "10.201.0.0/16"),
        ("enableRBAC", False),
        ("aadProfile.managed", False),
    ],
)
def test_what_a_cluster_is_made_with_does_not_change(home: Account, mine: str, path: str, value: Any) -> None:
    outer, _, last = path.rpartition(".")
    changes = {outer: {**whole(home, mine)["properties"][outer], last: value}} if outer else {last: value}
    assert seen(refused(home, mine, **changes)) == unchangeable(path)


def test_an_issuer_is_not_turned_off(home: Account) -> None:
    mine = home.cluster(oidcIssuerProfile={"enabled": True})
    told = refused(home, mine, oidcIssuerProfile={"enabled": False})
    assert seen(told) == (400, "OIDCIssuerFeatureCannotBeDisabled", "OIDC issuer feature cannot be disabled.")
    assert changed(home, mine)["oidcIssuerProfile"]["enabled"] is True


def test_the_administrator_of_windows_stays(home: Account) -> None:
    windows = {"adminUsername": "first", "adminPassword": "Word-of-a-test-1"}
    mine = home.cluster(windowsProfile=windows)
    told = refused(home, mine, windowsProfile={**windows, "adminUsername": "second"})
    assert seen(told) == unchangeable("windowsProfile.adminUsername")


def test_an_add_on_that_is_left_out_stays(home: Account) -> None:
    mine = home.cluster(addonProfiles=ADDONS)
    assert changed(home, mine, addonProfiles={"azurepolicy": {"enabled": False}})["addonProfiles"] == {
        **ADDONS,
        "azurepolicy": {"enabled": False},
    }


def test_ranges_stay_until_an_empty_list_comes(home: Account) -> None:
    mine = home.cluster(apiServerAccessProfile={"authorizedIPRanges": ["203.0.113.0/24"]})
    kept = changed(home, mine, apiServerAccessProfile={"disableRunCommand": True})["apiServerAccessProfile"]
    assert kept == {"authorizedIPRanges": ["203.0.113.0/24"], "disableRunCommand": True}
    cleared = changed(home, mine, apiServerAccessProfile={"authorizedIPRanges": []})["apiServerAccessProfile"]
    assert cleared["authorizedIPRanges"] == []


def test_the_key_of_secrets_stays_until_it_is_turned_off(own: Account) -> None:
    key = {"enabled": True, "keyId": "https://vault.vault.azure.net/keys/secrets", "keyVaultNetworkAccess": "Public"}
    own.grant(own.identity, CRYPTO_USER, own.vault())
    mine = own.cluster(securityProfile={"azureKeyVaultKms": key})
    kept = changed(own, mine, securityProfile={"workloadIdentity": {"enabled": True}})["securityProfile"]
    assert kept["azureKeyVaultKms"] == key
    assert changed(own, mine)["securityProfile"]["azureKeyVaultKms"] == key
    off = changed(own, mine, securityProfile={"azureKeyVaultKms": {"enabled": False}})["securityProfile"]
    assert off["azureKeyVaultKms"]["enabled"] is False


def test_settings_of_the_autoscaler_do_not_stay(home: Account) -> None:
    mine = home.cluster(autoScalerProfile={"expander": "least-waste", "scan-interval": "20s"})
    assert changed(home, mine, autoScalerProfile={"expander": "priority"})["autoScalerProfile"] == {
        "expander": "priority"
    }


def test_no_settings_of_upgrades_are_the_old_ones(home: Account, mine: str) -> None:
    pool = home.pool(mine, upgradeSettings={"maxSurge": "33%", "drainTimeoutInMinutes": 45})
    home.put(pool, home.pool_body(upgradeSettings={}))
    assert home.properties(pool)["upgradeSettings"] == {"maxSurge": "33%", "drainTimeoutInMinutes": 45}
    home.put(pool, home.pool_body(upgradeSettings={"maxSurge": "1"}))
    assert home.properties(pool)["upgradeSettings"] == {"maxSurge": "1", "drainTimeoutInMinutes": 45}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("creationData", {"sourceResourceId": "/subscriptions/s/other"}),
        ("windowsProfile", {"disableOutboundNat": True}),
        ("vmSize", "Standard_D16s_v5"),
    ],
)
def test_what_a_pool_is_made_with_does_not_change(home: Account, mine: str, name: str, value: Any) -> None:
    pool = home.pool(mine)
    assert seen(home.refused("PUT", pool, home.pool_body(**{name: value}))) == unchangeable(name)


def test_a_cluster_becomes_private_only_in_the_network_of_its_nodes(own: Account) -> None:
    private = {"enablePrivateCluster": True, "privateDNSZone": "none"}
    plain = own.cluster()
    told = refused(own, plain, apiServerAccessProfile=private)
    assert seen(told) == unchangeable("apiServerAccessProfile.enablePrivateCluster")
    integrated = own.cluster(apiServerAccessProfile={"enableVnetIntegration": True})
    assert changed(own, integrated, apiServerAccessProfile=private)["apiServerAccessProfile"] == {
        "enableVnetIntegration": True,
        **private,
    }
    back = changed(own, integrated, apiServerAccessProfile={"enablePrivateCluster": False})
    assert back["apiServerAccessProfile"]["enablePrivateCluster"] is False
    never = refused(own, integrated, apiServerAccessProfile={"enableVnetIntegration": False})
    assert seen(never) == unchangeable("apiServerAccessProfile.enableVnetIntegration")
