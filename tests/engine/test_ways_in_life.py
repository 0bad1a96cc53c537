"""Ways in on both emulators: rights and names that are made, changed, killed on the way, and gone with their key."""

from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY
from support import aws_emulator, azure_emulator, lives
from support.aws import refused
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.azure_resources import GROUP
from support.cloud_account import CloudAccount
from support.eks_account import pod_token
from support.lives import kill
from workbench.offline.azure.facts import resource

pytestmark = [pytest.mark.engine, pytest.mark.full]

CLUSTER = "mlrun-dev"
INGRESS = {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"]}
NAMED = {**INGRESS, "hostedZoneId": "Z0123456789ABC"}
CONTROLLER, DNS = "kube-system:aws-load-balancer-controller", "external-dns:external-dns"


@pytest.fixture
def azure(azure: Subscription) -> Subscription:
    # The group of the zones is their owner's.
    told = azure.azure.ask("PUT", dns_group(azure), resource(GROUP).api_version, {"location": "westeurope"})
    assert told.status == 201, told
    return azure


def dns_group(azure: Subscription) -> str:
    """Return the id of the resource group in which the zones are."""
    cluster = yaml.safe_load(azure.stack_file("aks-dev").read_text())["config"][CONFIG_KEY]["cluster"]
    return f"/subscriptions/{cluster['subscriptionId']}/resourceGroups/dns"


def bring_up(cloud: CloudAccount, stack: str, ingress: dict[str, Any] | None) -> list[str]:
    """Give the stack ways in, or none, and return the operations that change something."""
    return lives.bring_up(cloud, stack, cluster__ingress=ingress)


def test_ways_in_to_aws_live(aws: Account) -> None:
    bring_up(aws, "dev", NAMED)
    auth, eks = aws.aws.api("eks-auth"), aws.aws.api("eks")

    def role(account: str) -> str:
        token = pod_token(f"system:serviceaccount:{account}")
        arn: str = auth.assume_role_for_pod_identity(clusterName=CLUSTER, token=token)["assumedRoleUser"]["arn"]
        return arn

    assert "dev-load-balancers" in role(CONTROLLER)
    assert "dev-dns-addons-external-dns" in role(DNS)
    for other in ("kube-system:external-dns", "external-dns:default"):
        with refused("ResourceNotFoundException"):
            role(other)
    assert eks.describe_addon(clusterName=CLUSTER, addonName="external-dns")["addon"]["status"] == "ACTIVE"

    # The certificate and the ranges are values of the controller's chart, and nothing in AWS.
    assert bring_up(aws, "dev", {**NAMED, "clientCidrs": ["10.1.0.0/16"]}) == []
    assert bring_up(aws, "dev", {**NAMED, "domain": "data.example.com"}) == ["eks:UpdateAddon", "iam:PutRolePolicy"]
    assert bring_up(aws, "dev", INGRESS) == ["eks:DeleteAddon", "iam:DeleteRole", "iam:DeleteRolePolicy"]

    aws.edit("dev", cluster__ingress=NAMED)
    kill(aws, "dev", "eks:CreateAddon")
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    assert bring_up(aws, "dev", None) == [
        "eks:DeleteAddon",
        "eks:DeletePodIdentityAssociation",
        *["iam:DeleteRole"] * 2,
        *["iam:DeleteRolePolicy"] * 2,
    ]
    with refused("ResourceNotFoundException"):
        role(CONTROLLER)


ASSIGNMENT = "Microsoft.Authorization/roleAssignments"
IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities"
CREDENTIAL = f"{IDENTITY}/federatedIdentityCredentials"


def test_names_in_a_zone_of_azure_live(azure: Subscription) -> None:
    # The emulator has no public zones: what it has no type for is taken to exist.
    zones = f"{dns_group(azure)}/providers/Microsoft.Network"
    theirs = azure_emulator.there(azure)
    owned = {"domain": "ml.example.com", "className": "traefik"}
    named = {**owned, "dnsZoneId": f"{zones}/dnszones/example.com"}
    bring_up(azure, "aks-dev", owned)
    assert bring_up(azure, "aks-dev", named) == [
        *[f"{ASSIGNMENT}/write"] * 2,
        f"{CREDENTIAL}/write",
        f"{IDENTITY}/write",
    ]
    # The domain is a value of the chart, another zone another role; the group is the same.
    assert bring_up(azure, "aks-dev", {**named, "domain": "data.example.com"}) == []
    other = {**named, "dnsZoneId": f"{zones}/dnszones/ml.example.com"}
    assert bring_up(azure, "aks-dev", other) == [f"{ASSIGNMENT}/delete", f"{ASSIGNMENT}/write"]
    assert bring_up(azure, "aks-dev", owned) == [
        *[f"{ASSIGNMENT}/delete"] * 2,
        f"{IDENTITY}/delete",
        f"{CREDENTIAL}/delete",
    ]

    azure.edit("aks-dev", cluster__ingress=named)
    kill(azure, "aks-dev", f"{CREDENTIAL}/write")
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_azure == in_state | theirs
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), theirs)
