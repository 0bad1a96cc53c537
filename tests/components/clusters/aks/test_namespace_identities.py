"""A namespace's jobs use their container and nothing else, by Azure's documented evaluation of conditions."""

from functools import cache
from typing import Any

import pytest

from support.aks import build
from support.azure_conditions import Asked, allows
from support.recorder import Recorder

ASSIGNMENT = "azure-native:authorization:RoleAssignment"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
MUTATION = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
NOBODY = "/subscriptions/00000000-0000-0000-0000-000000000000"
REGISTRY = f"{NOBODY}/resourceGroups/ml/providers/Microsoft.ContainerRegistry/registries/mlimages"
KEY = f"{NOBODY}/resourceGroups/ml/providers/Microsoft.KeyVault/vaults/ml-keys/keys/models"
BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
READER, CONTRIBUTOR = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1", "ba92f5b4-2d11-453d-a403-e96b0029c9fe"

DATA = {"account": "mldata", "resourceGroup": "data"}
VISION: dict[str, Any] = {
    "containers": [
        {**DATA, "container": "models", "prefix": "vision/", "access": "write"},
        {**DATA, "container": "models", "prefix": "shared/"},
        {**DATA, "container": "models", "prefix": "labels/"},
        {**DATA, "container": "corpus"},
    ],
    "registries": [{"registryId": REGISTRY, "access": "write"}],
    "vaultKeys": [KEY],
    "accounts": ["sparkapp"],
}
NAMESPACES = {"mlrun": {"coreServices": True}, "vision": {"identity": VISION}}


@cache
def stack() -> Recorder:
    return build({"namespaces": NAMESPACES})


def assignment(name: str) -> dict[str, Any]:
    return stack().of_type(ASSIGNMENT)[f"test-jobs-vision.{name}"]


def condition(name: str) -> str:
    return str(assignment(name).get("condition", ""))


def test_namespaces_of_one_name_in_two_clusters_may_share_a_container() -> None:
    other = build({"namespaces": NAMESPACES, "cluster.name": "other"}).of_type(ASSIGNMENT)
    name = "test-jobs-vision.containers.mldata.models.write"
    assert other[name]["scope"] == stack().of_type(ASSIGNMENT)[name]["scope"]
    assert other[name]["roleAssignmentName"] != stack().of_type(ASSIGNMENT)[name]["roleAssignmentName"]
    assert stack().options[ASSIGNMENT, name].ignore_changes == ("roleAssignmentName",)


def test_each_grant_is_a_role_on_its_own_container_registry_or_key() -> None:
    made = {
        name.removeprefix("test-jobs-vision."): (given["roleDefinitionId"].rpartition("/")[2], given["scope"])
        for name, given in stack().of_type(ASSIGNMENT).items()
        if name.startswith("test-jobs-vision.")
    }
    subscription = (
        stack()
        .of_type(ASSIGNMENT)["test-jobs-vision.containers.mldata.models.read"]["scope"]
        .split("/resourceGroups/")[0]
    )
    account = f"{subscription}/resourceGroups/data/providers/Microsoft.Storage/storageAccounts/mldata"
    containers = f"{account}/blobServices/default/containers"
    assert made == {
        "containers.mldata.models.write": (CONTRIBUTOR, f"{containers}/models"),
        "containers.mldata.models.read": (READER, f"{containers}/models"),
        "containers.mldata.corpus.read": (READER, f"{containers}/corpus"),
        "registries.mlimages.write": ("8311e382-0749-4cb8-b61a-304f252e45ec", REGISTRY),
        "vault_keys.ml-keys.models": ("12338af0-0e69-4776-bea7-57ae8d297424", KEY),
    }
    assert assignment("containers.mldata.models.write")["conditionVersion"] == "2.0"
    assert "condition" not in assignment("containers.mldata.corpus.read")


USED = [
    ("write", "read", "vision/a", True),
    ("write", "write", "vision/a", True),
    ("write", "add/action", "vision/a", True),
    ("write", "delete", "vision/a", True),
    ("write", "move/action", "vision/a", True),
    ("write", "read", "vision-secret/a", False),
    ("write", "write", "shared/a", False),
    ("write", "delete", "speech/a", False),
    ("write", "move/action", "speech/a", False),
    ("write", "read", "VISION/a", False),
    ("read", "read", "shared/a", True),
    ("read", "read", "labels/a", True),
    ("read", "read", "vision/a", False),
    ("read", "read", "speech/a", False),
]


@pytest.mark.parametrize(("access", "action", "path", "is_allowed"), USED)
def test_blobs_are_used_below_the_prefixes_only(access: str, action: str, path: str, is_allowed: bool) -> None:
    asked = Asked(action=f"{BLOBS}/{action}", resource={f"{BLOBS}:path": path})
    assert allows(condition(f"containers.mldata.models.{access}"), asked) is is_allowed


@pytest.mark.parametrize(
    ("prefix", "is_allowed"), [("vision/", True), ("vision/2026/", True), ("", False), ("vision", False), (None, False)]
)
def test_a_container_is_listed_below_its_prefixes_only(prefix: str | None, is_allowed: bool) -> None:
    request = {} if prefix is None else {f"{BLOBS}:prefix": prefix}
    asked = Asked(action=f"{BLOBS}/read", sub_operation="Blob.List", request=request)
    assert allows(condition("containers.mldata.models.write"), asked) is is_allowed


def test_the_identity_trusts_the_accounts_of_the_namespace_only_one_after_another() -> None:
    credentials = stack().of_type(CREDENTIAL)
    assert {each["subject"] for each in credentials.values()} == {
        "system:serviceaccount:vision:igz-jobs",
        "system:serviceaccount:vision:sparkapp",
    }
    assert {tuple(each["audiences"]) for each in credentials.values()} == {("api://AzureADTokenExchange",)}
    assert (CREDENTIAL, "test-jobs-vision.igz-jobs") in stack().needs((CREDENTIAL, "test-jobs-vision.sparkapp"))


def test_accounts_name_the_identity_and_exist_only_after_it() -> None:
    account = stack().of_type(SERVICE_ACCOUNT)["vision.sparkapp"]
    assert account["metadata"]["annotations"]["azure.workload.identity/client-id"]
    needed = stack().needs((SERVICE_ACCOUNT, "vision.sparkapp"))
    assert needed >= {
        (CREDENTIAL, "test-jobs-vision.sparkapp"),
        (ASSIGNMENT, "test-jobs-vision.containers.mldata.models.write"),
    }


def test_grants_and_accounts_that_read_alike_with_a_dash_have_different_names() -> None:
    alike = {
        "ml": {
            "containers": [{**DATA, "account": "prod", "container": "abc-xyz"}],
            "registries": [{"registryId": REGISTRY}],
            "vaultKeys": [KEY.replace("ml-keys/keys/models", "mlimages/keys/read")],
            "accounts": ["prod-x"],
        },
        "ml-prod": {"containers": [{**DATA, "account": "abc", "container": "xyz"}], "accounts": ["x"]},
    }
    recorder = build({"namespaces": {name: {"identity": identity} for name, identity in alike.items()}})
    for type_, count in ((ASSIGNMENT, 4), (CREDENTIAL, 4)):
        names = [name for each in recorder.resources if each.type == type_ if "-jobs-" in (name := each.name)]
        assert (len(names), len(set(names))) == (count, count)


@pytest.mark.parametrize(("version", "is_there"), [("1.35", False), ("1.36", True)])
def test_pods_get_the_label_from_kubernetes_1_36_on(version: str, is_there: bool) -> None:
    recorder = build({"namespaces": NAMESPACES, "cluster.version": version})
    mutation = recorder.of_type(MUTATION).get("igz-cloud-identity")
    assert (mutation is not None) is is_there
    if mutation:
        [needs] = mutation["spec"]["matchConditions"]
        assert "{'vision': ['igz-jobs', 'sparkapp']}" in needs["expression"]


@pytest.mark.parametrize(
    "text", ["ForAnyOfAnyValues:StringEquals", "@Environment[utcNow] DateTimeEquals 'x'", "(!(ActionMatches{'a'})"]
)
def test_what_the_evaluation_does_not_know_is_no_verdict(text: str) -> None:
    with pytest.raises(NotImplementedError):
        allows(text, Asked(action="a"))
