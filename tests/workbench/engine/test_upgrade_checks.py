"""What a change of a live cluster must not ask for: every step of versions, every size, every condition."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.kubernetes_minors import offered
from support.eks import NODE_GROUP, build, config
from support.eks_judgement import at, judged
from support.eks_state import STACK, Live, exported, urn
from support.minors import CHOSEN, EARLIER, NEWEST, number
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.eks.cluster_components import ADDON, CLUSTER
from workbench.engine.clouds.eks.conditions import EksCondition as Condition
from workbench.engine.clouds.find import cloud_of
from workbench.engine.clouds.way_back import WayBack
from workbench.engine.cluster_components import components_of_state
from workbench.engine.upgrade_checks import Judgement, judge

NUMBER = number(CHOSEN)
MINORS = range(NUMBER - 3, NUMBER + 3)
DATA = "test-data-a"
BLOCK = {
    "role": "gpu",
    "lifecycle": "reserved",
    "size": {"min": 0, "max": 2},
    "instanceTypes": ["p5.48xlarge"],
    "zone": "b",
    "reservation": {"id": "cr-0b91582543292e10b", "block": True},
}


def test_only_a_pool_with_office_hours_may_be_below_its_minimum_at_night() -> None:
    hours = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
    night = {"test-workload": {"scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 10}}}
    (blocker,) = judged(live=night).blockers
    assert "has 0 nodes, and min would be 1" in blocker.what
    assert judged({"pools.workload.officeHours": hours}, night).blockers == ()
    # A cluster that wakes has core services first: nothing would give the others their nodes but their schedules.
    waking = judged({"cluster.officeHours": hours, "pools.data": None}, night).blockers
    assert [each.where for each in waking] == ["pools.workload.size"]


def test_a_cluster_in_order_may_stay_as_it_is() -> None:
    assert judged() == Judgement()


def test_without_a_cluster_there_is_nothing_to_judge() -> None:
    assert judge(cloud_of(STACK, config()), [], {}) == Judgement()


@pytest.mark.parametrize(("live", "wanted"), [*product(MINORS, offered("eks"))])
def test_the_control_plane_goes_one_minor_forward_or_stays(live: int, wanted: str) -> None:
    found = judged({"cluster.version": wanted}, at(f"1.{live}", f"1.{live}"), way_back=WayBack())
    step = int(wanted.split(".")[1]) - live
    assert bool(found.blockers) == (step not in (0, 1))
    assert bool(found.earlier_runs) == (step > 0)
    for blocker in found.blockers:
        assert blocker.where == "cluster.version"
        assert blocker.allowed == f"EKS accepts 1.{live} or 1.{live + 1}"
        assert (
            f"Set it to 1.{live}: `up` does not downgrade" if step < 0 else f"Set it to 1.{live + 1} "
        ) in blocker.step


@pytest.mark.parametrize(("behind", "step", "group"), [*product(range(5), (0, 1), ("workload", "data-a"))])
def test_no_node_falls_more_than_three_minors_behind(behind: int, step: int, group: str) -> None:
    versions = at(CHOSEN, CHOSEN, **{group.replace("-", "_"): f"1.{NUMBER - behind}"})
    found = judged({"cluster.version": f"1.{NUMBER + step}"}, versions)
    blockers = [str(each) for each in found.blockers]
    assert bool(blockers) == (behind + step > 3)
    if blockers:
        assert (
            f"node group test-{group}-0a1b2c3 on 1.{NUMBER - behind}, {behind + step} minor versions behind"
            in blockers[0]
        )
        assert ("update-nodegroup-version" if group == "data-a" else f"Set it to {CHOSEN}") in blockers[0]


def test_control_plane_and_add_ons_go_ahead_of_the_groups() -> None:
    (earlier_runs,) = judged({"cluster.version": NEWEST}).earlier_runs
    assert [component.type for component in earlier_runs].count(CLUSTER) == 1
    assert len([component for component in earlier_runs if component.type == ADDON]) == 7
    assert not [component for component in earlier_runs if component.type == NODE_GROUP]


def test_an_upgrade_that_stopped_among_the_add_ons_takes_them_first_again() -> None:
    changes = {"cluster.version": NEWEST}
    assert judged(changes, at(NEWEST, CHOSEN)).earlier_runs
    assert not judged(changes, at(NEWEST, NEWEST, data_a=CHOSEN)).earlier_runs, "data groups stay behind on purpose"


def with_block(version: str, behind: str, high: int = 2) -> Judgement:
    """Judge a stack at ``version`` whose capacity block was made at ``behind``, and whose bounds become ``high``."""
    changes = {"pools.train": BLOCK}
    names = build(changes).of_type(NODE_GROUP)
    live: Live = {name: {"version": behind if "train" in name else CHOSEN} for name in names}
    wanted = {**changes, "cluster.version": version, "pools.train.size": {"min": 0, "max": high}}
    state = components_of_state(exported(changes, {"test-cluster": {"version": CHOSEN}} | live))
    return judge(cloud_of(STACK, config(wanted)), state, {})


def test_a_capacity_block_that_an_upgrade_left_behind_begins_no_other_upgrade() -> None:
    assert with_block(CHOSEN, EARLIER) == Judgement()


def test_the_bounds_of_a_capacity_block_may_change_with_an_upgrade_that_leaves_its_nodes_alone() -> None:
    found = with_block(NEWEST, CHOSEN, high=4)
    assert found.blockers == ()
    assert found.earlier_runs


def test_a_capacity_block_too_far_behind_is_removed_because_it_cannot_be_upgraded() -> None:
    (blocker,) = with_block(NEWEST, f"1.{NUMBER - 3}").blockers
    assert "4 minor versions behind" in blocker.what
    assert "capacity block: remove its pool" in blocker.step
    assert f"cluster.version at {CHOSEN}" in blocker.step


def test_a_cluster_that_never_told_its_version_is_no_upgrade() -> None:
    assert not judged(live=at("", "")).earlier_runs


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_every_group_of_the_program_is_judged(environment: str) -> None:
    """Names stand in the program and here: with sizes that fit none, each group must be refused."""
    changes = {"environment": environment}
    names = build(changes).of_type(NODE_GROUP)
    sizes = {"minSize": 90, "maxSize": 99, "desiredSize": 95}
    state = components_of_state(exported(changes, {name: {"scalingConfig": sizes} for name in names}))
    blockers = judge(cloud_of(STACK, config(changes)), state, {}).blockers
    assert sorted(each.what.split()[3].removesuffix("-0a1b2c3") for each in blockers) == sorted(names)


SIZES = st.integers(0, 12)


@settings(deadline=None)
@given(st.tuples(SIZES, SIZES, SIZES), st.tuples(SIZES, SIZES), st.booleans())
def test_whatever_size_is_sent_is_taken_by_eks_and_ends_no_node_at_work(
    live: tuple[int, int, int], wanted: tuple[int, int], is_upgrade: bool
) -> None:
    low, size, high = sorted(live)
    high = max(1, high)
    least, most = min(wanted), max(1, *wanted)
    state: Live = {"test-workload": {"scalingConfig": {"minSize": low, "desiredSize": size, "maxSize": high}}}
    changes = {"pools.workload.size": {"min": least, "max": most}, "cluster.version": NEWEST if is_upgrade else CHOSEN}
    blockers = judged(changes, state).blockers
    is_elastic, was_elastic = least < most, low < high
    sent = size if is_elastic else least  # what `ignoreChanges` leaves, else what the stack file says
    taken = least <= sent <= most
    drained = sent < size and was_elastic
    raced = is_upgrade and is_elastic and (low, high) != (least, most)
    assert bool(blockers) == (not taken or drained or raced)
    assert all(each.where == "pools.workload.size" for each in blockers)


def test_a_minimum_above_the_live_size_is_answered_with_the_command_that_eks_takes() -> None:
    state: Live = {"test-workload": {"scalingConfig": {"minSize": 1, "desiredSize": 2, "maxSize": 3}}}
    (blocker,) = judged({"pools.workload.size": {"min": 5, "max": 8}}, state).blockers
    assert str(blocker) == (
        "- pools.workload.size: the node group test-workload-0a1b2c3 has 2 nodes, and min would be 5; at most 2 now: "
        "EKS requires the size to be within the bounds, and the autoscaler owns the size.\n"
        "  `aws eks update-nodegroup-config --cluster-name research --nodegroup-name test-workload-0a1b2c3 "
        "--scaling-config minSize=1,maxSize=5,desiredSize=5`, then run `up` again."
    )


@pytest.mark.parametrize(("live", "wanted"), [((5, 5), (1, 3)), ((5, 5), (0, 4)), ((5, 8), (1, 3)), ((5, 8), (3, 3))])
def test_a_group_that_the_autoscaler_may_not_shrink_gets_a_lower_minimum_first(
    live: tuple[int, int], wanted: tuple[int, int]
) -> None:
    state: Live = {"test-workload": {"scalingConfig": {"minSize": live[0], "desiredSize": 5, "maxSize": live[1]}}}
    (blocker,) = judged({"pools.workload.size": {"min": wanted[0], "max": wanted[1]}}, state).blockers
    assert blocker.step == (
        "The autoscaler removes none of its first 5 nodes: lower min only, leave max and run `up`. Then drain "
        "the surplus nodes (`kubectl drain`); the autoscaler removes empty ones. Once "
        f"{wanted[1]} or fewer are left, lower max and run `up` again."
    )
    assert not judged({"pools.workload.size": {"min": wanted[0], "max": live[1]}}, state).blockers


def test_a_fixed_size_grows_by_the_stack_file_before_it_becomes_elastic() -> None:
    state: Live = {"test-workload": {"scalingConfig": _fixed(3)}}
    (blocker,) = judged({"pools.workload.size": {"min": 5, "max": 8}}, state).blockers
    assert blocker.step == (
        "Its size is fixed: set max to the same number as min and run `up`, then set max and run `up` again."
    )
    assert not judged({"pools.workload.size": {"min": 5, "max": 5}}, state).blockers


def test_data_nodes_are_never_scaled_in() -> None:
    (blocker, *rest) = judged({"pools.data.size": {"min": 3, "max": 3}}, {DATA: {"scalingConfig": _fixed(2)}}).blockers
    assert "the node group test-data-a-0a1b2c3 has 2 nodes, and max would be 1" in blocker.what
    assert "never scaled in" in blocker.step
    assert not rest


def test_a_static_group_of_no_data_has_the_size_that_the_stack_file_says() -> None:
    assert not judged({"pools.initial.size": {"min": 2, "max": 2}}).blockers


def test_a_pool_that_goes_is_not_judged_by_size() -> None:
    assert not judged({"pools.gpu": None}).blockers


@pytest.mark.parametrize("status", ["CREATING", "UPDATING", "DELETING"])
@pytest.mark.parametrize(
    ("type_", "name"), [(CLUSTER, "test-cluster"), (NODE_GROUP, "test-gpu"), (ADDON, "test-addons-coredns")]
)
def test_what_eks_still_works_on_is_waited_for(type_: str, name: str, status: str) -> None:
    found = judged(conditions={urn(type_, name): Condition(status)})
    (blocker,) = found.blockers
    assert f"is {status}" in blocker.what
    assert not found.to_recreate


@pytest.mark.parametrize(
    ("type_", "name"), [(NODE_GROUP, "test-gpu"), (NODE_GROUP, "test-initial"), (ADDON, "test-addons-coredns")]
)
def test_a_failed_part_without_data_is_made_anew_and_that_is_said(type_: str, name: str) -> None:
    found = judged(conditions={urn(type_, name): Condition("CREATE_FAILED", ("AsgInstanceLaunchFailures: none left",))})
    assert [component.urn for component in found.to_recreate] == [urn(type_, name)]
    assert not found.blockers
    (note,) = found.notes
    assert "is CREATE_FAILED: AsgInstanceLaunchFailures: none left. It will be recreated." in note


def test_a_group_that_is_made_anew_keeps_nothing_from_an_upgrade() -> None:
    """A run for control plane and add-ons alone would meet the program's refusal of the failed group, every time."""
    found = judged({"cluster.version": NEWEST}, {"test-gpu": {"status": "CREATE_FAILED"}})
    assert [component.logical_name for component in found.to_recreate] == ["test-gpu"]
    assert not found.blockers
    assert not found.earlier_runs


def test_a_failed_add_on_goes_after_the_others() -> None:
    failed = urn(ADDON, "test-addons-coredns")
    found = judged({"cluster.version": NEWEST}, conditions={failed: Condition("CREATE_FAILED")})
    assert [component.urn for component in found.to_recreate] == [failed]
    (earlier_runs,) = found.earlier_runs
    assert failed not in [component.urn for component in earlier_runs]


def test_the_state_alone_tells_a_failed_group_too() -> None:
    assert [
        component.logical_name for component in judged(live={"test-gpu": {"status": "CREATE_FAILED"}}).to_recreate
    ] == ["test-gpu"]


def test_a_failed_group_is_not_judged_by_its_size() -> None:
    """It is made anew with the size of the stack file."""
    live = {"test-gpu": {"status": "CREATE_FAILED", "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4}}}
    assert not judged({"pools.gpu.size": {"min": 1, "max": 4}}, live).blockers


def test_a_failed_group_that_nobody_wants_any_more_is_left_to_the_engine() -> None:
    found = judged({"pools.gpu": None}, {"test-gpu": {"status": "CREATE_FAILED"}})
    assert not found.to_recreate
    assert not found.blockers


@pytest.mark.parametrize(
    ("name", "status"), [("test-cluster", "FAILED"), (DATA, "CREATE_FAILED"), (DATA, "DELETE_FAILED")]
)
def test_a_failed_cluster_or_data_group_is_refused_with_the_steps(name: str, status: str) -> None:
    found = judged(live={name: {"status": status}})
    assert not found.to_recreate
    (blocker,) = found.blockers
    assert f"is {status}: EKS reports no cause" in blocker.what
    assert "`aws eks de" in blocker.step


def test_what_is_degraded_is_named_and_may_be_mended_by_the_change() -> None:
    found = judged(conditions={urn(NODE_GROUP, "test-gpu"): Condition("DEGRADED", ("InsufficientFreeAddresses: 0",))})
    assert found == Judgement(notes=("The node group test-gpu-0a1b2c3 is DEGRADED: InsufficientFreeAddresses: 0.",))


def test_a_group_that_a_replacement_has_still_to_delete_is_nobodys_trouble() -> None:
    state = exported(live={"test-gpu": {"status": "CREATE_FAILED"}})
    next(each for each in state["resources"] if each["urn"] == urn(NODE_GROUP, "test-gpu"))["delete"] = True
    assert judge(cloud_of(STACK, config()), components_of_state(state), {}) == Judgement()


def test_all_that_is_wrong_is_said_at_once() -> None:
    live = {
        "test-cluster": {"version": EARLIER},
        "test-workload": {"scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 10}},
        "test-arm": {"scalingConfig": {"minSize": 0, "desiredSize": 4, "maxSize": 4}},
        "test-spot": {"status": "UPDATING"},
        DATA: {"status": "CREATE_FAILED"},
    }
    changes = {"pools.workload.size": {"min": 3, "max": 10}, "pools.arm.size": {"min": 0, "max": 2}}
    found: tuple[Blocker, ...] = judged(changes, live).blockers
    assert [each.where for each in found if each.where.startswith(("cluster", "node"))] == [
        "cluster.version",
        "node group test-data-a-0a1b2c3",
        "node group test-spot-0a1b2c3",
    ]
    assert {each.where for each in found} >= {"pools.workload.size", "pools.arm.size"}


def _fixed(size: int) -> dict[str, int]:
    return {"minSize": size, "desiredSize": size, "maxSize": size}
