"""The identity of a namespace's jobs on both emulators: made, changed, killed on the way, and gone with its key."""

from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY
from support import aws_emulator, azure_emulator
from support.aws import refused
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.azure_resources import GROUP
from support.cloud_account import CloudAccount
from support.eks_account import pod_token
from support.lives import bring_up, kill
from workbench.offline.azure.facts import resource

pytestmark = [pytest.mark.engine, pytest.mark.full]

CLUSTER = "mlrun-dev"


def give(cloud: CloudAccount, stack: str, identity: dict[str, Any] | None) -> list[str]:
    """Give the namespace jobs an identity, or none, and return the operations that change something."""
    return bring_up(
        cloud, stack, namespaces={"mlrun": {"coreServices": True}, "jobs": {"identity": identity} if identity else {}}
    )


@pytest.fixture
def azure(azure: Subscription) -> Subscription:
    # The storage account is its owner's.
    place, group = {"location": "westeurope"}, data_group(azure)
    account = f"{group}/providers/Microsoft.Storage/storageAccounts/mldata"
    whole = {**place, "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}}
    for id_, type_, body in (
        (group, GROUP, place),
        (account, "azure-native:storage:StorageAccount", whole),
        (f"{account}/blobServices/default/containers/models", "azure-native:storage:BlobContainer", {}),
    ):
        told = azure.azure.ask("PUT", id_, resource(type_).api_version, body)
        assert told.status in (200, 201, 202), told
    return azure


def data_group(azure: Subscription) -> str:
    """Return the id of the resource group in which the storage account is."""
    cluster = yaml.safe_load(azure.stack_file("aks-dev").read_text())["config"][CONFIG_KEY]["cluster"]
    return f"/subscriptions/{cluster['subscriptionId']}/resourceGroups/data"


def test_an_identity_in_aws_lives(aws: Account) -> None:
    bucket = {"bucket": "ml-data", "prefix": "vision/"}
    give(aws, "dev", {"buckets": [bucket]})
    auth = aws.aws.api("eks-auth")
    got = auth.assume_role_for_pod_identity(clusterName=CLUSTER, token=pod_token("system:serviceaccount:jobs:igz-jobs"))
    assert "dev-jobs-jobs" in got["assumedRoleUser"]["arn"]
    for other in ("jobs:default", "mlrun:igz-jobs"):
        with refused("ResourceNotFoundException"):
            auth.assume_role_for_pod_identity(clusterName=CLUSTER, token=pod_token(f"system:serviceaccount:{other}"))

    assert give(aws, "dev", {"buckets": [{**bucket, "access": "write"}]}) == ["iam:PutRolePolicy"]
    changed = give(aws, "dev", {"buckets": [bucket], "accounts": ["sparkapp"]})
    assert changed == ["eks:CreatePodIdentityAssociation", "iam:PutRolePolicy", "iam:UpdateAssumeRolePolicy"]
    assert auth.assume_role_for_pod_identity(
        clusterName=CLUSTER, token=pod_token("system:serviceaccount:jobs:sparkapp")
    )["credentials"]

    aws.edit("dev", namespaces__jobs={"identity": {"buckets": [bucket], "accounts": ["sparkapp", "more"]}})
    kill(aws, "dev", "eks:CreatePodIdentityAssociation")
    in_state, in_aws = aws_emulator.identities(aws, "dev")
    assert in_state == in_aws

    assert give(aws, "dev", None) == [
        *["eks:DeletePodIdentityAssociation"] * 3,
        "iam:DeleteRole",
        "iam:DeleteRolePolicy",
    ]
    with refused("ResourceNotFoundException"):
        auth.assume_role_for_pod_identity(clusterName=CLUSTER, token=pod_token("system:serviceaccount:jobs:igz-jobs"))


CREDENTIAL = "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials"
ASSIGNMENT = "Microsoft.Authorization/roleAssignments"


def test_an_identity_in_entra_lives(azure: Subscription) -> None:
    container = {"account": "mldata", "resourceGroup": "data", "container": "models", "prefix": "vision/"}
    registry = f"{data_group(azure)}/providers/Microsoft.ContainerRegistry/registries/mlimages"
    theirs = azure_emulator.there(azure)
    give(azure, "aks-dev", {"containers": [container]})
    [credential] = azure.azure.inventory()["azure-native:managedidentity:FederatedIdentityCredential"]
    assert credential.lower().endswith("-jobs-jobs/federatedidentitycredentials/account-igz-jobs")

    # The condition changes in place, another role is another assignment.
    other = {**container, "prefix": "speech/"}
    assert give(azure, "aks-dev", {"containers": [other]}) == [f"{ASSIGNMENT}/write"]
    changed = give(azure, "aks-dev", {"containers": [{**other, "access": "write"}], "accounts": ["sparkapp"]})
    assert changed == [f"{ASSIGNMENT}/delete", f"{ASSIGNMENT}/write", f"{CREDENTIAL}/write"]

    gone = give(azure, "aks-dev", None)
    assert gone[:1] == [f"{ASSIGNMENT}/delete"]
    assert gone.count(f"{CREDENTIAL}/delete") == 2

    whole = {"containers": [container], "registries": [{"registryId": registry}], "accounts": ["sparkapp", "more"]}
    azure.edit("aks-dev", namespaces__jobs={"identity": whole})
    kill(azure, "aks-dev", f"{CREDENTIAL}/write")
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_azure == in_state | theirs
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), theirs)
