"""Identities have the least that they need, and there are no permanent keys."""

from typing import Any
from uuid import UUID

from support.aks import (
    ADMINS,
    CLUSTER,
    CLUSTER_ID,
    DEPLOYER,
    DISK_SET_ID,
    EXISTING,
    GROUP_ID,
    KEY_ID,
    NO_INTERNET,
    REGISTRY_ID,
    ROLE_ASSIGNMENT,
    SUBNET_ID,
    SUBSCRIPTION,
    ZONE_ID,
    build,
    built,
)
from support.recorder import Recorder

TEAM = "33333333-3333-3333-3333-333333333333"
CONTROL_PLANE = "test-identities-control-plane-principal"
KUBELET_ID = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/research-kubelet"
VAULT_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/keys/providers/Microsoft.KeyVault/vaults/research"
ROLES = {
    "4d97b98b-1d4f-4787-a291-c67834d212e7": "Network Contributor",
    "b12aa53e-6015-4669-85d0-8515ebb3ae7f": "Private DNS Zone Contributor",
    "f1a07417-d97a-45cb-824c-7a7467783830": "Managed Identity Operator",
    "12338af0-0e69-4776-bea7-57ae8d297424": "Key Vault Crypto User",
    "acdd72a7-3385-48ef-bd42-f606fba81ae7": "Reader",
    "7f951dda-4ed3-4680-a7ca-43fe172d538d": "AcrPull",
    "4abbcc35-e782-43d8-92c5-2d3f1bd2253f": "Azure Kubernetes Service Cluster User Role",
    "7f6c6a51-bcf8-42ba-9220-52d62157d7db": "Azure Kubernetes Service RBAC Reader",
    "3498e952-d568-435e-9b2c-8d77e338d7f7": "Azure Kubernetes Service RBAC Admin",
    "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b": "Azure Kubernetes Service RBAC Cluster Admin",
}
"""https://learn.microsoft.com/azure/role-based-access-control/built-in-roles."""


def given(recorder: Recorder) -> set[tuple[str, str, str, str]]:
    """Return who has which role where, and what kind of principal it is said to be."""
    return {
        (a["principalId"], ROLES[a["roleDefinitionId"].rpartition("/")[2]], a["scope"], a["principalType"])
        for a in recorder.of_type(ROLE_ASSIGNMENT).values()
    }


def test_roles_are_these_and_no_others() -> None:
    assert given(built()) == {
        (CONTROL_PLANE, "Network Contributor", SUBNET_ID, "ServicePrincipal"),
        (CONTROL_PLANE, "Private DNS Zone Contributor", SUBNET_ID.removesuffix("/subnets/nodes"), "ServicePrincipal"),
        (CONTROL_PLANE, "Managed Identity Operator", KUBELET_ID, "ServicePrincipal"),
        (CONTROL_PLANE, "Key Vault Crypto User", VAULT_ID, "ServicePrincipal"),
        (CONTROL_PLANE, "Reader", DISK_SET_ID, "ServicePrincipal"),
        (DEPLOYER, "Azure Kubernetes Service Cluster User Role", GROUP_ID, "ServicePrincipal"),
        (DEPLOYER, "Azure Kubernetes Service RBAC Cluster Admin", GROUP_ID, "ServicePrincipal"),
        (ADMINS, "Azure Kubernetes Service Cluster User Role", GROUP_ID, "Group"),
    }


def test_without_own_keys_the_control_plane_has_no_role_on_any() -> None:
    without = {"cluster.secretsKeyId": None, "cluster.diskEncryptionSetId": None}
    assert {role for who, role, _, _ in given(build(without)) if who == CONTROL_PLANE} == {
        "Network Contributor",
        "Private DNS Zone Contributor",
        "Managed Identity Operator",
    }


def test_a_zone_of_ones_own_needs_a_role_on_it() -> None:
    zones = given(build({"cluster.privateDnsZoneId": ZONE_ID})) - given(built())
    assert zones == {(CONTROL_PLANE, "Private DNS Zone Contributor", ZONE_ID, "ServicePrincipal")}


def test_nodes_may_pull_from_the_registry_of_an_isolated_cluster_before_it_is_created() -> None:
    isolated = build(NO_INTERNET)
    pull = given(isolated) - given(build({"cluster.network": EXISTING}))
    assert pull == {("test-identities-kubelet-principal", "AcrPull", REGISTRY_ID, "ServicePrincipal")}
    assert (ROLE_ASSIGNMENT, "test-identities-registry") in isolated.needs((CLUSTER, "test-cluster"))


def test_isolated_clusters_with_one_registry_have_assignments_of_their_own() -> None:
    names = {
        build({**NO_INTERNET, "cluster.name": cluster}).of_type(ROLE_ASSIGNMENT)["test-identities-registry"][
            "roleAssignmentName"
        ]
        for cluster in ("research", "other")
    }
    assert len(names) == 2


def test_clusters_that_share_a_network_a_zone_and_keys_have_assignments_of_their_own() -> None:
    shared = {"cluster.network": EXISTING, "cluster.privateDnsZoneId": ZONE_ID}
    found = [build({**shared, "cluster.name": cluster}).of_type(ROLE_ASSIGNMENT) for cluster in ("research", "other")]
    rights = [{name: each for name, each in made.items() if name.startswith("test-identities-")} for made in found]
    one, other = ({each["roleAssignmentName"]: each["scope"] for each in made.values()} for made in rights)
    assert {ZONE_ID, VAULT_ID, DISK_SET_ID, EXISTING["nodeSubnetId"].removesuffix("/subnets/nodes")} <= {*one.values()}
    assert one.keys().isdisjoint(other.keys())


def test_an_assignment_keeps_the_name_that_an_earlier_release_gave_it() -> None:
    """Azure would refuse the same role under another name before the old one is deleted."""
    mine = {name: each for (type_, name), each in built().options.items() if type_ == ROLE_ASSIGNMENT}
    kept = {name: each for name, each in mine.items() if name.startswith("test-identities-")}
    assert {(each.ignore_changes, each.delete_before_replace) for each in kept.values()} == {
        (("roleAssignmentName",), True)
    }
    assert len(kept) == 5


def test_the_role_on_the_vault_before_stays_under_its_name() -> None:
    other = KEY_ID.replace("vaults/research", "vaults/Other")
    recorder = build({"cluster.secretsKeyId": other, "cluster.previousSecretsKeyId": KEY_ID})
    scopes = {scope for _, role, scope, _ in given(recorder) if role == "Key Vault Crypto User"}
    assert scopes == {VAULT_ID, VAULT_ID.replace("/research", "/Other")}
    old, new = (f"test-identities-secrets-key-{vault}" for vault in ("research", "other"))
    before = built().of_type(ROLE_ASSIGNMENT)[old]
    assert recorder.of_type(ROLE_ASSIGNMENT)[old] == before
    assert new in recorder.of_type(ROLE_ASSIGNMENT)


def test_two_keys_of_one_vault_need_one_role() -> None:
    changes = {
        "cluster.previousSecretsKeyId": KEY_ID.replace("0123", "4567").replace("/vaults/research", "/vaults/RESEARCH")
    }
    assert given(build(changes)) == given(built())


def test_only_a_private_cluster_has_a_zone_to_link_to_its_network() -> None:
    theirs = EXISTING["nodeSubnetId"].removesuffix("/subnets/nodes")
    private = {"cluster.network": EXISTING}
    public = {**private, "cluster.authorizedRanges": ["203.0.113.0/24"]}
    assert [scope for _, role, scope, _ in given(build(private)) if role.startswith("Private DNS")] == [theirs]
    assert [scope for _, role, scope, _ in given(build(public)) if role.startswith("Private DNS")] == []


def test_an_entry_reaches_the_cluster_or_the_namespaces_that_it_names() -> None:
    team = {"objectId": TEAM, "level": "admin", "namespaces": ["mlrun", "team"]}
    audit = {"objectId": "44444444-4444-4444-4444-444444444444", "level": "view", "principal": "user"}
    found = given(build({"cluster.access.entries": {"team": team, "audit": audit}}))
    assert {(role, scope) for who, role, scope, _ in found if who == TEAM} == {
        ("Azure Kubernetes Service Cluster User Role", GROUP_ID),
        ("Azure Kubernetes Service RBAC Admin", f"{CLUSTER_ID}/namespaces/mlrun"),
        ("Azure Kubernetes Service RBAC Admin", f"{CLUSTER_ID}/namespaces/team"),
    }
    assert (audit["objectId"], "Azure Kubernetes Service RBAC Reader", GROUP_ID, "User") in found


def test_a_role_in_a_namespace_goes_with_its_cluster_and_is_made_again_with_the_next() -> None:
    team = {"objectId": TEAM, "level": "admin", "namespaces": ["mlrun"]}
    made = build({"cluster.access.entries": {"team": team}}).options
    follows = {name: each for (type_, name), each in made.items() if type_ == ROLE_ASSIGNMENT and each.replaced_with}
    assert list(follows) == ["test-cluster-team.namespaces.mlrun"]
    (role,) = follows.values()
    assert (role.replaced_with, role.delete_before_replace) == (((CLUSTER, "test-cluster"),), True)


def test_entries_that_read_alike_with_a_dash_have_different_names() -> None:
    people: list[dict[str, Any]] = [{"objectId": TEAM.replace("3", digit), "level": "view"} for digit in "345"]
    people[0]["namespaces"], people[1]["namespaces"] = ["user", "a-b"], ["b"]
    entries = dict(zip(("team", "team-a", "team-user"), people, strict=True))
    recorder = build({"cluster.access.entries": entries})
    names = [each.name for each in recorder.resources if each.type == ROLE_ASSIGNMENT]
    assert sorted(set(names)) == sorted(names)
    assert "test-cluster-team-user" in names


def test_a_role_has_the_same_name_in_every_run_and_another_for_another_principal() -> None:
    names = {name: a["roleAssignmentName"] for name, a in built().of_type(ROLE_ASSIGNMENT).items()}
    again = build().of_type(ROLE_ASSIGNMENT)
    assert names == {name: a["roleAssignmentName"] for name, a in again.items()}
    assert len({UUID(name) for name in names.values()}) == len(names)
    other = build({"cluster.access.deployerObjectId": TEAM}).of_type(ROLE_ASSIGNMENT)
    assert other["test-cluster-deployer"]["roleAssignmentName"] != names["test-cluster-deployer"]


def test_a_role_on_somebody_elses_subnet_is_one_of_its_own_subscription() -> None:
    theirs = "55555555-5555-5555-5555-555555555555"
    subnet = EXISTING["nodeSubnetId"].replace(SUBSCRIPTION, theirs)
    roles = build({"cluster.network": {**EXISTING, "nodeSubnetId": subnet}}).of_type(ROLE_ASSIGNMENT)
    role = roles["test-identities-subnet"]
    assert role["scope"] == subnet
    assert role["roleDefinitionId"].startswith(f"/subscriptions/{theirs}/")


def test_identities_and_their_roles_are_there_before_the_cluster() -> None:
    before = {name for type_, name in built().needs((CLUSTER, "test-cluster")) if type_ == ROLE_ASSIGNMENT}
    assert before >= {
        f"test-identities-{part}" for part in ("subnet", "network", "kubelet", "secrets-key-research", "disk-key")
    }


def test_the_nodes_have_an_identity_of_their_own() -> None:
    cluster = built().of_type(CLUSTER)["test-cluster"]
    assert cluster["identity"] == {
        "type": "UserAssigned",
        "userAssignedIdentities": ["test-identities-control-plane-id"],
    }
    assert cluster["identityProfile"]["kubeletidentity"] == {
        "resourceId": "test-identities-kubelet-id",
        "clientId": "test-identities-kubelet-client",
        "objectId": "test-identities-kubelet-principal",
    }


def test_objects_in_the_cluster_go_before_the_role_that_lets_us_in() -> None:
    role = (ROLE_ASSIGNMENT, "test-cluster-deployer")
    inside = [r for r in built().resources if r.type.startswith("kubernetes:")]
    assert inside
    assert [r.name for r in inside if role not in built().needs((r.type, r.name))] == []


def test_nothing_makes_a_key_or_an_application() -> None:
    kinds = {r.type.lower() for r in built("prod").resources}
    assert not [k for k in kinds if any(word in k for word in ("secret", "certificate", "serviceprincipal", "sshkey"))]
