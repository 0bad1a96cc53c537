"""What holds of the whole AKS stack."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from support.aks import (
    AGENT_POOL,
    CLUSTER,
    CLUSTER_ID,
    CREDENTIALS,
    DOCUMENT,
    GROUP_ID,
    KUBERNETES,
    SUBSCRIPTION,
    TENANT,
    build,
    built,
)
from support.minors import CHOSEN
from support.recorder import Recorded
from workbench.system.paths import PROJECT_ROOT

PROVIDER = "pulumi:providers:azure-native"
GROUP = "azure-native:resources:ResourceGroup"
UNTAGGABLE = {
    "azure-native:authorization:RoleAssignment",
    "azure-native:containerservice:MaintenanceConfiguration",
    "azure-native:monitor:DataCollectionRuleAssociation",
    "azure-native:monitor:DiagnosticSetting",
    "azure-native:network:Subnet",
}
NAMES = {
    *("agentPoolName", "associationName", "configName", "dataCollectionRuleName", "name", "natGatewayName"),
    *("networkSecurityGroupName", "publicIpAddressName", "roleAssignmentName", "subnetName", "workspaceName"),
}
"""Inputs that hold the name of one type of resource only."""


def in_azure(environment: str = "dev") -> list[Recorded]:
    return [r for r in built(environment).resources if r.type.startswith("azure-native:")]


def test_everything_in_azure_is_made_by_the_one_provider_of_the_named_subscription() -> None:
    provider = built().of_type(PROVIDER)["test-azure"]
    assert (provider["subscriptionId"], provider["tenantId"]) == (SUBSCRIPTION, TENANT)
    assert [r.name for r in in_azure() if "test-azure" not in r.provider] == []


def test_the_provider_holds_no_credentials() -> None:
    provider = built().of_type(PROVIDER)["test-azure"]
    assert not {"clientId", "clientSecret", "clientCertificatePassword", "oidcToken"} & set(provider)


def test_everything_lies_in_one_group_of_the_clusters_name() -> None:
    (group,) = built().of_type(GROUP).values()
    assert group["resourceGroupName"] == "research"
    assert {r.inputs["resourceGroupName"] for r in in_azure() if "resourceGroupName" in r.inputs} <= {
        "research",
        "test-group-name",
    }


def test_everything_that_takes_tags_says_its_environment_its_stack_and_who_manages_it() -> None:
    wanted = {
        **DOCUMENT["cluster"]["tags"],
        "environment": "dev",
        "managed-by": "igz-clusters",
        "igz-clusters-cluster": "research",
        "igz-clusters-stack": "test",
    }
    assert {r.type for r in in_azure() if "tags" not in r.inputs} == UNTAGGABLE
    assert [r.name for r in in_azure() if r.type not in UNTAGGABLE and r.inputs["tags"] != wanted] == []
    (initial,) = built().of_type(CLUSTER)["test-cluster"]["agentPoolProfiles"]
    assert initial["tags"] == wanted


def test_a_word_of_the_company_for_the_environment_wins() -> None:
    group = build({"cluster.tags.environment": "development"}).of_type(GROUP)["test-group"]
    assert group["tags"]["environment"] == "development"


def test_every_name_is_given_so_that_a_killed_runs_work_is_found_again() -> None:
    """Left out, the engine would add something random."""
    named_by_their_cluster = {CLUSTER, "azure-native:managedidentity:UserAssignedIdentity"}
    for resource in in_azure():
        keys = set(resource.inputs)
        own = {"resourceName"} if resource.type in named_by_their_cluster else NAMES
        own |= {"resourceGroupName"} if resource.type == GROUP else set()
        own |= {"virtualNetworkName"} if resource.type.endswith(":VirtualNetwork") else set()
        assert keys & own, resource.name


def test_a_changed_kubeconfig_is_no_other_cluster() -> None:
    assert built().of_type(KUBERNETES)["test-kubernetes"]["clusterIdentifier"] == CLUSTER_ID


def test_azure_is_asked_for_the_way_in_and_nothing_else_and_only_once_the_cluster_is_there() -> None:
    assert {token for token, _ in built().calls} == {CREDENTIALS}
    assert build(first_preview=True).calls == []


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_credentials_appear_nowhere(environment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    canaries = {
        "ARM_CLIENT_ID": "canary-client",
        "ARM_CLIENT_SECRET": "canary-client-secret",
        "AZURE_CLIENT_SECRET": "canary-azure-secret",
        "ARM_OIDC_TOKEN": "canary-oidc-token",
        "PULUMI_CONFIG_PASSPHRASE": "canary-passphrase",
        "KUBECONFIG": "/canary/kubeconfig",
    }
    for name, value in canaries.items():
        monkeypatch.setenv(name, value)
    recorder = build({"environment": environment})
    said = json.dumps([[r.name, r.inputs] for r in recorder.resources]) + json.dumps(recorder.exports, default=str)
    assert [value for value in (*canaries.values(), "canary-of-their-kubeconfig") if value in said] == []


def test_outputs_say_what_the_platform_layer_needs() -> None:
    cluster = built().exports["cluster"]
    assert (
        cluster.items()
        >= {
            "kind": "aks",
            "clusterName": "research",
            "clusterId": CLUSTER_ID,
            "resourceGroup": "research",
            "nodeResourceGroup": "research-nodes",
            "location": "westeurope",
            "version": CHOSEN,
            "oidcIssuer": "https://test-cluster.issuer.example",
        }.items()
    )
    assert cluster["access"].keys() == {"deployer"}
    groups = built().exports["pools"]
    assert {group["pool"] for group in groups.values()} == set(DOCUMENT["pools"])
    assert len(groups) == len(built().of_type(AGENT_POOL)) + 1


def test_production_of_the_same_choices_differs_in_strength_only() -> None:
    def pools(environment: str) -> dict[str, Any]:
        made = built(environment).of_type(AGENT_POOL)
        return {name: {key: value for key, value in pool.items() if key != "tags"} for name, pool in made.items()}

    assert pools("dev") == pools("prod")
    kept = {e: {name for (_, name), o in built(e).options.items() if o.protect} for e in ("dev", "prod")}
    assert kept["prod"] - kept["dev"] == {"test-group", "test-network-network", "test-cluster"}


def test_a_pool_waits_for_the_cluster_the_network_and_the_hours_of_upgrades() -> None:
    for name in built().of_type(AGENT_POOL):
        needs = {key for _, key in built().needs((AGENT_POOL, name))}
        assert {
            *("test-group", "test-network-nodes", "test-cluster", "test-identities-subnet"),
            *("test-cluster-aksManagedAutoUpgradeSchedule", "test-cluster-aksManagedNodeOSUpgradeSchedule"),
        } <= needs


def test_a_stack_loads_the_sdk_of_its_own_cloud_only() -> None:
    """In a process of its own: other tests have loaded everything."""
    script = (
        "import sys, infra.program\n"
        "assert not [m for m in sys.modules if m.startswith('pulumi_azure')], 'loaded before the kind is known'\n"
        "import components.clusters.aks\n"
        "assert not [m for m in sys.modules if m.startswith('pulumi_aws')], 'loaded for another cloud'"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_group_holds_this_cluster_only_so_that_roles_on_it_are_roles_on_the_cluster() -> None:
    assert [r.name for r in in_azure() if r.type == CLUSTER] == ["test-cluster"]
    assert CLUSTER_ID.startswith(f"{GROUP_ID}/")
