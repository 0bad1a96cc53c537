"""Who reaches the API server of a cluster."""

import base64
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from emulators.azure.client import Emulator, running
from emulators.core.doors import Place
from support.aks_account import CRYPTO_USER, LOCATION, PRIVATE_DNS, SUBSCRIPTION, Account, account

HOME, STRANGER = Place(address="203.0.113.7"), Place(address="198.51.100.9")


def network(own: Account) -> str:
    return own.subnet.rpartition("/subnets/")[0]


def test_an_open_cluster_answers_to_all_of_the_internet(own: Account) -> None:
    mine = own.cluster()
    assert [own.az.barrier(mine, each) for each in (HOME, STRANGER)] == ["", ""]
    assert own.az.barrier(mine, Place()) == "the caller has no way to the Internet"


def test_authorized_ranges_let_in_themselves_and_the_nodes(own: Account) -> None:
    mine = own.cluster(apiServerAccessProfile={"authorizedIPRanges": ["203.0.113.0/24"]})
    assert own.az.barrier(mine, HOME) == ""
    assert "198.51.100.9 is not in the authorized ranges" in own.az.barrier(mine, STRANGER)
    assert own.az.barrier(mine, Place(network=network(own))) == ""


def test_a_private_cluster_answers_in_its_network_alone(own: Account) -> None:
    mine = own.cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "none"})
    assert own.az.barrier(mine, Place(network=network(own))) == ""
    for place in (HOME, Place(address=HOME.address, network=f"{network(own)}-other")):
        assert "is private and the caller is not in the network of its nodes" in own.az.barrier(mine, place)


def test_a_private_cluster_answers_in_a_network_that_is_peered_in_both_directions_and_linked_to_its_zone(
    own: Account,
) -> None:
    own.grant(own.identity, PRIVATE_DNS, network(own))
    mine = own.cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "system"})
    assert own.az.barrier(mine, Place(network=network(own))) == ""
    other = own.network("virtualNetworks")
    own.put(other, {"location": LOCATION, "properties": {"addressSpace": {"addressPrefixes": ["10.60.0.0/16"]}}})
    for one, to in ((network(own), other), (other, network(own))):
        assert "is private and the caller is not in the network of its nodes" in own.az.barrier(
            mine, Place(network=other)
        )
        own.put(f"{one}/virtualNetworkPeerings/pipeline", {"properties": {"remoteVirtualNetwork": {"id": to}}})
    assert "is not linked to the private DNS zone" in own.az.barrier(mine, Place(network=other))
    nodes = f"{SUBSCRIPTION}/resourceGroups/{own.get(mine)['properties']['nodeResourceGroup']}"
    (zone,) = own.get(f"{nodes}/providers/Microsoft.Network/privateDnsZones")["value"]
    assert zone["name"] == f"privatelink.{LOCATION}.azmk8s.io"
    link = {"location": "global", "properties": {"virtualNetwork": {"id": other}, "registrationEnabled": False}}
    own.put(f"{zone['id']}/virtualNetworkLinks/pipeline", link)
    assert own.az.barrier(mine, Place(network=other)) == ""
    for each in own.get(f"{zone['id']}/virtualNetworkLinks")["value"]:
        own.delete(each["id"])
    own.delete(zone["id"])
    assert "is not linked to the private DNS zone" in own.az.barrier(mine, Place(network=other))
    own.delete(f"{other}/virtualNetworkPeerings/pipeline")
    assert "one peered with it" in own.az.barrier(mine, Place(network=other))


def test_a_zone_of_ones_own_is_known_where_it_is_linked(own: Account) -> None:
    own.grant(own.identity, PRIVATE_DNS, network(own))
    zone = own.network("privateDnsZones", f"privatelink.{LOCATION}.azmk8s.io")
    own.put(zone, {"location": "global"})
    own.grant(own.identity, PRIVATE_DNS, zone)
    mine = own.cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": zone})
    hub = own.network("virtualNetworks")
    own.put(hub, {"location": LOCATION, "properties": {"addressSpace": {"addressPrefixes": ["10.60.0.0/16"]}}})
    for one, to in ((network(own), hub), (hub, network(own))):
        own.put(f"{one}/virtualNetworkPeerings/pipeline", {"properties": {"remoteVirtualNetwork": {"id": to}}})
    assert f"is not linked to the private DNS zone {zone}" in own.az.barrier(mine, Place(network=hub))
    link = {"location": "global", "properties": {"virtualNetwork": {"id": hub}, "registrationEnabled": False}}
    own.put(f"{zone}/virtualNetworkLinks/hub", link)
    assert [own.az.barrier(mine, Place(network=each)) for each in (hub, network(own))] == ["", ""]


def test_without_a_private_zone_its_name_is_public(own: Account) -> None:
    mine = own.cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "none"})
    other = own.network("virtualNetworks")
    own.put(other, {"location": LOCATION, "properties": {"addressSpace": {"addressPrefixes": ["10.60.0.0/16"]}}})
    for one, to in ((network(own), other), (other, network(own))):
        own.put(f"{one}/virtualNetworkPeerings/pipeline", {"properties": {"remoteVirtualNetwork": {"id": to}}})
    assert own.az.barrier(mine, Place(network=other)) == ""


def test_a_cluster_that_cannot_decrypt_answers_to_nobody(own: Account) -> None:
    role = own.grant(own.identity, CRYPTO_USER, own.vault())
    kms = {"enabled": True, "keyId": "https://vault.vault.azure.net/keys/secrets", "keyVaultNetworkAccess": "Public"}
    mine = own.cluster(securityProfile={"azureKeyVaultKms": kms})
    own.delete(role)
    assert "Secrets cannot be decrypted" in own.az.barrier(mine, HOME)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Emulator]:
    """An Azure whose clusters lead to a server that says hello."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            with suppress(OSError):
                while True:
                    with server.accept()[0] as caller:
                        caller.sendall(b"hello")

        threading.Thread(target=greet, daemon=True).start()
        place = {"server": f"https://127.0.0.1:{server.getsockname()[1]}", "certificate-authority-data": "YQ=="}
        document = {
            "clusters": [{"name": "one", "cluster": place}],
            "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
            "current-context": "one",
            "users": [{"name": "one", "user": {}}],
        }
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document))
        with running(kubeconfig=tmp_path / "kubeconfig") as emulator:
            yield emulator


def address(own: Account, cluster: str) -> tuple[str, int]:
    """Return host and port in the kubeconfig of a cluster."""
    told = own.ask("POST", f"{cluster}/listClusterUserCredential", {}, format="exec").body["kubeconfigs"][0]["value"]
    found = urlsplit(yaml.safe_load(base64.b64decode(told))["clusters"][0]["cluster"]["server"])
    return str(found.hostname), found.port or 0


def heard(own: Account, cluster: str) -> bytes:
    """Return what the API server says to a caller; empty if the connection is reset."""
    with suppress(ConnectionResetError), socket.create_connection(address(own, cluster)) as caller:
        return caller.recv(16)
    return b""


def test_a_kubeconfig_leads_to_a_server_that_answers_where_azure_lets_it(served: Emulator) -> None:
    own = account(served)
    mine = own.cluster(apiServerAccessProfile={"authorizedIPRanges": ["203.0.113.0/24"]})
    assert heard(own, mine) == b"hello"
    served.stand(STRANGER)
    assert heard(own, mine) == b""
    served.stand(HOME)
    assert heard(own, mine) == b"hello"


def test_a_stopped_cluster_refuses_connections_at_the_address_that_it_has_again_when_it_is_started(
    served: Emulator,
) -> None:
    own = account(served)
    mine, other = own.cluster(), own.cluster()
    where = address(own, mine)
    with socket.create_connection(where) as caller:
        assert caller.recv(16) == b"hello"
        own.ask("POST", f"{mine}/stop")
        assert caller.recv(16) == b""
    own.ask("POST", f"{other}/stop")
    for each in (mine, other):  # the address of the other one is asked for while it is stopped
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address(own, each))
        own.ask("POST", f"{each}/start")
        assert heard(own, each) == b"hello"
    assert address(own, mine) == where
    own.ask("POST", f"{mine}/stop")
    own.delete(mine)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(where)


def test_another_cluster_under_the_same_id_has_another_address(served: Emulator) -> None:
    own = account(served)
    mine = own.cluster()
    first = address(own, mine)
    own.delete(mine)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(first)
    own.put(mine, own.cluster_body())
    assert address(own, mine) != first
    assert heard(own, mine) == b"hello"
