from http import HTTPStatus
from itertools import islice
from typing import Any

import pytest

from components.contract.labels import WellKnownLabel
from support.rehearsal_api import Stage
from support.rehearsal_stacks import POOLS, stack
from workbench.rehearsal.cluster.simulated import ApiError
from workbench.rehearsal.play.labels import NODE_POOL
from workbench.rehearsal.play.node_events import (
    DRAIN,
    REPLACED,
    RETRY,
    UNNOTICED,
    capacity_refused,
    node_failure,
    rolling_upgrade,
    spot_reclaim,
)
from workbench.rehearsal.record import PodEnd
from workbench.rehearsal.scenario.events import CapacityRefused, NodeFailure, RollingUpgrade, SpotReclaim


def event(model: Any, kind: str, place: dict[str, str], **fields: Any) -> Any:
    return model.model_validate({"event": kind, "at": "5m", "place": place, **fields})


def reclaim(place: dict[str, str], **fields: Any) -> SpotReclaim:
    found: SpotReclaim = event(SpotReclaim, "spot-reclaim", place, **fields)
    return found


def with_spare() -> Stage:
    """A stage whose pool ``spare`` has one spot node, always."""
    return Stage(stack(pools=POOLS | {"spare": POOLS["spot"] | {"size": {"min": 1, "max": 1}}}))


def test_a_reclaimed_node_is_cordoned_and_goes_with_its_pods_after_the_notice() -> None:
    stage = Stage()
    stage.node("spot-x", "spot", elastic=True)
    stage.pod("a", "spot-x", "train-0")
    steps = spot_reclaim(stage.site, reclaim({"lifecycle": "spot"}, notice="30s"))
    assert next(steps) == 30
    assert stage.api.get("/api/v1/nodes/spot-x")["spec"]["unschedulable"] is True
    assert stage.names("pods") == {"a"}
    assert next(steps, None) is None
    assert not stage.names() | stage.names("pods")
    assert (stage.observed("a").end, stage.observed("a").cause) == (PodEnd.LOST, "spot-reclaim of node spot-x")
    assert [each.nodes for each in stage.chronicle.happenings] == [("spot-x",), ("spot-x",)]


def test_a_group_of_fixed_size_gets_another_node_after_a_reclaim() -> None:
    stage = with_spare()
    stage.node("spare-0", "spare")
    list(spot_reclaim(stage.site, reclaim({"pool": "spare"})))
    (made,) = stage.api.get("/api/v1/nodes")["items"]
    assert made["metadata"]["name"] == "spare-r1"
    assert made["metadata"]["labels"]["kubernetes.io/hostname"] == "spare-r1"
    assert made["metadata"]["labels"][WellKnownLabel.ZONE.value] == "a"
    assert made["metadata"]["annotations"] == {"igz-clusters.io/starts-in": "2000ms"}
    assert "unschedulable" not in made["spec"]


def test_a_reclaim_takes_as_many_nodes_as_it_says_fullest_first() -> None:
    stage = Stage()
    for name in ("spot-a", "spot-b", "spot-c"):
        stage.node(name, "spot", elastic=True)
    stage.pod("a", "spot-c", "train-0")
    list(spot_reclaim(stage.site, reclaim({"pool": "spot"}, nodes=2)))
    assert stage.names() == {"spot-b"}
    list(spot_reclaim(stage.site, reclaim({"pool": "spot"}, nodes="all")))
    assert not stage.names()


@pytest.mark.parametrize("place", [{}, {"role": "workload"}])
def test_a_reclaim_takes_spot_nodes_only(place: dict[str, str]) -> None:
    stage = Stage()
    stage.node("work-a", "work", elastic=True)
    stage.node("spot-a", "spot", elastic=True)
    stage.pod("a", "work-a", "train-0")
    list(spot_reclaim(stage.site, reclaim(place, nodes="all")))
    assert stage.names() == {"work-a"}
    assert stage.chronicle.happenings[0].nodes == ("spot-a",)


def test_an_event_without_a_node_is_recorded_as_such() -> None:
    stage = Stage()
    assert next(spot_reclaim(stage.site, reclaim({"pool": "spot"})), None) is None
    assert [each.text for each in stage.chronicle.happenings] == ["found no node: pool spot, spot"]


def test_a_failed_node_is_noticed_late_and_replaced_later() -> None:
    stage = Stage()
    stage.node("notebooks-0", "notebooks")
    stage.pod("a", "notebooks-0", "train-0")
    steps = node_failure(stage.site, event(NodeFailure, "node-failure", {"pool": "notebooks"}))
    assert next(steps) == UNNOTICED
    assert stage.api.get("/api/v1/nodes/notebooks-0")["metadata"]["annotations"] == {}
    assert next(steps) == REPLACED - UNNOTICED
    assert stage.api.get("/api/v1/nodes/notebooks-0")["metadata"]["annotations"] == {
        "igz-clusters.io/simulate": "not-ready"
    }
    assert next(steps, None) is None
    assert stage.names() == {"notebooks-r1"}
    assert stage.observed("a").cause == "node-failure of node notebooks-0"


def test_a_pod_does_not_end_well_on_a_node_that_has_failed() -> None:
    stage = Stage()
    stage.node("notebooks-0", "notebooks")
    stage.pod("a", "notebooks-0", "train-0")
    path = "/api/v1/namespaces/mlrun/pods/a"
    stage.api.patch(path, {"metadata": {"annotations": {"igz-clusters.io/run-for": "1000ms"}}})
    next(node_failure(stage.site, event(NodeFailure, "node-failure", {"pool": "notebooks"})))
    assert stage.api.get(path)["metadata"]["annotations"] == {"igz-clusters.io/run-for": "8760h"}


def shortage(place: dict[str, str], lasts: str) -> CapacityRefused:
    found: CapacityRefused = event(CapacityRefused, "capacity-refused", place, lasts=lasts)
    return found


def without_capacity(stage: Stage) -> set[str]:
    (parameters,) = stage.api.get("/configmaps")["items"]
    return set(parameters["data"])


def test_refused_capacity_holds_for_the_groups_of_the_place_and_ends() -> None:
    stage = Stage()
    steps = capacity_refused(stage.site, shortage({"lifecycle": "spot"}, "10m"))
    assert next(steps) == 600
    assert without_capacity(stage) == {"spot"}
    assert next(steps, None) is None
    assert without_capacity(stage) == set()


def test_refusals_of_one_moment_end_each_in_its_time() -> None:
    stage = Stage()
    gpus = capacity_refused(stage.site, shortage({"role": "gpu"}, "10m"))
    spot = capacity_refused(stage.site, shortage({"lifecycle": "spot"}, "20m"))
    all_ = capacity_refused(stage.site, shortage({}, "30m"))
    begun = [sorted(without_capacity(stage)) for steps in (gpus, spot, all_) if next(steps)]
    assert begun == [["gpu"], ["gpu", "spot"], sorted(POOLS)]
    ended = [sorted(without_capacity(stage)) for steps in (all_, gpus, spot) if not next(steps, None)]
    assert ended == [["gpu", "spot"], ["spot"], []]
    assert [each.text for each in stage.chronicle.happenings][3:] == [
        "new nodes of initial, work, notebooks again", "new nodes of gpu again", "new nodes of spot again"]  # fmt: skip


def test_a_replacement_waits_until_the_cloud_has_capacity() -> None:
    stage = with_spare()
    stage.node("spare-0", "spare")
    refused = capacity_refused(stage.site, shortage({"pool": "spare"}, "10m"))
    next(refused)
    steps = spot_reclaim(stage.site, reclaim({"pool": "spare"}))
    waits = [next(steps), next(steps)]
    assert not stage.names()
    next(refused, None)
    assert next(steps, None) is None
    assert waits == [120, 30]
    assert stage.names() == {"spare-r1"}


def upgrade(place: dict[str, str]) -> RollingUpgrade:
    found: RollingUpgrade = event(RollingUpgrade, "rolling-upgrade", place)
    return found


def test_an_upgrade_replaces_one_node_after_the_other_each_by_a_ready_one() -> None:
    stage = Stage()
    for name in ("initial-0", "initial-1"):
        stage.node(name, "initial")
    stage.pod("a", "initial-0", "api-0")
    steps, seen = rolling_upgrade(stage.site, upgrade({"role": "initial"})), []
    for _ in steps:
        seen.append(sorted(stage.names()))
        for name in stage.names():
            stage.api.patch(f"/api/v1/nodes/{name}", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert seen[0] == ["initial-0", "initial-1", "initial-r1"]
    assert ["initial-1", "initial-r1", "initial-r2"] in seen
    assert stage.names() == {"initial-r1", "initial-r2"}
    assert (stage.observed("a").end, stage.observed("a").cause) == (PodEnd.LOST, "rolling-upgrade of node initial-0")


def test_an_upgrade_gives_up_if_pods_may_not_be_evicted() -> None:
    stage = Stage()
    stage.node("initial-0", "initial")
    stage.pod("a", "initial-0", "api-0")
    stage.api.delete = lambda *_, **__: False  # type: ignore[method-assign]
    for wait in rolling_upgrade(stage.site, upgrade({"role": "initial"})):
        stage.wait(wait)
        assert stage.clock.now < 2 * DRAIN
        stage.api.patch("/api/v1/nodes/initial-r1", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert stage.chronicle.happenings[-1].text == "gave up: pods of initial-0 may not be evicted in 15m"
    assert "initial-0" in stage.names()


def test_a_replaced_elastic_node_stays_one_of_the_autoscaler() -> None:
    stage = Stage()
    stage.node("work-x", elastic=True, **{"igz-clusters.io/starts-at": "then"})
    next(rolling_upgrade(stage.site, upgrade({"pool": "work"})))
    made = stage.api.get("/api/v1/nodes/work-r1")
    assert made["spec"]["providerID"] == "kwok:work-r1"
    assert made["metadata"]["annotations"]["cluster-autoscaler.kwok.nodegroup/name"] == "work"
    assert "igz-clusters.io/starts-at" not in made["metadata"]["annotations"]


@pytest.mark.parametrize("is_made", [False, True], ids=["refused", "repeated"])
def test_an_upgrade_tries_again_if_the_replacement_is_refused_and_goes_on_if_it_exists(*, is_made: bool) -> None:
    stage = Stage()
    stage.node("work-x", elastic=True)
    create, answers = stage.api.create, [HTTPStatus.CONFLICT if is_made else HTTPStatus.UNPROCESSABLE_ENTITY]

    def answer(manifest: Any, **options: Any) -> Any:
        made = create(manifest, **options) if is_made or not answers else None
        if answers:  # a request is repeated if its answer did not arrive
            raise ApiError(answers.pop(), "already exists or no capacity")
        return made

    stage.api.create = answer  # type: ignore[method-assign]
    waits = list(islice(rolling_upgrade(stage.site, upgrade({"pool": "work"})), 2))
    assert (RETRY in waits) is not is_made
    assert stage.names() == {"work-x", "work-r1" if is_made else "work-r2"}


def test_a_replacement_that_is_wrong_in_itself_is_an_error() -> None:
    stage = Stage()
    stage.node("work-x", elastic=True)
    stage.api.refuses["Node"] = "forbidden"
    with pytest.raises(ApiError, match="403"):
        next(rolling_upgrade(stage.site, upgrade({"pool": "work"})))


def karpenters(stage: Stage, name: str, pool: str) -> str:
    """Add a node of Karpenter, and its NodeClaim; return the claim's path."""
    stage.node(name, pool, elastic=True)
    stage.api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {NODE_POOL: pool}}})
    stage.api.objects[path := f"/apis/karpenter.sh/v1/nodeclaims/{name}"] = {
        "kind": "NodeClaim",
        "metadata": {"name": name},
    }
    return path


def test_karpenter_drains_a_reclaimed_node_of_its_own_at_the_notice() -> None:
    stage = Stage()
    claim = karpenters(stage, "spot-x", "spot")
    steps = spot_reclaim(stage.site, reclaim({"lifecycle": "spot"}, notice="30s"))
    assert next(steps) == 30
    assert claim not in stage.api.objects
    assert stage.names() == {"spot-x"}
    assert next(steps, None) is None
    assert not stage.names()


def test_a_node_of_karpenter_that_stopped_is_gone_at_once_although_it_waits_for_a_drain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    claim = karpenters(stage, "work-x", "work")
    deleted: list[str] = []
    patched: list[tuple[str, Any]] = []
    # The API server keeps what has a finalizer, until it has none.
    monkeypatch.setattr(stage.api, "delete", lambda path, **_: deleted.append(path))
    monkeypatch.setattr(stage.api, "patch", lambda *change: patched.append(change))
    node = stage.chronicle.node("work-x")
    assert node
    stage.site.remove(node)
    assert deleted == [claim, "/api/v1/nodes/work-x"]
    assert patched == [(path, {"metadata": {"finalizers": None}}) for path in ("/api/v1/nodes/work-x", claim)]


def test_karpenter_replaces_its_nodes_in_an_upgrade_and_the_others_go_one_by_one() -> None:
    stage = Stage()
    karpenters(stage, "work-x", "work")
    stage.api.objects[pool := "/apis/karpenter.sh/v1/nodepools/work"] = {"kind": "NodePool", "metadata": {}}
    steps = rolling_upgrade(stage.site, event(RollingUpgrade, "rolling-upgrade", {"pool": "work"}))
    next(steps)
    assert stage.api.get(pool)["spec"]["template"]["metadata"]["annotations"] == {"igz-clusters.io/renewed": "1"}
    next(steps)
    stage.api.delete("/api/v1/nodes/work-x")
    assert next(steps, None) is None
    assert [each.text for each in stage.chronicle.happenings] == ["upgrades work-x", "upgraded work-x"]


def test_an_upgrade_says_which_nodes_karpenter_has_not_replaced() -> None:
    stage = Stage()
    karpenters(stage, "work-x", "work")
    stage.api.objects["/apis/karpenter.sh/v1/nodepools/work"] = {"kind": "NodePool", "metadata": {}}
    for wait in rolling_upgrade(stage.site, event(RollingUpgrade, "rolling-upgrade", {"pool": "work"})):
        stage.wait(wait)
        assert stage.clock.now < 2 * DRAIN
    assert "Karpenter has not replaced work-x in 15m" in [each.text for each in stage.chronicle.happenings]
