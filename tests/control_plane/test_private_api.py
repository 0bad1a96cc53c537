"""A first `up` of production, whose API is private, from where it reaches the API and from where it does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emulators.core.doors import Place
from support.aws_emulator import Account
from support.azure_emulator import Subscription

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


def test_a_public_api_becomes_private_in_place(tmp_path: Path) -> None:
    office, up = Place(address="203.0.113.7"), ("up", "dev", "--hermetic", "--yes")
    with Account.opened(tmp_path, "dev", is_quick=True) as made:
        made.edit("dev", policyGuard="off", **{f"pools__{name}": None for name in ("jupyter", "gpu", "spot")})
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


def test_production_on_aks_is_made_in_two_runs_the_second_from_inside_its_network(tmp_path: Path) -> None:
    with Subscription.opened(tmp_path, "aks-prod") as made:
        made.azure.stand(Place(address="203.0.113.7"))
        first = made.run(*UP_ON_AKS, check=False)
        assert first.returncode == 1
        assert "no other network is connected yet, so this `up` stops at the first Kubernetes object" in first.stderr
        assert "The Kubernetes API does not answer this machine. The API is private: it answers in its network" in (
            first.stderr
        )
        assert made.agent_pools("workload")

        (network,) = made.azure.inventory()["azure-native:network:VirtualNetwork"]
        made.azure.stand(Place(network=network))
        made.run(*UP_ON_AKS)
        assert "Namespace mlrun" in made.objects()

        made.azure.stand(Place(address="203.0.113.7"))
        elsewhere = made.run(*UP_ON_AKS, check=False)
        assert elsewhere.returncode == 1
        assert "The Kubernetes API of 'aks-prod' does not answer this machine at https://" in elsewhere.stderr
