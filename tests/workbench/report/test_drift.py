from copy import deepcopy
from typing import Any

import pytest

from components.contract.labels import LabelKey
from support.eks import NODE_GROUP, build, built
from support.event_lines import events, kind, lines
from support.streams import stream
from workbench.report import markdown
from workbench.report.drift import as_found, pools_of_their_own
from workbench.report.event_payloads import PropertyDiff, Step
from workbench.report.events import noted, read
from workbench.report.model import Operation, Outcome, Report, Source, StackReport
from workbench.report.verdict import Case, judge
from workbench.report.words import meaning, verdict

AGENT_POOL = "azure-native:containerservice:AgentPool"
MANAGED_CLUSTER = "azure-native:containerservice:ManagedCluster"
NODE = "kubernetes:core/v1:Node"
SPOT = {"key": "app.iguazio.com/lifecycle", "value": "preemptible", "effect": "NoSchedule"}


def step(token: str, declared: Any, live: Any, *paths: str) -> Step:
    """What a refresh came to, as the engine tells it."""
    urn = f"urn:pulumi:dev::igz-clusters::{token}::it"
    return Step.model_validate(
        {
            "op": "update" if paths else "same",
            "urn": urn,
            "type": token,
            "old": {"urn": urn, "custom": True, "inputs": declared, "outputs": declared},
            "new": {"urn": urn, "custom": True, "inputs": live, "outputs": live},
            "diffs": sorted({path.partition(".")[0] for path in paths}),
            "detailedDiff": {path: {"diffKind": "update", "inputDiff": False} for path in paths},
        }
    )


def node_group(pool: str) -> dict[str, Any]:
    """The inputs with which the real program declares a pool."""
    groups = built().of_type(NODE_GROUP).values()
    return deepcopy(next(inputs for inputs in groups if inputs["labels"][LabelKey.POOL.value] == pool))


def drifted(found: Step) -> set[str]:
    after = as_found(found)
    paths = set(after.detailed_diff or {})
    assert (after.op == "update") == bool(paths)
    return paths


def sized(pool: str, **sizes: int) -> set[str]:
    declared, live = node_group(pool), node_group(pool)
    live["scalingConfig"].update(sizes)
    return drifted(step(NODE_GROUP, declared, live, *(f"scalingConfig.{key}" for key in sizes)))


def test_the_size_of_an_elastic_group_is_the_autoscalers() -> None:
    assert sized("workload", desiredSize=7) == set()
    assert sized("spot", desiredSize=20) == set()


def test_the_size_of_a_static_group_is_not() -> None:
    assert sized("initial", desiredSize=2) == {"scalingConfig.desiredSize"}
    assert sized("data", desiredSize=4) == {"scalingConfig.desiredSize"}


def test_a_size_beyond_the_declared_bounds_is_nobodys_but_drift() -> None:
    assert sized("workload", desiredSize=15, maxSize=20) == {"scalingConfig.desiredSize", "scalingConfig.maxSize"}
    assert sized("workload", desiredSize=0) == {"scalingConfig.desiredSize"}


def with_hours(pool: str, changes: dict[str, Any], live: dict[str, int]) -> set[str]:
    declared = build(changes).of_type(NODE_GROUP)[f"test-{pool}"]
    found = deepcopy(declared)
    found["scalingConfig"].update(live)
    return drifted(step(NODE_GROUP, declared, found, *(f"scalingConfig.{key}" for key in live)))


HOURS = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
OF_POOL = {"pools.workload.size": {"min": 2, "max": 10}, "pools.workload.officeHours": {**HOURS, "nightMin": 1}}
OF_CLUSTER = {"cluster.officeHours": HOURS, "pools.data": None}


@pytest.mark.parametrize(
    ("pool", "changes", "live", "paths"),
    [
        ("workload", OF_POOL, {"minSize": 1, "desiredSize": 1}, set()),
        ("workload", OF_POOL, {"minSize": 1, "desiredSize": 7}, set()),
        ("workload", OF_POOL, {"minSize": 0, "desiredSize": 0}, {"scalingConfig.minSize", "scalingConfig.desiredSize"}),
        ("workload", OF_POOL, {"minSize": 1, "maxSize": 20}, {"scalingConfig.maxSize"}),
        ("workload", OF_CLUSTER, {"minSize": 0, "desiredSize": 0}, set()),
        ("initial", OF_CLUSTER, {"minSize": 0, "desiredSize": 0}, set()),
        ("initial", OF_CLUSTER, {"minSize": 0, "desiredSize": 1}, {"scalingConfig.desiredSize"}),
        ("initial", OF_CLUSTER, {"minSize": 0, "maxSize": 9}, {"scalingConfig.maxSize"}),
        ("initial", {}, {"minSize": 0, "desiredSize": 0}, {"scalingConfig.minSize", "scalingConfig.desiredSize"}),
    ],
)
def test_sizes_that_office_hours_set_are_no_drift_and_others_are(
    pool: str, changes: dict[str, Any], live: dict[str, int], paths: set[str]
) -> None:
    assert with_hours(pool, changes, live) == paths


@pytest.mark.parametrize(
    ("token", "path", "drifts"),
    [
        (AGENT_POOL, "powerState", False),
        (AGENT_POOL, "powerState.code", False),
        (MANAGED_CLUSTER, "agentPoolProfiles[1].powerState.code", False),
        (AGENT_POOL, "mode", True),
        ("azure-native:compute:VirtualMachine", "powerState", True),
    ],
)
def test_whether_aks_has_stopped_something_is_no_drift(token: str, path: str, drifts: bool) -> None:
    assert drifted(step(token, {}, {}, path)) == ({path} if drifts else set())


def test_bounds_are_ours_whatever_the_size_does() -> None:
    assert sized("workload", desiredSize=7, maxSize=12) == {"scalingConfig.maxSize"}


def test_what_else_changed_in_an_elastic_group_is_drift() -> None:
    declared, live = node_group("workload"), node_group("workload")
    live["scalingConfig"]["desiredSize"], live["labels"]["example.com/team"] = 5, "x"
    found = step(NODE_GROUP, declared, live, "scalingConfig.desiredSize", 'labels["example.com/team"]')
    assert drifted(found) == {'labels["example.com/team"]'}
    assert as_found(found).diffs is None  # it names scalingConfig


@pytest.mark.parametrize(("elastic", "paths"), [(True, set()), (False, {"count"})])
def test_the_count_of_an_agent_pool_is_the_autoscalers_where_it_has_one(elastic: bool, paths: set[str]) -> None:
    declared = {"enableAutoScaling": elastic, "minCount": 1, "maxCount": 9, "count": 1}
    assert drifted(step(AGENT_POOL, declared, {**declared, "count": 4}, "count")) == paths


def profiles(*names: str, **changed: Any) -> dict[str, Any]:
    """The list of pools that a cluster on AKS has, the initial one with other values."""
    pools: dict[str, dict[str, Any]] = {name: {"name": name, "count": 1, "tags": {"a": "b"}} for name in names}
    pools.get("initial", {}).update(changed)
    return {"agentPoolProfiles": list(pools.values())}


INITIAL = profiles("initial")
ADDED = ("agentPoolProfiles[1]",)
COUNT = ("agentPoolProfiles[0].count",)
ELASTIC = {"enableAutoScaling": True, "minCount": 1, "maxCount": 3}
REPLACED = {"agentPoolProfiles": [*INITIAL["agentPoolProfiles"], {"name": "before", "mode": "User"}]}
RENAMED = ("agentPoolProfiles[1].name", "agentPoolProfiles[1].mode")
FIRST, TAGS = "agentPoolProfiles[0]", "agentPoolProfiles[0].tags"
MOVED = ("agentPoolProfiles[0].name", "agentPoolProfiles[1]")


@pytest.mark.parametrize(
    ("declared", "live", "paths", "expected"),
    [
        pytest.param(INITIAL, profiles("initial", "gpu"), ADDED, set(), id="listed behind it"),
        pytest.param(INITIAL, profiles("gpu", "initial"), MOVED, set(), id="listed before it"),
        pytest.param(profiles("initial", "gpu", "workload"), profiles("initial", "workload"), ADDED, set(), id="gone"),
        pytest.param(REPLACED, profiles("initial", "workload"), RENAMED, set(), id="replaced since a refresh"),
        pytest.param(INITIAL, profiles("gpu", "initial", tags={}), MOVED, {TAGS}, id="the initial one changed"),
        pytest.param(INITIAL, profiles("initial", "byhand"), ADDED, set(ADDED), id="made by hand"),
        pytest.param(INITIAL, profiles("byhand", "initial"), MOVED, set(ADDED), id="made by hand, listed before it"),
        pytest.param(profiles("gpu", "initial"), profiles("gpu"), ADDED, {FIRST}, id="the initial one is gone"),
        pytest.param(INITIAL, profiles("byhand"), MOVED[:1], {FIRST, *ADDED}, id="replaced by hand"),
        pytest.param(
            profiles("initial", **ELASTIC),
            profiles("initial", **ELASTIC, count=9),
            COUNT,
            set(COUNT),
            id="beyond its maximum",
        ),
    ],
)
def test_pools_that_are_resources_are_not_compared_in_the_list_of_their_cluster(
    declared: Any, live: Any, paths: tuple[str, ...], expected: set[str]
) -> None:
    ours = [step(AGENT_POOL, {"agentPoolName": name}, {"agentPoolName": name}) for name in ("gpu", "workload")]
    cluster = step(MANAGED_CLUSTER, declared, live, *paths)
    found = as_found(cluster, pools_of_their_own([*ours, cluster]))
    assert set(found.detailed_diff or {}) == expected


def test_what_azure_adds_to_a_pool_is_compared_with_what_it_returned_before() -> None:
    returned = profiles("initial", osType="Linux", maxPods=30, orchestratorVersion="1.35.1")
    live = profiles("gpu", "initial", osType="Linux", maxPods=50, orchestratorVersion="1.35.2")
    applied = profiles("gpu", "initial", osType="Linux", maxPods=50)  # as the engine mixes them, by position
    cluster = step(MANAGED_CLUSTER, INITIAL, applied, *MOVED)
    assert cluster.old
    assert cluster.new
    old, new = cluster.old.model_copy(update={"outputs": returned}), cluster.new.model_copy(update={"outputs": live})
    found = as_found(cluster.model_copy(update={"old": old, "new": new}), frozenset({"gpu"}))
    assert set(found.detailed_diff or {}) == {"agentPoolProfiles[0].maxPods"}
    assert found.new
    assert found.new.inputs["agentPoolProfiles"] == profiles("initial", maxPods=50)["agentPoolProfiles"]


def test_pools_inside_a_cluster_are_told_apart() -> None:
    static = {"name": "static", "count": 3}
    elastic = {"name": "elastic", "enableAutoScaling": True, "minCount": 0, "maxCount": 9, "count": 0}
    declared = {"agentPoolProfiles": [static, elastic]}
    live = {"agentPoolProfiles": [{**static, "count": 2}, {**elastic, "count": 5}]}
    found = step(MANAGED_CLUSTER, declared, live, "agentPoolProfiles[0].count", "agentPoolProfiles[1].count")
    assert drifted(found) == {"agentPoolProfiles[0].count"}


def test_pools_inside_a_cluster_keep_their_places_if_one_is_gone() -> None:
    elastic = {"name": "elastic", **ELASTIC, "count": 1, "osType": "Linux"}
    declared = {"agentPoolProfiles": [{"name": "static", "count": 3}, elastic]}
    live = {"agentPoolProfiles": [{**elastic, "count": 2, "osType": "Windows"}]}
    found = as_found(step(MANAGED_CLUSTER, declared, live, "agentPoolProfiles[1]"))
    assert set(found.detailed_diff or {}) == {"agentPoolProfiles[0]", "agentPoolProfiles[1].osType"}
    assert found.new
    assert found.new.inputs["agentPoolProfiles"][1]["osType"] == "Windows"


def test_a_pool_inside_a_cluster_whose_change_replaces_it_is_shown_so() -> None:
    path = "agentPoolProfiles[0].count"
    cluster = step(MANAGED_CLUSTER, INITIAL, profiles("initial", count=2), path)
    replaced = cluster.model_copy(update={"detailed_diff": {path: PropertyDiff(diffKind="update-replace")}})
    assert (as_found(replaced).detailed_diff or {})[path].kind == "update-replace"


def test_a_group_whose_bounds_cannot_be_told_has_drifted() -> None:
    declared, live = node_group("workload"), node_group("workload")
    declared["scalingConfig"]["maxSize"] = "many"
    live["scalingConfig"]["desiredSize"] = 5
    assert drifted(step(NODE_GROUP, declared, live, "scalingConfig.desiredSize")) == {"scalingConfig.desiredSize"}


def taints(declared: list[Any], live: list[Any], *paths: str) -> set[str]:
    return drifted(step(NODE, {"spec": {"taints": declared}}, {"spec": {"taints": live}}, *paths))


@pytest.mark.parametrize(
    "key",
    [
        "node.kubernetes.io/not-ready",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
    ],
)
def test_taints_of_a_nodes_state_are_none_wherever_they_stand(key: str) -> None:
    state = {"key": key, "effect": "NoSchedule", "timeAdded": "2026-11-21T00:00:00Z"}
    assert taints([SPOT], [state, SPOT], "spec.taints[0].key", "spec.taints[0].value") == set()
    assert taints([], [state]) == set()


def test_a_taint_that_somebody_added_or_took_away_is_drift() -> None:
    own = {"key": "example.com/own", "effect": "NoExecute"}
    assert taints([SPOT], [SPOT, own]) == {"spec.taints[1]"}
    assert taints([SPOT], [], "spec.taints") == {"spec.taints[0]"}
    assert taints([], [{"key": "node.kubernetes.io.example.com/x", "effect": "NoSchedule"}]) == {"spec.taints[0]"}


def refreshed(name: str = "", *, failed: str = "", **changes: Any) -> StackReport:
    """Judge a recorded refresh of the real engine in which the result of one resource is changed."""
    found = events("drift")
    for event in found:
        if kind(event) == "resOutputsEvent" and event["resOutputsEvent"]["metadata"]["urn"].endswith(f"::{name}"):
            event["resOutputsEvent"]["metadata"].update(changes)
        if failed and kind(event) == "summaryEvent":
            event["summaryEvent"]["result"] = "failed"
    if failed:
        found.insert(
            -2, {"timestamp": 0, "diagnosticEvent": {"message": failed, "color": "never", "severity": "error"}}
        )
    return judge(Case("prod", Source.DRIFT, read(lines(found))))


def test_a_refresh_that_found_nothing_passes_and_speaks_of_no_rules_and_no_pools() -> None:
    found = refreshed()
    assert (found.outcome, found.changes, found.problems) == (Outcome.PASSED, (), ())
    assert (found.pools, found.node_hours, found.rules) == ((), None, 0)
    assert found.unchanged > 100


def test_one_that_found_a_deletion_is_drift_and_asks_nobody_for_approval() -> None:
    found = refreshed("prod-cluster", op="delete", new=None)
    (change,) = found.changes
    assert (found.outcome, found.reasons) == (Outcome.BLOCKED, ("drift: 1 resource is not as declared",))
    assert (change.operation, change.protected, found.dangers) == (Operation.DELETE, False, ())


def test_one_that_could_not_compare_is_neither() -> None:
    found = refreshed("prod-cluster", failed="the cluster is unreachable", op="delete", new=None)
    assert found.outcome is Outcome.UNJUDGED
    assert "the state could not be compared with the live resources" in found.reasons
    assert found.problems == ("the cluster is unreachable",)


def test_a_cut_stream_is_neither() -> None:
    cut = lines(events("drift")[:-1])
    assert judge(Case("prod", Source.DRIFT, read(cut))).outcome is Outcome.UNJUDGED


def test_what_a_comparison_left_out_is_in_its_stream_and_its_verdict() -> None:
    content = noted(stream("drift"), "The cluster sleeps. Objects in it are not compared.")
    found = judge(Case("prod", Source.DRIFT, read(content)))
    assert (found.outcome, found.problems) == (Outcome.PASSED, ())
    assert found.notes == ("The cluster sleeps. Objects in it are not compared.",)
    assert verdict(found) == "No drift in what was compared"
    report = Report(found.outcome, (found,))
    assert "Others were left out" in meaning(report)
    for page in (markdown.render(report), markdown.render(report, 600)):
        assert "Objects in it are not compared." in page
