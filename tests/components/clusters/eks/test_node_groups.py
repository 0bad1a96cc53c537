import pulumi
import pytest

from support.eks import CLUSTER, DOCUMENT, LAUNCH_TEMPLATE, NODE_GROUP, TAG, build, built
from support.minors import CHOSEN, NEWEST, OLDER
from support.recorder import COMPUTED

DATA = [f"test-data-{zone}" for zone in "abc"]


def test_each_pool_is_a_group_and_zonal_pools_are_one_a_zone() -> None:
    assert set(built().of_type(NODE_GROUP)) == {
        *("test-initial", "test-workload", "test-arm", "test-spot", "test-gpu"),
        *("test-jupyter-a", "test-jupyter-b", "test-jupyter-c"),
        *DATA,
    }


def test_the_initial_group_is_static_and_its_size_is_sent() -> None:
    for nodes in (2, 3):
        recorder = build({"pools.initial.size": {"min": nodes, "max": nodes}})
        sizes = recorder.of_type(NODE_GROUP)["test-initial"]["scalingConfig"]
        assert sizes == {"minSize": nodes, "maxSize": nodes, "desiredSize": nodes}
        assert recorder.options[NODE_GROUP, "test-initial"].ignore_changes == ()


@pytest.mark.parametrize(("live", "sent"), [(None, 1), (7, 7), (0, 1), (30, 10)])
def test_a_group_that_replaces_another_begins_with_its_nodes_within_the_bounds(live: int | None, sent: int) -> None:
    sizes = {} if live is None else {"workload": live, "initial": live}
    groups = build(live_sizes=sizes).of_type(NODE_GROUP)
    assert groups["test-workload"]["scalingConfig"] == {"minSize": 1, "maxSize": 10, "desiredSize": sent}
    assert groups["test-initial"]["scalingConfig"]["desiredSize"] == 3


@pytest.mark.parametrize(("status", "ends_well"), [("CREATE_FAILED", False), ("DEGRADED", True), ("ACTIVE", True)])
def test_no_update_ends_well_with_a_group_that_eks_gave_up(
    monkeypatch: pytest.MonkeyPatch, status: str, ends_well: bool
) -> None:
    """Even without our command: to the engine such a group is one without changes, refresh or not."""
    computed = {"status": status, "resources": []}
    monkeypatch.setitem(COMPUTED, NODE_GROUP, lambda name: computed if name == "test-gpu" else {"resources": []})
    if ends_well:
        build()
        return
    with pytest.raises(pulumi.RunError, match="stopped creating this node group") as caught:
        build()
    assert "`pulumi up --replace 'urn:pulumi:" in str(caught.value)
    assert "::test-gpu'`" in str(caught.value)


def test_a_preview_only_warns_of_such_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a pull request can be planned that corrects the cause."""
    said: list[str] = []
    monkeypatch.setitem(COMPUTED, NODE_GROUP, lambda _: {"status": "CREATE_FAILED", "resources": []})
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    monkeypatch.setattr(pulumi.log, "warn", lambda message, _: said.append(message))
    build()
    assert len(said) == len(built().of_type(NODE_GROUP))


@pytest.mark.parametrize("name", DATA)
def test_a_data_group_is_guarded_in_every_way_that_eks_offers(name: str) -> None:
    group, options = built().of_type(NODE_GROUP)[name], built().options[NODE_GROUP, name]
    template = built().of_type(LAUNCH_TEMPLATE)[name]
    assert options.protect
    assert options.retain_on_delete
    assert set(options.ignore_changes) == {"version", "releaseVersion", "launchTemplate"}
    assert built().options[LAUNCH_TEMPLATE, name].protect
    assert template["disableApiStop"]
    assert template["disableApiTermination"]
    assert group["nodeRepairConfig"] == {"enabled": False}
    assert group["capacityType"] == "ON_DEMAND"
    assert group["scalingConfig"] == {"minSize": 1, "maxSize": 1, "desiredSize": 1}


def test_other_groups_are_repaired_updated_and_replaced_freely() -> None:
    for name, group in built().of_type(NODE_GROUP).items():
        if name not in DATA:
            assert group["nodeRepairConfig"] == {"enabled": True}
            assert not built().options[NODE_GROUP, name].protect
            assert not built().options[NODE_GROUP, name].retain_on_delete
            assert not built().of_type(LAUNCH_TEMPLATE)[name]["disableApiTermination"]


def test_a_named_image_release_is_on_every_group_and_left_alone_on_data_groups() -> None:
    release = f"{CHOSEN}.2-20261105"
    recorder = build({"cluster.nodeRelease": release})
    assert {g["releaseVersion"] for g in recorder.of_type(NODE_GROUP).values()} == {release}
    assert {g.get("releaseVersion") for g in built().of_type(NODE_GROUP).values()} == {None}
    assert all("releaseVersion" in recorder.options[NODE_GROUP, name].ignore_changes for name in DATA)


def test_limits_of_upgrades_are_each_groups_own() -> None:
    changes = {
        "pools.workload.upgrade": {"nodes": 2},
        "pools.gpu.upgrade": {"nodes": "50%", "order": "old-first"},
        "pools.jupyter.upgrade": {"nodes": 50},
    }
    groups = build(changes).of_type(NODE_GROUP)
    assert groups["test-workload"]["updateConfig"] == {"maxUnavailable": 2, "updateStrategy": "DEFAULT"}
    assert groups["test-gpu"]["updateConfig"] == {"maxUnavailablePercentage": 50, "updateStrategy": "MINIMAL"}
    for zone in "abc":
        group = groups[f"test-jupyter-{zone}"]
        assert group["updateConfig"]["maxUnavailable"] == group["scalingConfig"]["maxSize"]
    assert groups["test-initial"]["updateConfig"] == {"maxUnavailable": 1}
    assert groups["test-spot"]["updateConfig"] == {"maxUnavailablePercentage": 33}


def test_an_update_within_limits_has_the_time_that_they_may_take() -> None:
    options = build({"pools.workload.upgrade": {"nodes": 1}, "pools.gpu.upgrade": {"nodes": "100%"}}).options
    assert options[NODE_GROUP, "test-workload"].update_timeout == "300m", "ten nodes, half an hour each"
    assert options[NODE_GROUP, "test-gpu"].update_timeout == "60m"
    assert options[NODE_GROUP, "test-initial"].update_timeout == ""


@pytest.mark.parametrize(("order", "strategy"), [(None, "MINIMAL"), ("old-first", "MINIMAL"), ("new-first", "DEFAULT")])
def test_reserved_groups_take_no_further_machine_unless_the_stack_file_says_so(order: str, strategy: str) -> None:
    reserved = {"lifecycle": "reserved", "zone": "a", "reservation": {"id": "cr-0a91582543292e10a"}}
    changes = {f"pools.gpu.{key}": value for key, value in reserved.items()}
    groups = build({**changes, "pools.gpu.upgrade": {"order": order}}).of_type(NODE_GROUP)
    assert groups["test-gpu"]["updateConfig"]["updateStrategy"] == strategy


@pytest.mark.parametrize(
    ("live", "changes", "nodes"),
    [
        (CHOSEN, {}, CHOSEN),
        (CHOSEN, {"cluster.nodeVersion": OLDER}, OLDER),
        (OLDER, {}, OLDER),
        (NEWEST, {}, CHOSEN),
    ],
    ids=["alike", "later", "behind the control plane", "before the control plane goes back"],
)
def test_nodes_have_the_older_of_what_the_control_plane_runs_and_what_is_wanted(
    monkeypatch: pytest.MonkeyPatch, live: str, changes: dict[str, str], nodes: str
) -> None:
    before = COMPUTED[CLUSTER]
    monkeypatch.setitem(COMPUTED, CLUSTER, lambda name: {**before(name), "version": live})
    assert {group["version"] for group in build(changes).of_type(NODE_GROUP).values()} == {nodes}


def test_full_platform_with_v3io_leaves_spot_nodes_untainted_and_the_hop_limit_at_one() -> None:
    recorder = build({"profile": "iguazio", "servers": "pulumi"})
    assert recorder.of_type(NODE_GROUP)["test-spot"]["taints"] == []
    assert {t["metadataOptions"]["httpPutResponseHopLimit"] for t in recorder.of_type(LAUNCH_TEMPLATE).values()} == {1}


def test_another_shape_is_another_group_with_its_template_and_tags_and_touches_nothing_else() -> None:
    after, before = build({"pools.workload.instanceTypes": ["m6i.2xlarge", "m6i.4xlarge"]}), built()
    name = "test-workload-16cpu-64gib"
    for kind in (NODE_GROUP, LAUNCH_TEMPLATE, TAG):
        new = after.of_type(kind)
        assert {each: new[each] for each in before.of_type(kind)} == before.of_type(kind)
        assert {each.partition("/")[0] for each in set(new) - set(before.of_type(kind))} == {name}
    group = after.of_type(NODE_GROUP)[name]
    assert group["instanceTypes"] == ["m6i.4xlarge"]
    assert group["scalingConfig"] == {"minSize": 0, "maxSize": 10, "desiredSize": 0}
    assert group["labels"] == before.of_type(NODE_GROUP)["test-workload"]["labels"]


def test_without_its_last_shape_a_pool_loses_one_group_and_no_other_changes() -> None:
    types = {"pools.gpu.instanceTypes": ["g5.12xlarge", "g5.2xlarge"]}
    before, after = build(types).of_type(NODE_GROUP), built().of_type(NODE_GROUP)
    assert set(before) - set(after) == {"test-gpu-8cpu-32gib-1gpu"}
    assert {name: before[name] for name in after} == after


def test_renaming_a_pool_and_reordering_the_others_leaves_their_groups_as_they_are() -> None:
    pools = DOCUMENT["pools"]
    renamed = {"graviton" if name == "arm" else name: pools[name] for name in reversed(pools)}
    after = build({"pools": renamed}).of_type(NODE_GROUP)
    before = built().of_type(NODE_GROUP)
    assert set(before) - set(after) == {"test-arm"}
    assert set(after) - set(before) == {"test-graviton"}
    assert {name: after[name] for name in before if name != "test-arm"} == {
        name: group for name, group in before.items() if name != "test-arm"
    }
