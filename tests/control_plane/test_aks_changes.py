"""Changes of a living AKS stack on the Azure emulator: versions, sizes that the autoscaler moved, other machines."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import pytest

from emulators.core.client import Call
from support.azure_emulator import CLUSTER, POOL, Subscription, identities, writes
from support.minors import CHOSEN, EARLIER, NEWEST, OLDER, after
from workbench.offline.azure.facts import resource

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

STACK: Final = "aks-dev"
KEY: Final = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/keys/providers/Microsoft.KeyVault"
    "/vaults/mlrun-dev/keys/secrets/versions/0123456789abcdef0123456789abcdef"
)
"""The key in the stack file of the example."""

NAME_MAX: Final = 12
"""Characters that AKS takes in the name of an agent pool."""

CHANGES: Mapping[int, Mapping[str, Any]] = {
    7: {"pools__workload__size": {"min": 2, "max": 12}},
    8: {"pools__workload__size": {"min": 3, "max": 12}},
    9: {"pools__workload__labels": {"example.com/team": "ml"}},
}
"""Choices of the stack file, by how many nodes the autoscaler has meanwhile; the state says fewer."""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subscription]:
    """A stack of dev with two elastic pools, on the version before."""
    with Subscription.opened(tmp_path_factory.mktemp("changes"), STACK, is_quick=True) as made:
        made.edit(
            STACK,
            policyGuard="off",
            cluster__version=OLDER,
            pools__workload__size={"min": 2, "max": 10},
            pools__spot__instanceTypes=["Standard_D8s_v5"],
            pools__jupyter=None,
            pools__gpu=None,
        )
        plain(made)
        yield made


def changed(made: Subscription) -> list[Call]:
    """Run `up` and return what it asked Azure to change."""
    last = made.last
    made.run("up", STACK, "--hermetic", "--yes")
    return writes(made.azure.calls(last))


def plain(made: Subscription) -> None:
    made.plain(STACK, "up", "--yes", "--skip-preview")


def refusal(made: Subscription) -> str:
    """Run an `up` that must be refused before it asks Azure to change anything, and return why."""
    last = made.last
    run = made.run("up", STACK, "--hermetic", "--yes", check=False)
    assert run.returncode == 1, run.stdout
    assert [call.operation for call in writes(made.azure.calls(last))] == []
    return run.stderr


def write(made: Subscription, pool: Mapping[str, Any], **properties: Any) -> None:
    """Change an agent pool by hand."""
    body = {"properties": {**pool["properties"], **properties}}
    told = made.azure.ask("PUT", pool["id"], resource(POOL).api_version, body)
    assert not told.code, told


def about(call: Call) -> str:
    """Return which kind of thing was written, and its name."""
    kind, _, verb = call.operation.rpartition("/")
    return f"{verb} {kind.rpartition('/')[2]} {call.about.rpartition('/')[2]}"


def test_two_minors_at_once_and_nodes_too_far_behind_are_refused_with_the_steps_that_are_next(
    old: Subscription,
) -> None:
    (pool,) = old.agent_pools("workload")
    old.azure.ask("DELETE", pool["id"], resource(POOL).api_version)
    write(old, pool, orchestratorVersion=after(EARLIER, -2))
    old.edit(STACK, cluster__version=NEWEST)
    said = refusal(old)
    assert f"cluster.version: {NEWEST}, but the cluster mlrun-dev runs {OLDER}; AKS accepts {OLDER} or {CHOSEN}" in said
    assert f"Set it to {CHOSEN} and run `up`, then continue one minor version at a time." in said
    assert (
        f"{CHOSEN} would leave the agent pool {pool['name']} on {after(EARLIER, -2)}, 4 minor versions behind" in said
    )
    for version in (after(EARLIER, -1), EARLIER, OLDER):
        assert f"--name {pool['name']} --kubernetes-version {version}`" in said
        write(old, pool, orchestratorVersion=version)


def test_an_upgrade_moves_the_control_plane_and_then_pool_after_pool(old: Subscription) -> None:
    old.edit(STACK, cluster__version=CHOSEN)
    pools = old.pools()
    calls = changed(old)
    assert list(map(about, calls[:1])) == ["write managedClusters mlrun-dev"]
    assert sorted(map(about, calls[1:])) == [f"write agentPools {name}" for name in sorted(pools)]
    assert all(one.end and one.end <= other.begin for one, other in pairwise(calls))
    assert {each["properties"]["orchestratorVersion"] for each in old.pools().values()} == {CHOSEN}


@pytest.mark.parametrize("live", CHANGES)
def test_plain_pulumi_sends_no_size_below_the_one_that_the_autoscaler_chose(old: Subscription, live: int) -> None:
    old.move("workload", live)
    old.edit(STACK, **CHANGES[live])
    last = old.last
    plain(old)
    sent = [call.params["body"]["properties"]["count"] for call in writes(old.azure.calls(last))]
    assert sent == [live]
    assert old.agent_pools("workload")[0]["properties"]["count"] == live


def test_a_minimum_above_the_live_size_is_refused_and_the_named_steps_lead_on(old: Subscription) -> None:
    old.edit(STACK, pools__workload__size={"min": 10, "max": 12})
    said = refusal(old)
    (pool,) = old.agent_pools("workload")
    assert f"pools.workload.size: the agent pool {pool['name']} has 9 nodes, and min would be 10" in said
    is_ = f"--resource-group mlrun-dev --cluster-name mlrun-dev --name {pool['name']}"
    assert f"`az aks nodepool update {is_} --disable-cluster-autoscaler`" in said
    assert f"`az aks nodepool scale {is_} --node-count 10`" in said
    assert f"`az aks nodepool update {is_} --enable-cluster-autoscaler --min-count 3 --max-count 12`" in said
    fixed = {"enableAutoScaling": False, "minCount": None, "maxCount": None}
    write(old, pool, **fixed)
    write(old, pool, **fixed, count=10)
    write(old, pool, enableAutoScaling=True, minCount=3, maxCount=12, count=10)
    assert [call.params["body"]["properties"]["count"] for call in changed(old)] == [10]


def test_a_maximum_below_the_live_size_and_a_step_back_are_refused(old: Subscription) -> None:
    old.edit(STACK, cluster__version=OLDER, pools__workload__size={"min": 2, "max": 5})
    said = refusal(old)
    assert "has 10 nodes, and max would be 5; at least 10 now" in said
    assert "the autoscaler removes empty ones" in said
    assert "`up` does not downgrade" in said
    old.edit(STACK, cluster__version=CHOSEN, pools__workload__size={"min": 2, "max": 12})


def test_other_machines_are_there_before_the_old_ones_go_and_the_system_pool_stays(old: Subscription) -> None:
    old.edit(STACK, pools__workload__instanceTypes=["Standard_D8as_v5"])
    (before,) = old.agent_pools("workload")
    calls = changed(old)
    (after,) = old.agent_pools("workload")
    assert list(map(about, calls)) == [f"write agentPools {after['name']}", f"delete agentPools {before['name']}"]
    assert after["properties"]["vmSize"] == "Standard_D8as_v5"
    assert max(map(len, (before["name"], after["name"]))) <= NAME_MAX
    (cluster,) = old.azure.inventory()[CLUSTER]
    told = old.azure.ask("GET", cluster, resource(CLUSTER).api_version).body["properties"]["agentPoolProfiles"]
    assert [pool["name"] for pool in told if pool["mode"] == "System"] == ["initial"]
    in_state, in_azure = identities(old, STACK)
    assert in_state == in_azure


def test_a_key_of_another_vault_is_used_while_the_one_before_stays_usable(old: Subscription) -> None:
    (cluster,) = old.azure.inventory()[CLUSTER]
    other = KEY.replace("/vaults/mlrun-dev/", "/vaults/other/")
    old.edit(STACK, cluster__secretsKeyId=other)
    assert "Set cluster.previousSecretsKeyId to the id of the previous key" in refusal(old)
    for edit, kinds in (
        ({"cluster__previousSecretsKeyId": KEY}, ["write roleAssignments", "write managedClusters"]),
        (
            {"cluster__previousSecretsKeyId": None, "cluster__secretsKeyId": other.replace("0123", "4567")},
            ["write managedClusters", "delete roleAssignments"],
        ),
        ({"cluster__previousSecretsKeyId": other, "cluster__secretsKeyId": None}, ["write managedClusters"]),
    ):
        old.edit(STACK, **edit)
        assert [about(call).rpartition(" ")[0] for call in changed(old)] == kinds
        assert old.azure.ailments(cluster) == []
    told = old.azure.ask("GET", cluster, resource(CLUSTER).api_version).body["properties"]
    assert told["securityProfile"]["azureKeyVaultKms"]["enabled"] is False
