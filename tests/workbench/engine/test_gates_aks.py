"""What a change of a live AKS cluster must not ask for: every step of versions, every size, every condition."""

from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.kubernetes_minors import offered
from support.aks import AGENT_POOL, CLUSTER, build, built, config
from support.aks_state import INITIAL, STACK, Live, components, exported, urn
from support.minors import CHOSEN, NEWEST, OLDER, number
from workbench.engine.clouds.aks.cluster_components import AksPool
from workbench.engine.clouds.aks.conditions import AksCondition as Condition
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions
from workbench.engine.clouds.find import cloud_of
from workbench.engine.cluster_components import components_of_state
from workbench.engine.upgrade_checks import Judgement, judge

NUMBER = number(CHOSEN)
MINORS = range(NUMBER - 3, NUMBER + 3)
DATA = "test-pools-data-1"


def judged(
    changes: dict[str, Any] | None = None, live: Live | None = None, conditions: Conditions | None = None
) -> Judgement:
    """Judge the stack file with ``changes`` against the unchanged stack, of which ``live`` differs."""
    return judge(cloud_of(STACK, config(changes)), components(live), conditions or {})


def at(cluster: str, pools: str, **others: str) -> Live:
    """Return versions of control plane, pools, and single pools, by what the program calls them."""
    names = [INITIAL, *built().of_type(AGENT_POOL)]
    own = {name.replace("_", "-"): version for name, version in others.items()}
    return {"test-cluster": {"currentKubernetesVersion": cluster}} | {
        name: {"currentOrchestratorVersion": own.get(name.rpartition("pools-")[2].rpartition("/")[2], pools)}
        for name in names
    }


def test_a_cluster_in_order_may_stay_as_it_is() -> None:
    assert judged() == Judgement()


def test_without_a_cluster_there_is_nothing_to_judge() -> None:
    assert judge(cloud_of(STACK, config()), [], {}) == Judgement()


def test_the_pool_that_the_cluster_was_made_with_is_a_part_and_no_pool_is_one_twice() -> None:
    names = [str(component) for component in components()]
    assert "cluster research" in names
    assert "agent pool initial" in names
    assert len(names) == len(set(names)) == len(built().of_type(AGENT_POOL)) + 2


@pytest.mark.parametrize(("live", "wanted"), [*product(MINORS, offered("aks"))])
def test_the_control_plane_goes_one_minor_forward_or_stays(live: int, wanted: str) -> None:
    found = judged({"cluster.version": wanted}, at(f"1.{live}.9", f"1.{live}.9"))
    step = int(wanted.split(".")[1]) - live
    assert bool(found.blockers) == (step not in (0, 1))
    assert bool(found.earlier_runs) == (step > 0)
    for blocker in found.blockers:
        assert blocker.where == "cluster.version"
        assert blocker.allowed == f"AKS accepts 1.{live} or 1.{live + 1}"


@pytest.mark.parametrize(("behind", "step", "pool"), [*product(range(5), (0, 1), ("workload", "data-1", "initial"))])
def test_no_node_falls_more_than_three_minors_behind(behind: int, step: int, pool: str) -> None:
    versions = at(f"{CHOSEN}.1", f"{CHOSEN}.1", **{pool.replace("-", "_"): f"1.{NUMBER - behind}.0"})
    blockers = [str(each) for each in judged({"cluster.version": f"1.{NUMBER + step}"}, versions).blockers]
    is_behind = behind + step > 3
    assert len(blockers) == (is_behind or (pool == "workload" and behind + step > 1))
    for said in blockers:
        assert "az aks nodepool upgrade --resource-group research --cluster-name research" in said
        assert (f"on 1.{NUMBER - behind}, {behind + step} minor versions behind" in said) == is_behind
        assert (
            f"from 1.{NUMBER - behind} by {behind + step} minor versions at once; AKS upgrades by one" in said
        ) != is_behind
        last = NUMBER if is_behind else NUMBER - 1 + step
        steps = [f"--kubernetes-version 1.{minor}`" for minor in range(NUMBER + 1 - behind, last + 1)]
        assert said.count("--kubernetes-version") == len(steps)
        assert all(each in said for each in steps)


def test_the_control_plane_goes_first_and_then_each_pool_with_sizes_read_anew() -> None:
    first, *others = judged({"cluster.version": NEWEST}).earlier_runs
    assert [component.type for component in first] == [CLUSTER]
    assert all(len(run) == 1 for run in others)
    names = [run[0].logical_name for run in others]
    assert sorted(names) == sorted(name for name in built().of_type(AGENT_POOL) if "-data-" not in name)


def test_an_upgrade_that_stopped_among_the_pools_goes_on_with_the_rest() -> None:
    behind = at(f"{NEWEST}.0", f"{NEWEST}.0", **dict.fromkeys(("gpu", "workload", "data_1"), f"{CHOSEN}.0"))
    names = [
        component.logical_name for run in judged({"cluster.version": NEWEST}, behind).earlier_runs for component in run
    ]
    assert names == ["test-cluster", "test-pools-gpu", "test-pools-workload"]


def test_pools_may_stay_behind_and_follow_later() -> None:
    stay = {"cluster.version": NEWEST, "cluster.nodeVersion": CHOSEN, "cluster.upgradeChannel": "none"}
    assert judged(stay, at(f"{NEWEST}.0", f"{CHOSEN}.0")) == Judgement()
    (note,) = judged({"cluster.version": NEWEST}, at(f"{NEWEST}.0", f"{NEWEST}.0", initial=f"{CHOSEN}.0")).notes
    assert "only Azure's own command upgrades it: `az aks nodepool upgrade --resource-group research" in note


def test_pools_go_back_by_azures_command_alone() -> None:
    changes = {"cluster.nodeVersion": OLDER, "cluster.upgradeChannel": "none"}
    behind = dict.fromkeys(("data_1", "data_2", "data_3", "jupyter_1", "jupyter_2", "jupyter_3", "spot"), f"{OLDER}.0")
    behind |= dict.fromkeys(("spot_d8as_v5", "gpu", "workload"), f"{OLDER}.0")
    (blocker,) = judged(changes, at(f"{CHOSEN}.1", f"{CHOSEN}.1", **behind)).blockers
    assert (blocker.where, blocker.what) == (
        "cluster.nodeVersion",
        f"{OLDER}, but the agent pool initial runs {CHOSEN}",
    )
    commands = [
        "`az aks nodepool get-rollback-versions --resource-group research --cluster-name research --name initial`",
        "`az aks update --resource-group research --name research --auto-upgrade-channel none`",
        "`az aks nodepool rollback --resource-group research --cluster-name research --name initial`",
    ]
    assert [blocker.step.index(each) for each in commands] == sorted(map(blocker.step.index, commands))
    everything = judged(changes, at(f"{CHOSEN}.1", f"{CHOSEN}.1")).blockers
    assert len(everything) == len(built().of_type(AGENT_POOL)) + 1 - 3, "each pool but data pools"


def test_pools_that_change_beside_each_other_are_taken_one_by_one() -> None:
    changes = {"pools.workload.size": {"min": 1, "max": 12}, "pools.gpu.size": {"min": 0, "max": 5}}
    runs = judged(changes, {"test-pools-gpu": {"count": 2}}).earlier_runs
    assert [[component.logical_name for component in run] for run in runs] == [
        ["test-pools-gpu"],
        ["test-pools-workload"],
    ]


def test_limits_that_aks_keeps_are_named_and_those_of_the_system_pool_with_their_command() -> None:
    live: Live = {
        "test-pools-workload": {"upgradeSettings": {"maxSurge": "50%", "drainTimeoutInMinutes": 240}},
        "test-pools-gpu": {"upgradeSettings": {"maxSurge": "50%"}},
    }
    assert judged(live=live).notes == (
        "The agent pool "
        + next(each.name for each in components() if each.logical_name == "test-pools-workload")
        + " keeps drainTimeoutInMinutes 240, which the stack file does not set: AKS keeps what is left out. "
        "`upgrade: {}` in pools.workload sets the defaults.",
    )
    assert judged({"pools.workload.upgrade": {}}, live).notes == ()
    (note,) = judged({"pools.initial.upgrade": {"nodes": 2, "drainMinutes": 60}}).notes
    assert note == (
        "The agent pool initial keeps maxSurge 1, drainTimeoutInMinutes 30; to apply the stack file: "
        "`az aks nodepool update --resource-group research --cluster-name research --name initial --max-surge 2 "
        "--drain-timeout 60 --node-soak-duration 0`."
    )


def test_limits_of_two_pools_are_changed_one_after_the_other() -> None:
    changes = {"pools.workload.upgrade": {"drainMinutes": 60}, "pools.gpu.upgrade": {"nodes": 1}}
    runs = judged(changes).earlier_runs
    assert [[component.logical_name for component in run] for run in runs] == [
        ["test-pools-gpu"],
        ["test-pools-workload"],
    ]


def test_one_pool_that_changes_needs_no_run_of_its_own() -> None:
    assert not judged({"pools.gpu.size": {"min": 0, "max": 5}}).earlier_runs


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_every_pool_of_the_program_is_judged(environment: str) -> None:
    """Names stand in the program and here: with sizes that fit none, each pool must be refused."""
    changes = {"environment": environment}
    names = [*build(changes).of_type(AGENT_POOL), INITIAL]
    live = {name: {"minCount": 90, "maxCount": 99, "count": 95, "enableAutoScaling": True} for name in names}
    blockers = judge(cloud_of(STACK, config(changes)), components_of_state(exported(changes, live)), {}).blockers
    assert len({each.what.split()[3] for each in blockers}) == len(names)


SIZES = st.integers(0, 12)


@settings(deadline=None, max_examples=60)
@given(st.tuples(SIZES, SIZES, SIZES), st.tuples(SIZES, SIZES), st.booleans())
def test_whatever_size_is_sent_is_taken_by_aks_and_ends_no_node_at_work(
    live: tuple[int, int, int], wanted: tuple[int, int], is_upgrade: bool
) -> None:
    low, size, high = sorted(live)
    high = max(1, high)
    was_elastic = low < high
    if not was_elastic:
        size = low
    least, most = min(wanted), max(1, *wanted)
    bounds = {"minCount": low, "maxCount": high} if was_elastic else {"minCount": None, "maxCount": None}
    state: Live = {"test-pools-workload": {"count": size, "enableAutoScaling": was_elastic, **bounds}}
    changes = {"pools.workload.size": {"min": least, "max": most}, "cluster.version": NEWEST if is_upgrade else CHOSEN}
    blockers = judged(changes, state).blockers
    is_elastic = least < most
    sent = size if is_elastic else least  # what `ignore_changes` leaves, else what the stack file says
    taken = least <= sent <= most
    drained = sent < size and was_elastic
    raced = is_upgrade and is_elastic and (low, high) != (least, most)
    assert bool(blockers) == (not taken or drained or raced)
    assert all(each.where == "pools.workload.size" for each in blockers)


def test_a_minimum_above_the_live_size_is_answered_with_commands_that_aks_takes() -> None:
    state: Live = {"test-pools-workload": {"count": 2, "minCount": 1, "maxCount": 3}}
    (blocker,) = judged({"pools.workload.size": {"min": 5, "max": 8}}, state).blockers
    (pool,) = (component.name for component in components() if component.logical_name == "test-pools-workload")
    is_ = f"--resource-group research --cluster-name research --name {pool}"
    assert blocker.step == (
        f"`az aks nodepool update {is_} --disable-cluster-autoscaler`, `az aks nodepool scale {is_} --node-count 5`, "
        f"`az aks nodepool update {is_} --enable-cluster-autoscaler --min-count 1 --max-count 5`, then run `up` again."
    )


def test_data_nodes_are_never_scaled_in() -> None:
    (blocker,) = judged({"pools.data.size": {"min": 3, "max": 3}}, {DATA: {"count": 2}}).blockers
    assert "and max would be 1" in blocker.what
    assert "never scaled in" in blocker.step


@pytest.mark.parametrize(
    ("changes", "what", "command"),
    [
        ({"pools.initial.size": {"min": 5, "max": 5}}, "would change from 3 to 5 nodes", "scale "),
        (
            {"pools.initial.instanceTypes": ["Standard_D8s_v5"]},
            "would change from Standard_D4s_v5 to",
            "set `cluster.createdWithPool: initial`",
        ),
        ({"cluster.rootVolumeGib": 256}, "would change from 128.0 to 256", "cluster.createdWithPool: initial"),
        (
            {"pools.initial.labels": {"example.com/a": "b"}},
            "the labels of the agent pool initial would change",
            "--labels app.iguazio.com/lifecycle=",
        ),
    ],
)
def test_an_edit_of_the_initial_pool_is_refused_since_no_program_sends_it(
    changes: dict[str, Any], what: str, command: str
) -> None:
    (blocker,) = [each for each in judged(changes).blockers if each.where.startswith("pools.initial")]
    assert what in blocker.what
    assert command in blocker.step


def test_what_was_changed_by_hand_in_the_initial_pool_as_told_is_fine() -> None:
    assert judged({"pools.initial.size": {"min": 5, "max": 5}}, {INITIAL: {"count": 5}}) == Judgement()


def test_another_name_of_the_initial_pool_is_refused() -> None:
    pool = config().pools["initial"].model_dump(by_alias=True, exclude_none=True)
    changes = {"pools.initial": None, "pools.core": {k: v for k, v in pool.items() if v not in ({}, ())}}
    (blocker,) = judged(changes).blockers
    assert blocker.what == "the initial pool would be renamed from initial to core"
    assert "set `cluster.createdWithPool: initial`" in blocker.step
    assert judged({**changes, "cluster.createdWithPool": "initial"}).blockers == ()


TAKEOVER = {"cluster.createdWithPool": "initial"}


def test_another_pool_may_take_over_from_the_one_that_the_cluster_was_created_with() -> None:
    found = judged({**TAKEOVER, "pools.initial.instanceTypes": ["Standard_D8s_v5"], "cluster.rootVolumeGib": 256})
    assert found.blockers == ()
    assert found.notes == ("The agent pool initial stays until another one works; the `up` after that deletes it.",)


def test_a_takeover_names_the_pool_that_there_is_and_loses_no_zone() -> None:
    (blocker,) = judged({"cluster.createdWithPool": "first"}).blockers
    assert (blocker.where, blocker.step) == ("cluster.createdWithPool", "Set it to initial.")
    (blocker,) = judged({**TAKEOVER, "cluster.zones": ["1", "2"], "pools.data": None}).blockers
    assert blocker.what == "another pool would take over from the agent pool initial without its zones 3"


def after_takeover(name: str = "") -> list[ClusterComponent]:
    """Return what is live after a takeover if AKS lists one system pool without a tag; default: the successor."""
    resources = deepcopy(exported(TAKEOVER)["resources"])
    (outputs,) = [each["outputs"] for each in resources if each["type"] == CLUSTER]
    (own,) = [each["inputs"] for each in resources if each["urn"].endswith("::test-pools-initial")]
    listed = {**outputs["agentPoolProfiles"][0], "name": name or own["agentPoolName"], "tags": {}}
    outputs["agentPoolProfiles"] = [listed]
    return components_of_state({"resources": resources})


def test_a_takeover_stays_in_the_stack_file_once_it_has_begun() -> None:
    parts = after_takeover()
    initial = next(part for part in parts if part.logical_name == "test-pools-initial")
    assert isinstance(initial, AksPool)
    assert (initial.is_successor, initial.predecessor) == (True, "initial")
    assert judge(cloud_of(STACK, config(TAKEOVER)), parts, {}).blockers == ()
    (blocker,) = judge(cloud_of(STACK, config()), parts, {}).blockers
    assert blocker.where == "cluster.createdWithPool"
    assert blocker.step == "Set it to initial."
    assert blocker.what == f"is not set, but the initial pool has been taken over by the {initial}"


def test_a_takeover_may_be_given_up_while_the_first_pool_is_there() -> None:
    assert judge(cloud_of(STACK, config()), components(), {}).blockers == ()
    listed = components_of_state({"resources": exported(TAKEOVER)["resources"]})
    assert judge(cloud_of(STACK, config()), listed, {}).blockers == ()


def test_after_a_takeover_a_system_pool_of_others_does_not_matter() -> None:
    assert judge(cloud_of(STACK, config(TAKEOVER)), after_takeover("theirs"), {}).blockers == ()


def test_a_successor_whose_tag_is_gone_is_still_one_pool() -> None:
    parts = after_takeover()
    assert len([each for each in parts if isinstance(each, AksPool) and each.is_initial]) == 1
    assert judge(cloud_of(STACK, config(TAKEOVER)), parts, {}).blockers == ()


def test_limits_that_aks_keeps_are_no_change_and_one_that_it_would_refuse_is_named() -> None:
    kept: Live = {"test-pools-workload": {"upgradeSettings": {"maxSurge": "33%", "drainTimeoutInMinutes": 240}}}
    kept |= {"test-pools-gpu": {"upgradeSettings": {"maxSurge": "33%", "nodeSoakDurationInMinutes": 5}}}
    assert judged(live=kept).earlier_runs == ()
    old_first: Live = {"test-pools-workload": {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}}
    (blocker,) = judged(live=old_first).blockers
    assert blocker.where == "pools.workload.upgrade"
    assert "keeps maxUnavailable 1, with which AKS accepts no maxSurge" in blocker.what
    assert judged({"pools.workload.upgrade": {}}, old_first).blockers == ()


def test_zones_in_another_order_and_ids_in_another_case_are_the_same() -> None:
    initial = next(component for component in components() if component.program_name == INITIAL)
    live = {"availabilityZones": ["3", "1", "2"], "vnetSubnetID": initial.outputs["vnetSubnetID"].upper()}
    assert judged(live={INITIAL: live}) == Judgement()


def test_the_initial_pool_that_stays_behind_is_named_with_the_command_that_raises_it() -> None:
    found = judged(live=at(f"{CHOSEN}.0", f"{CHOSEN}.0", initial=f"{OLDER}.3"))
    assert not found.blockers
    (note,) = found.notes
    assert f"agent pool initial stays on {OLDER}" in note
    assert f"--name initial --kubernetes-version {CHOSEN}`" in note


def test_tags_that_the_initial_pool_cannot_get_by_the_program_are_told_with_the_command_for_all() -> None:
    tags = {"team": "ml", "cost-center": "47 11"}
    found = judged({"cluster.tags": tags}, {INITIAL: {"tags": {"team": "ml", "theirs": "x"}}})
    (note,) = found.notes
    assert not found.blockers
    assert "agent pool initial keeps its tags" in note
    assert "--name initial --tags 'cost-center=47 11' team=ml theirs=x`" in note


def test_a_pool_that_goes_is_not_judged_by_size() -> None:
    assert not judged({"pools.gpu": None}).blockers


@pytest.mark.parametrize("status", ["Creating", "Updating", "Upgrading", "Scaling", "Deleting", "Stopping"])
@pytest.mark.parametrize("key", [urn(CLUSTER, "test-cluster"), urn(AGENT_POOL, "test-pools-gpu")])
def test_what_aks_still_works_on_is_waited_for(key: str, status: str) -> None:
    (blocker,) = judged(conditions={key: Condition(status)}).blockers
    assert f"is {status}" in blocker.what
    assert blocker.allowed == "changes are accepted when it is Succeeded"


@pytest.mark.parametrize("name", ["test-cluster", "test-pools-gpu", DATA, INITIAL])
def test_what_failed_is_named_and_may_be_mended_by_the_change_but_is_never_made_anew(name: str) -> None:
    """Made anew under the same name it would be changed first and deleted then."""
    error = {"provisioningError": {"code": "QuotaExceeded", "message": "0 left"}}
    found = judged(live={name: {"provisioningState": "Failed", "status": error}})
    assert not found.to_recreate
    assert not found.blockers
    (note,) = found.notes
    assert note.endswith("is Failed: QuotaExceeded: 0 left.")
