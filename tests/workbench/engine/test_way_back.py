"""Nodes that follow their control plane later, and the way back of both."""

import pytest

from support.eks import NODE_GROUP, build, built, config
from support.eks_judgement import at, judged
from support.eks_state import STACK, Live, components, exported
from support.minors import CHOSEN, EARLIER, NEWEST, OLDER
from workbench.engine.clouds.cluster_component import Group, NodeUpgrade
from workbench.engine.clouds.eks.cluster_components import ADDON
from workbench.engine.clouds.find import cloud_of
from workbench.engine.clouds.way_back import WayBack
from workbench.engine.cluster_components import components_of_state
from workbench.engine.upgrade_checks import Judgement, judge


def test_nodes_may_stay_behind_and_follow_later() -> None:
    stay = {"cluster.version": NEWEST, "cluster.nodeVersion": CHOSEN}
    (earlier_runs,) = judged(stay).earlier_runs
    assert not [component for component in earlier_runs if component.type == NODE_GROUP]
    bounds = {**stay, "pools.workload.size": {"min": 1, "max": 12}}
    assert judged(bounds).blockers == (), "their bounds may change, since no node does"
    assert judged(stay, at(NEWEST, CHOSEN)) == Judgement()
    assert judged({"cluster.version": NEWEST}, at(NEWEST, CHOSEN)).earlier_runs


@pytest.mark.parametrize(
    ("inputs", "version", "is_refused"),
    [
        (("launchTemplate",), CHOSEN, True),
        (("releaseVersion",), CHOSEN, True),
        (("version", "launchTemplate"), CHOSEN, False),
        (("launchTemplate",), NEWEST, False),
    ],
)
def test_nodes_that_stay_behind_take_no_other_change_which_eks_would_make_an_upgrade(
    inputs: tuple[str, ...], version: str, is_refused: bool
) -> None:
    cloud = cloud_of(STACK, config({"cluster.version": NEWEST, "cluster.nodeVersion": CHOSEN}))
    group = next(
        each for each in components(at(NEWEST, version)) if isinstance(each, Group) and "workload" in each.logical_name
    )
    blockers = [*cloud.plan_blockers([NodeUpgrade(group, inputs)], [])]
    assert bool(blockers) is is_refused
    for blocker in blockers:
        assert blocker.what.startswith(
            f"{CHOSEN}, but with its other {inputs[0]} EKS would upgrade the node group test-w"
        )


BACK = {"cluster.version": OLDER, "cluster.addonVersions": {"kube-proxy": f"v{OLDER}.0-eksbuild.2"}}
"""A stack file that goes back by one minor."""
OLD_DATA = dict.fromkeys(("data_a", "data_b", "data_c"), OLDER)
"""Data groups, which did not follow."""
READY = WayBack(OLDER)


def test_a_way_back_begins_with_the_nodes_and_ends_with_the_control_plane() -> None:
    found = judged(BACK, at(CHOSEN, CHOSEN, **OLD_DATA), way_back=READY)
    assert found.blockers == ()
    nodes, addons = found.earlier_runs
    names = {name for name in built().of_type(NODE_GROUP) if "-data-" not in name}
    assert {component.logical_name for component in nodes} == names
    assert {component.type for component in addons} == {ADDON}
    found = judged(BACK, at(CHOSEN, OLDER), way_back=READY)
    assert [{component.type for component in run} for run in found.earlier_runs] == [{ADDON}], "the nodes are back"
    assert judged(BACK, at(OLDER, OLDER)) == Judgement()


@pytest.mark.parametrize("way_back", [WayBack(), WayBack(EARLIER)])
def test_without_a_way_back_nothing_goes_back(way_back: WayBack) -> None:
    found = judged(BACK, at(CHOSEN, CHOSEN, **OLD_DATA), way_back=way_back)
    (blocker,) = found.blockers
    assert blocker.step.startswith(f"Set it to {CHOSEN}: `up` does not downgrade. ")
    assert found.earlier_runs == ()


def test_errors_that_eks_reports_block_the_way_back_unless_it_solves_them_itself() -> None:
    skew = "Kubelet version skew: nodes are newer"
    way_back = WayBack(OLDER, errors=(skew, "API usage: flowschemas"), warnings=("Cluster health: a subnet is full",))
    found = judged(BACK, at(CHOSEN, CHOSEN, **OLD_DATA), way_back=way_back)
    assert [blocker.what for blocker in found.blockers] == [
        f"{OLDER}, for which the cluster is not ready: API usage: flowschemas"
    ]
    assert found.notes == ("Before the rollback, EKS reports: Cluster health: a subnet is full.",)
    stale = (skew, "kube-proxy version skew: kube-proxy is newer", "EKS add-on version compatibility: coredns")
    found = judged(BACK, at(CHOSEN, OLDER), way_back=WayBack(OLDER, errors=stale))
    assert found.blockers == (), "the run for the add-ons is still to come, and insights may be a day old"


def test_nothing_stays_newer_than_the_control_plane() -> None:
    live = {**at(CHOSEN, CHOSEN), "test-node-addons-kube-proxy": {"addonVersion": f"v{CHOSEN}.0-eksbuild.2"}}
    found = judged({"cluster.version": OLDER}, live, way_back=READY)
    proxy, *data = sorted(found.blockers, key=lambda blocker: blocker.where)
    assert str(proxy) == (
        f"- cluster.addonVersions.kube-proxy: v{CHOSEN}.0-eksbuild.2 would be newer than the control plane, {OLDER}; "
        "kube-proxy may be at most as new as the control plane.\n"
        f"  Set it to one of `aws eks describe-addon-versions --addon-name kube-proxy --kubernetes-version {OLDER}`."
    )
    assert len(data) == 3
    assert all("Replicate the data of its nodes elsewhere; then `aws eks update-node" in each.step for each in data)
    assert len(judged(BACK, live, way_back=READY).blockers) == 3


def test_nodes_go_back_alone_where_the_control_plane_could() -> None:
    changes = {"cluster.nodeVersion": OLDER}
    live = at(CHOSEN, CHOSEN, **OLD_DATA)
    assert judged(changes, live, way_back=READY) == Judgement()
    blockers = judged(changes, live, way_back=WayBack()).blockers
    assert {blocker.where for blocker in blockers} == {"cluster.nodeVersion"}
    assert all(f"Set it to {CHOSEN}. " in blocker.step for blocker in blockers)


def test_no_group_is_created_while_nodes_stay_behind() -> None:
    """EKS creates groups of the control plane's version only."""
    groups = [each for each in components() if isinstance(each, Group) and "spot" in each.logical_name]
    behind = cloud_of(STACK, config({"cluster.version": NEWEST, "cluster.nodeVersion": CHOSEN}))
    (blocker,) = behind.plan_blockers([], groups)
    assert blocker.what == f"{CHOSEN}, but the change creates the node group test-spot"
    assert blocker.step == "Remove nodeVersion, or leave this change until the nodes follow."
    assert not [*behind.plan_blockers([], [])]
    assert not [*cloud_of(STACK, config({"cluster.version": NEWEST})).plan_blockers([], groups)]


def test_a_capacity_block_that_cannot_go_back_goes_first() -> None:
    train = {
        "role": "gpu",
        "lifecycle": "reserved",
        "size": {"min": 0, "max": 2},
        "instanceTypes": ["p5.48xlarge"],
        "zone": "b",
        "reservation": {"id": "cr-0b91582543292e10b", "block": True},
    }
    live: Live = {name: {"version": OLDER} for name in build({"pools.train": train}).of_type(NODE_GROUP)}
    live |= {"test-cluster": {"version": CHOSEN}}
    live |= {name: {"version": CHOSEN} for name in live if "train" in name}
    state = components_of_state(exported({"pools.train": train}, live))
    (blocker,) = judge(cloud_of(STACK, config({**BACK, "pools.train": train})), state, {}, lambda: READY).blockers
    assert blocker.what.startswith(f"{OLDER} would leave the node group test-train")
    assert blocker.step == "EKS changes no nodes of a capacity block: remove its pool, and run `up` again."
