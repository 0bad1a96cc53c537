"""What is for closed networks, on both emulators: set, changed, killed on the way, and removed."""

import base64
from typing import Any

import pytest

from components.contract.certificates import EXAMPLE
from support import aws_emulator, azure_emulator, lives
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.azure_resources import CLUSTER
from support.cloud_account import CloudAccount
from support.lives import kill
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
    kill(aws, "dev", "ec2:CreateLaunchTemplateVersion")
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    assert bring_up(aws, "dev", proxy=None, trustedCertificates=None, nodeMirrors=None) == replaced
    assert user_data(aws) == {""}


BLOCK = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"


def test_a_range_of_pods_comes_with_the_cluster_and_stays(aws: Account) -> None:
    given = {"prefixDelegation": True, "podCidr": "100.64.0.0/16", "addonVersions": {"vpc-cni": "v1.22.2-eksbuild.1"}}
    aws.edit("dev", **{f"cluster__{key}": value for key, value in given.items()})
    kill(aws, "dev", "ec2:AssociateVpcCidrBlock")
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
    # There is no API server that could delete objects first.
    aws.run("destroy", "dev", "--hermetic", "--yes", PULUMI_K8S_DELETE_UNREACHABLE="true")
    assert BLOCK not in aws.aws.inventory()


GATEWAYS = {"aws:ec2/natGateway:NatGateway", "aws:ec2/internetGateway:InternetGateway", "aws:ec2/eip:Eip"}
CREATED = {"kind": "created", "cidr": "10.20.0.0/16"}


def test_a_closed_network_opens_and_closes_again(aws: Account) -> None:
    closed = {**CREATED, "internet": "none"}
    private = {"publicAccessCidrs": None, "apiClientCidrs": ["10.60.0.0/16"]}
    bring_up(aws, "dev", network=closed, **private, imageRegistries={"registry.k8s.io": "mirror.corp.example"})
    assert not GATEWAYS & aws.aws.inventory().keys()

    opened = bring_up(aws, "dev", network=CREATED)
    assert opened.count("ec2:CreateNatGateway") == 1
    assert not [each for each in opened if each.startswith("eks:")]
    assert aws.aws.inventory().keys() >= GATEWAYS

    bring_up(aws, "dev", network=closed)
    assert not GATEWAYS & aws.aws.inventory().keys()
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws


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
    kill(azure, "aks-dev", WRITE)
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_state == in_azure

    azure.edit("aks-dev", cluster__proxy=None, cluster__trustedCertificates=None)
    last = azure.last
    printed = azure.run("up", "aks-dev", "--hermetic", "--yes").stderr
    assert "--disable-http-proxy" in printed
    assert [each.operation for each in azure_emulator.writes(azure.emulator.calls(last))] == [WRITE]
    # AKS keeps what is left out.
    assert properties(azure)["httpProxyConfig"]["httpProxy"] == f"{PROXY['http']}/"
