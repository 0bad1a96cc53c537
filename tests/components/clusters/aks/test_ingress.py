"""What names of ways in make in Azure and in the cluster: the narrowest roles that external-dns can work with."""

import json
from functools import cache
from typing import Any

import pytest

from support.aks import CLUSTER, ROLE_ASSIGNMENT, SUBSCRIPTION, TENANT, build, built
from support.policies import Wire, sent
from support.recorder import Recorder

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
NAMESPACE = "kubernetes:core/v1:Namespace"
HUB = "44444444-4444-4444-4444-444444444444"
GROUP = f"/subscriptions/{HUB}/resourceGroups/dns"
PUBLIC = f"{GROUP}/providers/Microsoft.Network/dnszones/example.com"
PRIVATE = f"{GROUP}/providers/Microsoft.Network/privateDnsZones/ml.example.com"
INGRESS = {"domain": "ml.example.com", "className": "traefik"}
NAME = "test-external-dns"
ROLES = {
    "befefa01-2a29-4197-83a8-272ff33ce314": "DNS Zone Contributor",
    "b12aa53e-6015-4669-85d0-8515ebb3ae7f": "Private DNS Zone Contributor",
    "acdd72a7-3385-48ef-bd42-f606fba81ae7": "Reader",
}
"""https://learn.microsoft.com/azure/role-based-access-control/built-in-roles."""


@cache
def named(zone: str = PUBLIC, cluster: str = "research") -> Recorder:
    return build({"cluster.ingress": {**INGRESS, "dnsZoneId": zone}, "cluster.name": cluster})


def assignments(recorder: Recorder) -> dict[str, dict[str, Any]]:
    return {name: each for name, each in recorder.of_type(ROLE_ASSIGNMENT).items() if name.startswith(NAME)}


def test_a_stack_without_a_zone_makes_nothing_for_names() -> None:
    for recorder in (built(), build({"cluster.ingress": INGRESS})):
        assert NAME not in recorder.of_type(IDENTITY)
        assert "external-dns" not in str(recorder.of_type(NAMESPACE))


@pytest.mark.parametrize(("zone", "prefix"), [(PUBLIC, ""), (PRIVATE, "Private ")])
def test_the_roles_are_to_change_one_zone_and_to_find_it(zone: str, prefix: str) -> None:
    found = {
        (ROLES[each["roleDefinitionId"].rpartition("/")[2]], each["scope"], each["principalId"])
        for each in assignments(named(zone)).values()
    }
    principal = f"{NAME}-principal"
    assert found == {(f"{prefix}DNS Zone Contributor", zone, principal), ("Reader", GROUP, principal)}
    # The zone may be in another subscription than the cluster.
    assert {each["roleDefinitionId"].split("/")[2] for each in assignments(named(zone)).values()} == {HUB}


def test_clusters_with_names_in_one_zone_have_assignments_of_their_own() -> None:
    names = [
        {each["roleAssignmentName"] for each in assignments(named(cluster=cluster)).values()}
        for cluster in ("research", "other")
    ]
    assert len(set.union(*names)) == 4


def test_only_the_account_of_external_dns_gets_the_identity() -> None:
    credential = named().of_type(CREDENTIAL)[NAME]
    assert credential["subject"] == "system:serviceaccount:external-dns:external-dns"
    assert credential["audiences"] == ["api://AzureADTokenExchange"]
    assert named().of_type(IDENTITY)[NAME]["resourceName"] == "research-external-dns"


def test_external_dns_reads_where_the_zone_is_and_who_it_is() -> None:
    found = named().of_type(CONFIG_MAP)[f"{NAME}-azure"]
    assert (found["metadata"]["namespace"], found["metadata"]["name"]) == ("external-dns", "external-dns-azure")
    said = json.loads(found["data"]["azure.json"])
    assert said.pop("aadClientId") == f"{NAME}-client"
    assert said == {
        "tenantId": TENANT,
        "subscriptionId": HUB,
        "resourceGroup": "dns",
        "useWorkloadIdentityExtension": True,
    }
    assert SUBSCRIPTION != HUB


def test_its_namespace_takes_no_pod_with_rights_on_nodes() -> None:
    labels = named().of_type(NAMESPACE)[f"{NAME}-namespace"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("first_preview", [False, True])
def test_every_rule_accepts_what_is_made_without_a_doubt(first_preview: bool) -> None:
    ingress = {**INGRESS, "dnsZoneId": PUBLIC}
    recorder = build({"cluster.ingress": ingress}, first_preview=True) if first_preview else named()
    wire = Wire(stack={"environment": "dev", "profile": "mlrun-ce", "policies": {"jupyterServices": ["reports"]}})
    assert wire.judge_stack(sent(recorder)).outcome == {"expect": [], "advise": [], "unjudged": []}


def test_its_file_comes_after_its_rights_and_nodes_and_goes_with_the_cluster() -> None:
    key = (CONFIG_MAP, f"{NAME}-azure")
    needed = named().needs(key)
    assert {name for type_, name in needed if type_ == ROLE_ASSIGNMENT} >= {f"{NAME}-zone", f"{NAME}-group"}
    assert {(CREDENTIAL, NAME), (NAMESPACE, f"{NAME}-namespace"), (CLUSTER, "test-cluster")} <= needed
    assert named().options[key].replaced_with == ((CLUSTER, "test-cluster"),)
