"""A first `up` of production, whose API is private, from where it reaches the API and from where it does not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulators.core.doors import Place
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.lives import SMALL

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

UP = ("up", "prod", "--hermetic", "--yes")
UP_ON_AKS = ("up", "aks-prod", "--hermetic", "--yes")


@pytest.fixture
def prod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with Account.opened(tmp_path_factory.mktemp("private"), "prod") as made:
        yield made


def connected(account: Account, cluster: str) -> str:
    """Peer a VPC of the pipeline with a cluster's, and return its id."""
    ec2 = account.aws.api("ec2")
    (made,) = ec2.describe_vpcs(Filters=[{"Name": "tag:Name", "Values": [cluster]}])["Vpcs"]
    other: str = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    peering = ec2.create_vpc_peering_connection(VpcId=other, PeerVpcId=made["VpcId"])["VpcPeeringConnection"]
    ec2.accept_vpc_peering_connection(VpcPeeringConnectionId=peering["VpcPeeringConnectionId"])
    return other


def test_production_on_eks_is_made_in_two_runs_with_its_network_connected_between_them(prod: Account) -> None:
    prod.aws.stand(Place(address="203.0.113.7"))
    first = prod.run(*UP, check=False)
    assert first.returncode == 1
    assert "no other network is connected yet, so this `up` stops at the first Kubernetes object" in first.stderr
    assert "The Kubernetes API does not answer this machine. The API is private: it answers apiClientCidrs" in (
        first.stderr
    )
    assert prod.group("prod-workload")["status"] == "ACTIVE"

    network = connected(prod, "mlrun-prod")
    prod.aws.stand(Place(address="10.60.0.5", network=network))
    prod.run(*UP)
    assert "Namespace mlrun" in prod.objects()

    prod.aws.stand(Place(address="10.61.0.5", network=network))
    elsewhere = prod.run(*UP, check=False)
    assert elsewhere.returncode == 1
    assert "The Kubernetes API of 'prod' does not answer this machine at https://" in elsewhere.stderr
    assert "it answers apiClientCidrs (10.60.0.0/16) in its VPC" in elsewhere.stderr

    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.61.0.0/16"}]}
    eks = prod.aws.api("eks")
    group = eks.describe_cluster(name="mlrun-prod")["cluster"]["resourcesVpcConfig"]["clusterSecurityGroupId"]
    prod.aws.api("ec2").authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    prod.edit("prod", cluster__apiClientCidrs=["10.61.0.0/16"])
    prod.run("recover", "prod", "--hermetic", "--yes")
    prod.run(*UP)
    assert prod.aws.barrier("mlrun-prod", Place(address="10.60.0.5", network=network))


@pytest.mark.proofs  # test_edit_matrix.py shows the plan, and the test above a cluster that ends private
def test_a_public_api_becomes_private_in_place(tmp_path: Path) -> None:
    office, up = Place(address="203.0.113.7"), ("up", "dev", "--hermetic", "--yes")
    with Account.opened(tmp_path, "dev", is_quick=True) as made:
        made.edit("dev", policyGuard="off", **SMALL)
        made.aws.stand(office)
        made.run(*up)
        before = made.aws.inventory()["aws:eks/cluster:Cluster"]

        made.edit("dev", cluster__apiClientCidrs=["10.60.0.0/16"])
        made.run(*up)
        made.edit("dev", cluster__publicAccessCidrs=None)
        made.run(*up)
        assert made.aws.barrier("mlrun-dev", office)
        made.aws.stand(Place(address="10.60.0.5", network=connected(made, "mlrun-dev")))
        made.run(*up)
        assert made.aws.inventory()["aws:eks/cluster:Cluster"] == before


def peered(made: Subscription) -> str:
    """Peer a network of the pipeline with a cluster's, link it to the zone of the API's name, and return its id."""
    (network,) = made.azure.inventory()["azure-native:network:VirtualNetwork"]
    group = f"{network.partition('/resourceGroups/')[0]}/resourceGroups/pipeline"
    other = f"{group}/providers/Microsoft.Network/virtualNetworks/pipeline"

    def put(id_: str, version: str, **body: Any) -> None:
        told = made.azure.ask("PUT", id_, version, body)
        assert not told.code, told

    put(group, "2024-03-01", location="westeurope")
    space = {"addressSpace": {"addressPrefixes": ["10.60.0.0/16"]}}
    put(other, "2024-05-01", location="westeurope", properties=space)
    for one, to in ((network, other), (other, network)):
        back = {"remoteVirtualNetwork": {"id": to}}
        put(f"{one}/virtualNetworkPeerings/pipeline", "2024-05-01", properties=back)
    (zone,) = made.azure.inventory()["Microsoft.Network/privateDnsZones"]
    link = {"virtualNetwork": {"id": other}, "registrationEnabled": False}
    put(f"{zone}/virtualNetworkLinks/pipeline", "2024-06-01", location="global", properties=link)
    return other


def test_production_on_aks_is_made_in_two_runs_the_second_from_a_peered_and_linked_network(tmp_path: Path) -> None:
    with Subscription.opened(tmp_path, "aks-prod") as made:
        made.azure.stand(Place(address="203.0.113.7"))
        first = made.run(*UP_ON_AKS, check=False)
        assert first.returncode == 1
        assert "no other network is connected yet, so this `up` stops at the first Kubernetes object" in first.stderr
        assert "The Kubernetes API does not answer this machine. The API is private: it answers in its network" in (
            first.stderr
        )
        assert made.agent_pools("workload")

        made.azure.stand(Place(network=peered(made)))
        made.run(*UP_ON_AKS)
        assert "Namespace default-tenant" in made.objects()

        made.azure.stand(Place(address="203.0.113.7"))
        elsewhere = made.run(*UP_ON_AKS, check=False)
        assert elsewhere.returncode == 1
        assert "The Kubernetes API of 'aks-prod' does not answer this machine at https://" in elsewhere.stderr
