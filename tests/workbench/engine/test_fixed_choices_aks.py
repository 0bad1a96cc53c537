"""What must not change under a living AKS cluster: network, storage, roles on vaults of keys, nodes with data."""

from typing import Any

import pytest

from components.contract.certificates import EXAMPLE
from support.aks import CLUSTER, CREATED, EXISTING, ISOLATED, KEY_ID, NO_INTERNET, REGISTRY_ID, ZONE_ID, config
from support.aks_state import STACK, exported
from workbench.engine.clouds.aks.fixed_choices import SUBNET
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.find import cloud_of
from workbench.engine.cluster_components import components_of_state

KEY = "cluster.secretsKeyId"
PREVIOUS = "cluster.previousSecretsKeyId"
NEWER = KEY_ID.replace("0123", "4567")
OTHER = KEY_ID.replace("vaults/research", "vaults/Other")
THIRD = KEY_ID.replace("vaults/research", "vaults/third")
ADDRESS = "https://research.vault.azure.net/keys/aks/0123456789abcdef0123456789abcdef"

PROXY = {"http": "http://proxy.corp.example:3128", "except": [".corp.example"]}
CERTIFICATES = [EXAMPLE]

OWN = "the stack's own network with nodes in 10.{}.0.0/17"
THEIRS = EXISTING["nodeSubnetId"].lower().removesuffix("/subnets/nodes")


def refused(before: dict[str, Any], after: dict[str, Any]) -> list[Blocker]:
    """Return why a stack that was brought up with one set of choices refuses another."""
    return [*cloud_of(STACK, config(after)).fixed_blockers(exported(before))]


@pytest.mark.parametrize(
    ("before", "after", "wanted", "live"),
    [
        (CREATED, {**CREATED, "cidr": "10.40.0.0/16"}, OWN.format(40), OWN.format(30)),
        (CREATED, EXISTING, THEIRS, OWN.format(30)),
        (EXISTING, CREATED, OWN.format(30), THEIRS),
    ],
)
def test_another_network_is_refused_before_azure_refuses_it_halfway(
    before: dict[str, Any], after: dict[str, Any], wanted: str, live: str
) -> None:
    (found,) = refused({"cluster.network": before}, {"cluster.network": after})
    assert (found.where, found.what) == ("cluster.network", f"{wanted}, but the cluster has {live}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (EXISTING, EXISTING),
        (EXISTING, {**EXISTING, "nodeSubnetId": EXISTING["nodeSubnetId"].replace("shared", "SHARED")}),
        (EXISTING, {**EXISTING, "cidr": "10.30.0.0/15"}),
        (EXISTING, {**EXISTING, "nodeSubnetId": f"{EXISTING['nodeSubnetId']}-other"}),
    ],
)
def test_another_subnet_of_the_network_and_what_nobody_sends_are_no_other_network(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert refused({"cluster.network": before}, {"cluster.network": after}) == []


BY_NAT = {**NO_INTERNET, "cluster.network": EXISTING}
BY_FIREWALL = {**NO_INTERNET, "cluster.network": {**EXISTING, "internet": "firewall"}}


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (BY_NAT, NO_INTERNET, "none, but the cluster has nat"),
        (BY_NAT, BY_FIREWALL, "firewall, but the cluster has nat"),
        (NO_INTERNET, BY_NAT, "nat, but the cluster has none"),
        (BY_FIREWALL, NO_INTERNET, "none, but the cluster has firewall"),
    ],
)
def test_another_way_out_is_refused_because_the_provider_would_replace_the_cluster(
    before: dict[str, Any], after: dict[str, Any], what: str
) -> None:
    (found,) = refused(before, after)
    assert (found.where, found.what) == ("cluster.network.internet", what)
    assert refused(after, after) == []


def test_another_registry_of_aks_own_images_is_refused() -> None:
    other = REGISTRY_ID.replace("registries/research", "registries/other")
    (found,) = refused(NO_INTERNET, {**NO_INTERNET, "cluster.network": {**ISOLATED, "registryId": other}})
    assert (found.where, found.what) == (
        "cluster.network.registryId",
        f"{other.lower()}, but the cluster has {REGISTRY_ID.lower()}",
    )


def test_a_cluster_that_becomes_private_goes_out_by_nat_as_before() -> None:
    assert refused({"cluster.authorizedRanges": ["203.0.113.0/24"]}, {}) == []


def test_a_subnet_whose_state_names_no_range_is_no_other_network() -> None:
    state = exported({"cluster.network": CREATED})
    (subnet,) = (each for each in state["resources"] if each["type"] == SUBNET)
    del subnet["inputs"]["addressPrefix"]
    assert [*cloud_of(STACK, config({"cluster.network": CREATED})).fixed_blockers(state)] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({}, {KEY: NEWER}),
        ({}, {KEY: OTHER, PREVIOUS: KEY_ID}),
        ({}, {KEY: None, PREVIOUS: KEY_ID}),
        ({KEY: None}, {}),
        ({KEY: OTHER, PREVIOUS: KEY_ID}, {KEY: OTHER, PREVIOUS: KEY_ID}),
        ({KEY: OTHER, PREVIOUS: KEY_ID}, {KEY: THIRD, PREVIOUS: OTHER}),
        ({KEY: OTHER, PREVIOUS: KEY_ID}, {KEY: OTHER.replace("0123", "4567")}),
        ({KEY: None, PREVIOUS: KEY_ID}, {KEY: None, PREVIOUS: KEY_ID}),
        ({KEY: None, PREVIOUS: KEY_ID}, {}),
    ],
)
def test_a_key_may_change_while_the_one_before_stays_usable(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert refused(before, after) == []


@pytest.mark.parametrize(("key", "wanted"), [(None, "no key"), (OTHER, "https://other.vault.azure.net/keys/aks/")])
def test_a_key_that_secrets_are_encrypted_with_is_not_dropped(key: str | None, wanted: str) -> None:
    (found,) = refused({}, {KEY: key})
    assert found.where == KEY
    assert found.what.startswith(wanted)
    assert found.what.endswith(f", but Secrets are encrypted with {ADDRESS}")
    assert found.step == "Set cluster.previousSecretsKeyId to the id of the previous key, then run `up` again."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({KEY: OTHER}, {KEY: OTHER}),
        ({KEY: None}, {KEY: None}),
        ({KEY: None}, {KEY: OTHER}),
        ({KEY: OTHER}, {KEY: None, PREVIOUS: OTHER}),
    ],
)
def test_the_key_before_stays_until_the_key_changes_again(before: dict[str, Any], after: dict[str, Any]) -> None:
    (found,) = refused({PREVIOUS: KEY_ID, **before}, after)
    assert (found.where, found.what) == (PREVIOUS, "the cluster would lose its role on the vault research")


STORED: dict[str, Any] = {"storage": {"corpus": {"purpose": "dataset", "type": "files"}}}


def test_another_redundancy_of_a_storage_is_refused_before_azure_refuses_it_halfway() -> None:
    (found,) = refused(STORED, {**STORED, "storage.corpus.redundancy": "local"})
    assert (found.where, found.what) == ("storage.corpus.redundancy", "local, but the storage account has zones")
    (back,) = refused({**STORED, "storage.corpus.redundancy": "local"}, STORED)
    assert back.what == "zones, but the storage account has local"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (STORED, {**STORED, "storage.corpus.redundancy": "zones"}),
        (STORED, {**STORED, "storage.more": {"purpose": "home", "type": "files", "redundancy": "local"}}),
        (STORED, {}),
        ({}, {**STORED, "storage.corpus.redundancy": "local"}),
    ],
)
def test_the_default_redundancy_and_storage_without_an_account_are_no_change_of_it(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert refused(before, after) == []


ZONE = "cluster.privateDnsZoneId"
HUB = ZONE_ID.replace("/dns/", "/hub/")


@pytest.mark.parametrize(
    ("before", "after", "wanted", "live"),
    [
        (None, ZONE_ID, ZONE_ID.lower(), "a zone that AKS makes"),
        (ZONE_ID, None, "a zone that AKS makes", ZONE_ID.lower()),
        (ZONE_ID, HUB, HUB.lower(), ZONE_ID.lower()),
    ],
)
def test_the_zone_of_the_api_stays(before: str | None, after: str | None, wanted: str, live: str) -> None:
    (found,) = refused({ZONE: before}, {ZONE: after})
    assert (found.where, found.what) == (ZONE, f"{wanted}, but the cluster has {live}")


@pytest.mark.parametrize("zone", [None, ZONE_ID])
def test_a_cluster_that_becomes_public_is_another_cluster_and_no_change_of_its_zone(zone: str | None) -> None:
    public = {"cluster.authorizedRanges": ["203.0.113.0/24"]}
    assert refused({ZONE: zone}, public) == []
    assert refused(public, {ZONE: zone}) == []


def test_without_a_cluster_every_choice_may_change() -> None:
    state = exported()
    state["resources"] = [each for each in state["resources"] if each["type"] != CLUSTER]
    changes = {KEY: None, "cluster.network": EXISTING}
    assert [*cloud_of(STACK, config(changes)).fixed_blockers(state)] == []


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("proxy", None, PROXY),
        ("proxy", PROXY, None),
        ("proxy", PROXY, {**PROXY, "except": [".corp.example", ".other.example"]}),
        ("trustedCertificates", None, CERTIFICATES),
        ("trustedCertificates", CERTIFICATES, None),
    ],
)
def test_nodes_that_hold_data_keep_their_proxy_and_their_trust(key: str, before: Any, after: Any) -> None:
    (found,) = refused({f"cluster.{key}": before}, {f"cluster.{key}": after})
    assert found.where == f"cluster.{key}"
    assert found.what.startswith("NG-20: ")
    without = {"pools.data": None}
    assert refused({f"cluster.{key}": before, **without}, {f"cluster.{key}": after, **without}) == []


def test_a_proxy_and_certificates_that_stay_are_no_change() -> None:
    both = {"cluster.proxy": PROXY, "cluster.trustedCertificates": CERTIFICATES}
    assert refused(both, both) == []


def test_exceptions_of_aks_itself_are_no_change_after_a_refresh() -> None:
    state = exported({"cluster.proxy": PROXY})
    (cluster,) = (each for each in state["resources"] if each["type"] == CLUSTER)
    sent = cluster["inputs"]["httpProxyConfig"]["noProxy"]
    cluster["outputs"]["privateFQDN"] = "research.privatelink.westeurope.azmk8s.io"
    sent += ["konnectivity", "localhost", "168.63.129.16", "research.privatelink.westeurope.azmk8s.io"]
    assert [*cloud_of(STACK, config({"cluster.proxy": PROXY})).fixed_blockers(state)] == []
    sent.append("new.azure.example")
    (found,) = cloud_of(STACK, config({"cluster.proxy": PROXY})).fixed_blockers(state)
    assert "Azure has these exceptions too: new.azure.example." in found.step
    more = {**PROXY, "except": [*PROXY["except"], "new.azure.example"]}
    assert [*cloud_of(STACK, config({"cluster.proxy": more})).fixed_blockers(state)] == []


def test_what_aks_keeps_of_a_proxy_and_of_certificates_is_said_with_the_commands_that_end_it() -> None:
    both = {"cluster.proxy": PROXY, "cluster.trustedCertificates": CERTIFICATES}
    parts = components_of_state(exported(both))
    proxy, certificates = cloud_of(STACK, config()).notes(parts)
    assert "`az aks update --resource-group research --name research --disable-http-proxy`" in proxy
    assert "customCATrustCertificates=[]" in certificates
    assert [*cloud_of(STACK, config(both)).notes(parts)] == []
