"""Upgrades of nodes on both emulators, with the real engine: later than the control plane, within limits, and back."""

from collections.abc import Sequence

import pytest

from emulators.core.client import Call
from emulators.core.faults import FailedRule, Issue
from support import azure_emulator
from support.aws_emulator import Account, writes
from support.azure_emulator import CLUSTER, POOL, Subscription
from support.cloud_account import CloudAccount
from support.lives import kill
from support.minors import CHOSEN, OLDER
from workbench.offline.azure.facts import resource

pytestmark = [pytest.mark.engine, pytest.mark.full]

POOLS = "Microsoft.ContainerService/managedClusters/agentPools"
NO_QUOTA = Issue(code="QuotaExceeded", message="Insufficient regional vcpu quota left")


def up(cloud: CloudAccount, stack: str, **choices: object) -> str:
    """Change the stack file, run `up`, and return what it printed to people."""
    cloud.edit(stack, **choices)
    return cloud.run("up", stack, "--hermetic", "--yes").stderr


def refusal(cloud: CloudAccount, stack: str, **choices: object) -> str:
    cloud.edit(stack, **choices)
    run = cloud.run("up", stack, "--hermetic", "--yes", check=False)
    assert run.returncode == 1, run.stdout
    assert "Nothing changed in" in run.stderr
    return run.stderr


def proxy(version: str) -> dict[str, str]:
    return {"kube-proxy": f"v{version}.0-eksbuild.2"}


def versions(aws: Account) -> tuple[str, set[str]]:
    """Return the versions of the control plane and of its node groups."""
    cluster = aws.aws.api("eks").describe_cluster(name="mlrun-dev")["cluster"]
    return cluster["version"], {aws.group(f"dev-{pool}")["version"] for pool in ("initial", "workload")}


def numbers(calls: Sequence[Call], operation: str) -> list[int]:
    return [call.number for call in calls if call.operation == f"eks:{operation}"]


def test_nodes_of_eks_follow_later_and_go_back_before_their_control_plane(aws: Account) -> None:
    up(aws, "dev", cluster__version=OLDER, cluster__addonVersions=proxy(OLDER))
    up(aws, "dev", cluster__version=CHOSEN, cluster__nodeVersion=OLDER, cluster__addonVersions=proxy(CHOSEN))
    assert versions(aws) == (CHOSEN, {OLDER})
    said = refusal(aws, "dev", pools__workload__instanceTypes=["m5.2xlarge"])
    assert "EKS creates node groups of the control plane's version only" in said
    back = {"cluster__version": OLDER, "cluster__nodeVersion": None, "cluster__addonVersions": proxy(OLDER)}
    up(aws, "dev", pools__workload__instanceTypes=["m6i.2xlarge"], **back)
    assert versions(aws) == (OLDER, {OLDER})
    up(aws, "dev", cluster__version=CHOSEN, cluster__addonVersions=proxy(CHOSEN))
    assert versions(aws) == (CHOSEN, {CHOSEN})
    last = aws.last
    assert "cluster.addonVersions.kube-proxy: " in refusal(aws, "dev", cluster__version=OLDER)
    aws.aws.set_circumstances(insights={"Cluster health issues": "ERROR"})
    said = refusal(aws, "dev", cluster__addonVersions=proxy(OLDER))
    assert "for which the cluster is not ready: Cluster health issues" in said
    assert writes(aws.aws.calls(last)) == []
    aws.aws.set_circumstances()
    kill(aws, "dev", "eks:UpdateAddon")
    assert versions(aws) == (OLDER, {OLDER})
    calls = writes(aws.aws.calls(last))
    (cluster,), (addon,) = numbers(calls, "UpdateClusterVersion"), numbers(calls, "UpdateAddon")
    assert max(numbers(calls, "UpdateNodegroupVersion")) < addon < cluster
    assert not [call for call in calls if call.operation.startswith(("eks:Create", "eks:Delete"))]
    last = aws.last
    up(aws, "dev")
    assert writes(aws.aws.calls(last)) == []


def system_pools(azure: Subscription) -> dict[str, str]:
    """Return states of the system pools in the cluster's list, by name."""
    (id_,) = azure.azure.inventory()[CLUSTER]
    told = azure.azure.ask("GET", id_, resource(CLUSTER).api_version).body["properties"]["agentPoolProfiles"]
    return {each["name"]: each["provisioningState"] for each in told if each["mode"] == "System"}


def retry(azure: Subscription, name: str) -> None:
    """Let AKS try again with a pool, as `az aks nodepool update` does."""
    pool = azure.pools()[name]
    told = azure.azure.ask("PUT", pool["id"], resource(POOL).api_version, {"properties": pool["properties"]})
    assert told.status == 200, told


def up_without_capacity(azure: Subscription) -> str:
    """Run `up` while AKS gets no machines for a system pool, and return what it printed to people."""
    azure.azure.set_faults(FailedRule(operation=f"{POOLS}/write", about="*/agentPools/initial????", issues=(NO_QUOTA,)))
    run = azure.run("up", "aks-dev", "--hermetic", "--yes", check=False)
    azure.azure.set_faults()
    assert run.returncode == 1, run.stdout
    return run.stderr


def test_another_pool_takes_over_from_the_one_that_a_cluster_of_aks_was_created_with(azure: Subscription) -> None:
    up(azure, "aks-dev")
    changes = {"pools__initial__instanceTypes": ["Standard_D8s_v5"]}
    assert "set `cluster.createdWithPool: initial`" in refusal(azure, "aks-dev", **changes)
    azure.edit("aks-dev", cluster__createdWithPool="initial")
    up_without_capacity(azure)
    up_without_capacity(azure)
    (first,) = azure.agent_pools("initial")
    assert system_pools(azure) == {"initial": "Succeeded", first["name"]: "Failed"}, "core services keep their nodes"
    retry(azure, first["name"])
    kill(azure, "aks-dev", f"{POOLS}/delete")
    assert system_pools(azure) == {first["name"]: "Succeeded"}
    assert azure.pools()[first["name"]]["properties"]["vmSize"] == "Standard_D8s_v5"
    in_state, in_azure = azure_emulator.identities(azure, "aks-dev")
    assert in_state == in_azure
    last = azure.last
    up(azure, "aks-dev")
    assert azure_emulator.writes(azure.azure.calls(last)) == []
    assert "Set it to initial." in refusal(azure, "aks-dev", cluster__createdWithPool=None)
    azure.edit("aks-dev", cluster__createdWithPool="initial")
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())


def test_a_system_pool_of_its_own_stays_until_the_one_in_its_place_works(azure: Subscription) -> None:
    up(azure, "aks-dev", cluster__createdWithPool="initial")
    up(azure, "aks-dev")
    (first,) = system_pools(azure)
    assert first != "initial"
    azure.edit("aks-dev", pools__initial__instanceTypes=["Standard_D8s_v5"])
    assert "Continuing" not in up_without_capacity(azure)
    assert "the pool before it would be deleted, but the agent pool" in refusal(azure, "aks-dev")
    (second,) = {*system_pools(azure)} - {first}
    assert system_pools(azure) == {first: "Succeeded", second: "Failed"}
    retry(azure, second)
    up(azure, "aks-dev")
    assert system_pools(azure) == {second: "Succeeded"}


def test_pools_of_aks_follow_later_within_their_limits_and_go_back_by_command_only(azure: Subscription) -> None:
    up(azure, "aks-dev", cluster__version=OLDER)
    limits = {"nodes": 1, "order": "old-first", "drainMinutes": 60}
    up(
        azure,
        "aks-dev",
        cluster__version=CHOSEN,
        cluster__nodeVersion=OLDER,
        cluster__upgradeChannel="none",
        pools__workload__upgrade=limits,
    )
    (pool,) = azure.agent_pools("workload")
    assert pool["properties"]["currentOrchestratorVersion"].startswith(f"{OLDER}.")
    settings = pool["properties"]["upgradeSettings"]
    assert (settings["maxSurge"], settings["maxUnavailable"], settings["drainTimeoutInMinutes"]) == ("0", "1", 60)
    azure.edit("aks-dev", cluster__nodeVersion=None, cluster__upgradeChannel=None)
    kill(azure, "aks-dev", f"{POOLS}/write")
    (pool,) = azure.agent_pools("workload")
    assert pool["properties"]["currentOrchestratorVersion"].startswith(f"{CHOSEN}.")
    last = azure.last
    said = refusal(azure, "aks-dev", cluster__nodeVersion=OLDER, cluster__upgradeChannel="none")
    assert f"az aks nodepool rollback --resource-group mlrun-dev --cluster-name mlrun-dev --name {pool['name']}" in said
    assert azure_emulator.writes(azure.azure.calls(last)) == []
    as_before = {"cluster__nodeVersion": None, "cluster__upgradeChannel": None}
    assert "keeps maxUnavailable 1" in refusal(azure, "aks-dev", **as_before, pools__workload__upgrade=None)
    up(azure, "aks-dev", pools__workload__upgrade={})
    (pool,) = azure.agent_pools("workload")
    settings = pool["properties"]["upgradeSettings"]
    assert (settings["maxSurge"], settings["maxUnavailable"], settings["drainTimeoutInMinutes"]) == ("33%", "0", 30)
    assert azure_emulator.after_destroy(azure, "aks-dev") == (set(), set())
