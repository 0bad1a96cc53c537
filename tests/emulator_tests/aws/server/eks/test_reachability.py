"""From where an API server answers, and that a cluster's address ends with it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from emulators.aws.client import Emulator, running
from emulators.core.doors import Place
from support.eks_account import Account, account

HELLO = b"the API server"
OUTSIDE = {"address": "203.0.113.7"}


@contextmanager
def greeting(words: bytes) -> Iterator[str]:
    """Serve a greeting to every client, in the place of an API server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            while True:
                try:
                    caller, _ = listener.accept()
                except OSError:
                    return
                with caller:
                    caller.sendall(words)

        threading.Thread(target=greet, daemon=True).start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with greeting(HELLO) as address:
        yield address


@pytest.fixture(scope="module")
def shared_home(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    kubeconfig: Path = tmp_path_factory.mktemp("home") / "kubeconfig"
    cluster = {"server": server, "certificate-authority-data": "Y2E="}
    kubeconfig.write_text(yaml.safe_dump({"clusters": [{"name": "local", "cluster": cluster}]}))
    with running(kubeconfig=kubeconfig) as aws:
        yield account(aws)


@pytest.fixture
def home(shared_home: Account) -> Account:
    shared_home.aws.set_circumstances()
    shared_home.aws.stand(None)
    return shared_home


def endpoint(home: Account, name: str) -> str:
    found: str = home.eks.describe_cluster(name=name)["cluster"]["endpoint"]
    return found


def answers(address: str, words: bytes = HELLO) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
            return connection.recv(100) == words
    except (ConnectionResetError, ConnectionRefusedError):
        return False


def reaches(home: Account, name: str, **place: Any) -> bool:
    caller = Place(**place)
    home.aws.stand(caller)
    is_reached = answers(endpoint(home, name))
    assert is_reached is not bool(home.aws.barrier(name, caller))
    return is_reached


def cluster(home: Account, **access: Any) -> str:
    return home.cluster(resourcesVpcConfig={"subnetIds": list(home.subnets), **access})


def open_443(home: Account, name: str, **source: Any) -> None:
    """Let a source in at the cluster's security group."""
    group = home.eks.describe_cluster(name=name)["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"]
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, **source}
    home.aws.api("ec2").authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])


def peer(aws: Emulator, vpc: str) -> str:
    ec2 = aws.api("ec2")
    other: str = ec2.create_vpc(CidrBlock="10.50.0.0/16")["Vpc"]["VpcId"]
    made = ec2.create_vpc_peering_connection(VpcId=other, PeerVpcId=vpc)["VpcPeeringConnection"]
    ec2.accept_vpc_peering_connection(VpcPeeringConnectionId=made["VpcPeeringConnectionId"])
    return other


def test_a_cluster_leads_to_the_api_server_of_the_kubeconfig(home: Account) -> None:
    name = cluster(home, publicAccessCidrs=["198.51.100.0/24"])
    assert answers(endpoint(home, name))  # the caller is not named
    assert home.eks.describe_cluster(name=name)["cluster"]["certificateAuthority"]["data"] == "Y2E="


def test_a_public_endpoint_answers_its_ranges_and_follows_them(home: Account) -> None:
    name = cluster(home, publicAccessCidrs=["198.51.100.0/24"])
    assert reaches(home, name, address="198.51.100.9")
    assert not reaches(home, name, **OUTSIDE)
    home.eks.update_cluster_config(name=name, resourcesVpcConfig={"publicAccessCidrs": ["203.0.113.0/24"]})
    assert reaches(home, name, **OUTSIDE)
    assert not reaches(home, name, address="198.51.100.9")


def test_without_a_private_endpoint_the_vpc_is_outside_too(home: Account) -> None:
    name = cluster(home, publicAccessCidrs=["198.51.100.0/24"])
    open_443(home, name, IpRanges=[{"CidrIp": "10.0.0.0/16"}])
    assert not reaches(home, name, address="10.0.0.5", network=home.vpc)
    assert reaches(home, name, address="198.51.100.9", network=home.vpc)


def test_a_private_endpoint_needs_the_vpc_and_a_rule(home: Account) -> None:
    name = cluster(home, endpointPublicAccess=False, endpointPrivateAccess=True)
    inside = {"address": "10.0.0.5", "network": home.vpc}
    assert not reaches(home, name, **inside)
    open_443(home, name, IpRanges=[{"CidrIp": "10.0.0.0/24"}])
    assert reaches(home, name, **inside)
    assert not reaches(home, name, address="10.0.1.5", network=home.vpc)
    assert not reaches(home, name, **OUTSIDE)
    assert not reaches(home, name, address="10.0.0.5", network="vpc-0123456789abcdef0")


def test_a_peer_reaches_a_private_endpoint_by_a_rule_and_beside_a_public_one_as_the_public(home: Account) -> None:
    name = cluster(home, endpointPublicAccess=False, endpointPrivateAccess=True)
    beside = {"address": "10.50.0.5", "network": peer(home.aws, home.vpc)}
    assert not reaches(home, name, **beside)
    open_443(home, name, IpRanges=[{"CidrIp": "10.50.0.0/16"}])
    assert reaches(home, name, **beside)
    both = {"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]}
    home.eks.update_cluster_config(name=name, resourcesVpcConfig=both)
    assert not reaches(home, name, **beside)


def test_members_of_the_clusters_security_group_are_let_in(home: Account) -> None:
    name = cluster(home, endpointPublicAccess=False, endpointPrivateAccess=True)
    group = home.eks.describe_cluster(name=name)["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"]
    node = {"address": "10.0.0.5", "network": home.vpc}
    assert reaches(home, name, **node, groups=[group])
    assert not reaches(home, name, **node, groups=["sg-0123456789abcdef0"])


def test_another_cluster_of_the_same_name_has_another_address_and_the_old_one_ends(home: Account) -> None:
    name = cluster(home)
    old = home.eks.describe_cluster(name=name)["cluster"]
    home.eks.delete_cluster(name=name)
    assert not answers(old["endpoint"])
    home.cluster(name=name)
    new = home.eks.describe_cluster(name=name)["cluster"]
    assert old["endpoint"] != new["endpoint"]
    assert old["identity"] != new["identity"]
    assert answers(new["endpoint"])


def test_a_test_can_give_the_next_cluster_an_api_server_of_its_own(home: Account) -> None:
    first = cluster(home)
    with greeting(b"an empty one") as other:
        home.aws.set_circumstances(control_plane={"endpoint": other, "certificate_authority": "b3RoZXI="})
        second = cluster(home)
        assert answers(endpoint(home, second), b"an empty one")
        assert home.eks.describe_cluster(name=second)["cluster"]["certificateAuthority"]["data"] == "b3RoZXI="
        assert answers(endpoint(home, first))
