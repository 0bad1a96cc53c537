"""What is for closed networks, on both emulators: set, changed, killed on the way, and removed."""

import base64
from typing import Any

import pytest

from components.contract.certificates import EXAMPLE
from support import aws_emulator, azure_emulator, lives
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.azure_resources import ADDRESS, ASSIGNMENT, CLUSTER, COLLECTION, GROUP, NAT, NETWORK
from support.cloud_account import CloudAccount
from support.cluster import eventually
from workbench.offline.azure.facts import resource

pytestmark = [pytest.mark.engine, pytest.mark.full]

PROXY = {"http": "http://proxy.corp.example:3128", "except": [".corp.example"]}
OTHER = {**PROXY, "except": [".corp.example", ".other.example"]}


def bring_up(cloud: CloudAccount, stack: str, **cluster: Any) -> list[str]:
    """Change the cluster and return the operations that change something."""
    return lives.bring_up(cloud, stack, **{f"cluster__{key}": value for key, value in cluster.items()})


def user_data(aws: Account) -> set[str]:
    """Return the user data of the newest version of each launch template."""
    ec2 = aws.aws.api("ec2")
    templates = [each["LaunchTemplateId"] for each in ec2.describe_launch_templates()["LaunchTemplates"]]
    newest = [
        ec2.describe_launch_template_versions(LaunchTemplateId=id_, Versions=["$Latest"])["LaunchTemplateVersions"][0]
        for id_ in templates
    ]
    given = [
        each["LaunchTemplateData"].get("UserData", "")
        for each in newest
        if each["LaunchTemplateName"].startswith("dev-")
    ]
    return {base64.b64decode(each).decode() for each in given}


def test_nodes_of_eks_follow_proxy_and_certificates(aws: Account) -> None:
    bring_up(aws, "dev", proxy=PROXY, trustedCertificates=[EXAMPLE], nodeMirrors={"quay.io": "mirror.corp.example"})
    (found,) = user_data(aws)
    assert "/etc/containerd/certs.d/quay.io/hosts.toml" in found
    assert PROXY["http"] in found
    assert EXAMPLE in found
    assert bring_up(aws, "dev") == []
    assert bring_up(aws, "dev", imageCaches=["k8s"]) == ["iam:PutRolePolicy"]

    groups = 2
    replaced = [
        *["ec2:CreateLaunchTemplateVersion"] * groups,
        *["ec2:ModifyLaunchTemplate"] * groups,
        *["eks:UpdateNodegroupVersion"] * groups,
    ]
    assert bring_up(aws, "dev", proxy=OTHER) == replaced
    (found,) = user_data(aws)
    assert ".other.example" in found

    aws.edit("dev", cluster__proxy=PROXY)
    lives.kill(aws, "dev", "ec2:CreateLaunchTemplateVersion")
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    assert bring_up(aws, "dev", proxy=None, trustedCertificates=None, nodeMirrors=None) == replaced
    assert user_data(aws) == {""}


BLOCK = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"


def test_a_range_of_pods_comes_with_the_cluster_and_stays(aws: Account) -> None:
    given = {"prefixDelegation": True, "podCidr": "100.64.0.0/16", "addonVersions": {"vpc-cni": "v1.22.4-eksbuild.1"}}
    aws.edit("dev", **{f"cluster__{key}": value for key, value in given.items()})
    lives.kill(aws, "dev", "ec2:AssociateVpcCidrBlock")
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws
    assert len(aws.aws.inventory()[BLOCK]) == 1
    assert bring_up(aws, "dev") == []

    aws.edit("dev", cluster__podCidr=None)
    refused = aws.run("up", "dev", "--hermetic", "--yes", check=False)
    assert refused.returncode == 1
    assert "no range of pods, but the cluster has 100.64.0.0/16" in refused.stdout + refused.stderr
    aws.edit("dev", cluster__prefixDelegation=None)
    refused = aws.run("up", "dev", "--hermetic", "--yes", check=False)
    assert "single addresses, but the cluster has addresses in prefixes" in refused.stdout + refused.stderr
    aws.edit("dev", cluster__prefixDelegation=True, cluster__podCidr="100.64.0.0/16")
    assert aws_emulator.left_by_destroy(aws, "dev") == set()


GATEWAYS = {"aws:ec2/natGateway:NatGateway", "aws:ec2/internetGateway:InternetGateway", "aws:ec2/eip:Eip"}
CREATED = {"kind": "created", "cidr": "10.20.0.0/16"}


def test_a_closed_network_opens_and_closes_again(aws: Account) -> None:
    closed = {**CREATED, "internet": "none"}
    private = {"publicAccessCidrs": None, "apiClientCidrs": ["10.60.0.0/16"]}
    bring_up(aws, "dev", network=closed, **private, imageRegistries={"registry.k8s.io": "mirror.corp.example"})
    assert not GATEWAYS & aws.aws.inventory().keys()

    aws.edit("dev", cluster__network=CREATED)
    last = aws.last
    lives.kill(aws, "dev", "ec2:CreateNatGateway")
    opened = [each.operation for each in aws_emulator.writes(aws.aws.calls(last))]
    assert opened.count("ec2:CreateNatGateway") == 1
    assert not [each for each in opened if each.startswith("eks:")]
    assert aws.aws.inventory().keys() >= GATEWAYS

    bring_up(aws, "dev", network=closed)
    assert not GATEWAYS & aws.aws.inventory().keys()
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws
    assert aws_emulator.left_by_destroy(aws, "dev") == set()


WRITE = "Microsoft.ContainerService/managedClusters/write"


def properties(azure: Subscription) -> dict[str, Any]:
    [cluster] = azure.azure.inventory()[CLUSTER]
    found: dict[str, Any] = azure.azure.ask("GET", cluster, resource(CLUSTER).api_version).body["properties"]
    return found


def test_nodes_of_aks_follow_proxy_and_certificates(azure: Subscription) -> None:
    bring_up(azure, "aks-dev", proxy=PROXY, trustedCertificates=[EXAMPLE])
    found = properties(azure)
    assert found["httpProxyConfig"]["httpProxy"] == f"{PROXY['http']}/"
    assert "konnectivity" in found["httpProxyConfig"]["noProxy"]
    [certificate] = found["securityProfile"]["customCATrustCertificates"]
    assert base64.b64decode(certificate).decode() == EXAMPLE
    # What AKS adds to the exceptions is no drift.
    assert bring_up(azure, "aks-dev") == []

    assert bring_up(azure, "aks-dev", proxy=OTHER) == [WRITE]
    assert "other.example" in properties(azure)["httpProxyConfig"]["noProxy"]

    azure.edit("aks-dev", cluster__proxy=PROXY)
    lives.kill(azure, "aks-dev", WRITE)
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_state == in_azure

    azure.edit("aks-dev", cluster__proxy=None, cluster__trustedCertificates=None)
    last = azure.last
    printed = azure.run("up", "aks-dev", "--hermetic", "--yes").stderr
    assert "--disable-http-proxy" in printed
    assert [each.operation for each in azure_emulator.writes(azure.emulator.calls(last))] == [WRITE]
    # AKS keeps what is left out.
    assert properties(azure)["httpProxyConfig"]["httpProxy"] == f"{PROXY['http']}/"
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())


OWNER = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups"
THEIRS = f"{OWNER}/network/providers/Microsoft.Network/virtualNetworks/research"
REGISTRY = f"{OWNER}/images/providers/Microsoft.ContainerRegistry/registries/research"
EXISTING = {
    "kind": "existing",
    "cidr": "10.30.0.0/20",
    "nodeSubnetId": f"{THEIRS}/subnets/nodes",
    "nodeCidr": "10.30.0.0/21",
}
ISOLATED = {**EXISTING, "internet": "none", "registryId": REGISTRY}


def put(azure: Subscription, id_: str, type_: str = NETWORK, **body: Any) -> None:
    """Make a resource of the owner by the API of a type, and wait until it is there."""
    version = resource(type_).api_version
    eventually(lambda: azure.azure.ask("PUT", id_, version, body).status in (200, 201))
    eventually(lambda: azure.azure.ask("GET", id_, version).body["properties"]["provisioningState"] == "Succeeded")


def network_without_a_gateway(azure: Subscription) -> None:
    put(azure, f"{OWNER}/network", GROUP, location="westeurope")
    put(azure, THEIRS, location="westeurope", properties={"addressSpace": {"addressPrefixes": ["10.30.0.0/20"]}})
    nodes = {"addressPrefix": EXISTING["nodeCidr"], "defaultOutboundAccess": False}
    put(azure, EXISTING["nodeSubnetId"], properties=nodes)


def test_an_isolated_cluster_lives_in_a_network_of_its_owner_by_a_registry(azure: Subscription) -> None:
    network_without_a_gateway(azure)
    put(azure, f"{OWNER}/images", GROUP, location="westeurope")
    theirs = azure_emulator.there(azure)
    azure.edit("aks-dev", cluster__network=ISOLATED, cluster__authorizedRanges=None)
    lives.kill(azure, "aks-dev", "Microsoft.Authorization/roleAssignments/write")  # in what belongs to others
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_azure == in_state | theirs
    found = properties(azure)
    assert found["networkProfile"]["outboundType"] == "none"
    assert found["bootstrapProfile"] == {"artifactSource": "Cache", "containerRegistryId": REGISTRY}
    assert found["apiServerAccessProfile"]["enablePrivateCluster"]
    assert "omsagent" not in (found.get("addonProfiles") or {})
    there = azure.azure.inventory()
    assert not {NAT, ADDRESS, COLLECTION} & there.keys()
    assert [each for each in there[ASSIGNMENT] if each.lower().startswith(REGISTRY.lower())]
    assert bring_up(azure, "aks-dev", trustedCertificates=[EXAMPLE]) == [WRITE]

    azure.edit("aks-dev", cluster__network=EXISTING)
    refused = azure.run("up", "aks-dev", "--hermetic", "--yes", check=False)
    assert refused.returncode == 1
    assert "nat, but the cluster has none" in refused.stdout + refused.stderr

    azure.edit("aks-dev", cluster__network=ISOLATED)
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), theirs)


def test_nodes_behind_a_firewall_need_its_route_before_the_cluster(azure: Subscription) -> None:
    network_without_a_gateway(azure)
    theirs = azure_emulator.there(azure)
    azure.edit("aks-dev", cluster__network={**EXISTING, "internet": "firewall"})
    refused = azure.plain("aks-dev", "up", "--yes", "--skip-preview", check=False)
    assert "ExistingRouteTableNotAssociatedWithSubnet" in refused.stdout + refused.stderr

    table = f"{OWNER}/network/providers/Microsoft.Network/routeTables/research"
    hop = {"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.30.8.4"}
    put(azure, table, location="westeurope", properties={"routes": [{"name": "firewall", "properties": hop}]})
    nodes = {"addressPrefix": EXISTING["nodeCidr"], "routeTable": {"id": table}}
    put(azure, EXISTING["nodeSubnetId"], properties=nodes)
    lives.kill(azure, "aks-dev", WRITE)
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_azure - in_state == theirs | {f"azure-native:network:RouteTable {table.lower()}"}
    found = properties(azure)
    assert found["networkProfile"]["outboundType"] == "userDefinedRouting"
    assert found["addonProfiles"]["omsagent"]["enabled"]
    assert not {NAT, ADDRESS} & azure.azure.inventory().keys()
    assert bring_up(azure, "aks-dev", trustedCertificates=[EXAMPLE]) == [WRITE]
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), in_azure - in_state)
