"""Which disruption budgets stop an upgrade: judged as the eviction API would judge an eviction."""

from typing import Any

import pytest

from support import aks, aks_state
from support.eks import NODE_GROUP, config
from support.eks_state import STACK, components, exported, urn
from workbench.engine.budgets import BudgetFindings, budget_findings
from workbench.engine.clouds.cloud import CloudStack
from workbench.engine.clouds.cluster_component import Group
from workbench.engine.clouds.find import cloud_of
from workbench.engine.cluster_components import drained_groups, node_upgrades
from workbench.report.event_payloads import Step
from workbench.report.events import Stream

WORKLOAD = "test-workload-0a1b2c3"


def node(name: str = "node-1", group: str = WORKLOAD, label: str = "eks.amazonaws.com/nodegroup") -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": name, "labels": {label: group}}}


def pod(name: str = "api-0", *, ready: bool = True, phase: str = "Running", **metadata: Any) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "mlrun", "labels": {"app": "api"}, **metadata},
        "spec": {"nodeName": "node-1"},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def budget(expected: int, wanted: int, ready: int, name: str = "api", **spec: Any) -> dict[str, Any]:
    status = {
        "expectedPods": expected,
        "desiredHealthy": wanted,
        "currentHealthy": ready,
        "disruptionsAllowed": max(0, ready - wanted),
    }
    selector = {"matchLabels": {"app": "api"}}
    metadata = {"name": name, "namespace": "mlrun"}
    return {
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": {"selector": selector, **spec},
        "status": status,
    }


def groups(*names: str) -> list[Group]:
    return [each for each in components() if isinstance(each, Group) and each.logical_name in names]


def found(*items: dict[str, Any]) -> BudgetFindings:
    """Judge what is in a cluster whose group ``workload`` is upgraded."""
    cloud = cloud_of(STACK, config())
    assert isinstance(cloud, CloudStack)
    return budget_findings(cloud, groups("test-workload"), [node(), *items])


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        (budget(3, 3, 3, maxUnavailable=0), "maxUnavailable 0 of 3"),
        (budget(3, 3, 3, maxUnavailable="0%"), "maxUnavailable 0% of 3"),
        (budget(1, 1, 1, minAvailable=1), "minAvailable 1 of 1"),
        (budget(2, 2, 2, minAvailable="51%"), "minAvailable 51% of 2"),
        (budget(1, 2, 1, minAvailable=2), "minAvailable 2 of 1"),
    ],
)
def test_a_budget_that_lets_no_pod_go_stops_the_upgrade(given: dict[str, Any], limit: str) -> None:
    (blocker,) = found(given, pod()).blockers
    assert str(blocker) == (
        f"- PodDisruptionBudget mlrun/api: lets no pod go ({limit}), and the upgrade evicts mlrun/api-0; it must allow "
        "at least one disruption.\n"
        "  Raise maxUnavailable, lower minAvailable or add a replica; or delete the budget while you upgrade. Until "
        f"then the upgrade of the node group {WORKLOAD} stops there."
    )


def test_two_budgets_of_one_pod_stop_it_even_if_both_allow_disruptions() -> None:
    (blocker,) = found(budget(3, 1, 3), budget(3, 1, 3, name="web"), pod(), pod("api-1")).blockers
    assert blocker.where == "PodDisruptionBudget mlrun/api and PodDisruptionBudget mlrun/web"
    assert blocker.what == "select mlrun/api-0, mlrun/api-1 together"


def test_a_pod_that_is_not_ready_stays_while_others_are_missing_unless_its_budget_spares_none() -> None:
    (blocker,) = found(budget(3, 2, 1), pod(ready=False)).blockers
    assert blocker.what == "wants 2 ready pods and has 1, and the upgrade evicts mlrun/api-0, not ready"
    assert found(budget(3, 2, 1, unhealthyPodEvictionPolicy="AlwaysAllow"), pod(ready=False)) == BudgetFindings()
    assert found(budget(3, 2, 2), pod(ready=False)) == BudgetFindings()
    assert len(found(budget(1, 0, 0, maxUnavailable=1), pod(ready=False)).blockers) == 1, "wanting none spares none"


def test_a_budget_that_is_used_up_now_is_only_noted() -> None:
    note = (
        "PodDisruptionBudget mlrun/api allows no disruption now: 2 of its 3 pods are ready, and it wants 2. The "
        "upgrade waits before it evicts mlrun/api-0."
    )
    assert found(budget(3, 2, 2), pod()) == BudgetFindings(notes=(note,))


NONE = budget(3, 3, 3, maxUnavailable=0)


@pytest.mark.parametrize(
    "items",
    [
        [budget(3, 2, 3), pod()],
        [NONE],
        [NONE, {**pod(), "spec": {"nodeName": "node-2"}}, node("node-2", "test-gpu-0a1b2c3")],
        [NONE, {**pod(), "spec": {}}],
        [NONE, pod(labels={"app": "web"})],
        [NONE, pod(namespace="jobs")],
        [NONE, pod(phase="Succeeded")],
        [NONE, pod(phase="Pending")],
        [NONE, pod(deletionTimestamp="2026-11-26T00:00:00Z")],
        [NONE, pod(ownerReferences=[{"kind": "DaemonSet"}])],
        [NONE, pod(ownerReferences=[{"kind": "Node"}])],
        [{**NONE, "spec": {"maxUnavailable": 0}}, pod()],
    ],
    ids=[
        *("allows one", "no pod", "on another group", "on no node", "of others", "in another namespace", "done"),
        *("pending", "going", "of a daemon set", "of a node", "without a selector"),
    ],
)
def test_no_other_budget_stops_anything(items: list[dict[str, Any]]) -> None:
    assert found(*items) == BudgetFindings()


def test_a_budget_that_cannot_be_computed_stops_the_upgrade_with_its_reason() -> None:
    given = budget(0, 0, 0, maxUnavailable=1)
    message = "found no controllers for pod api-0."
    given["status"]["conditions"] = [{"type": "DisruptionAllowed", "reason": "SyncFailed", "message": message}]
    (blocker,) = found(given, pod()).blockers
    assert blocker.what == (
        "allows no disruption, because its pods cannot be counted: found no controllers for pod api-0"
    )


@pytest.mark.parametrize(
    ("op", "cluster_goes", "names"),
    [("delete", False, ["test-pools-gpu"]), ("delete-replaced", False, ["test-pools-gpu"]), ("delete", True, [])],
)
def test_aks_drains_a_pool_that_is_deleted_but_not_those_that_go_with_their_cluster(
    op: str, cluster_goes: bool, names: list[str]
) -> None:
    gone = [
        aks_state.urn(aks.AGENT_POOL, "test-pools-gpu"),
        *([aks_state.urn(aks.CLUSTER, "test-cluster")] * cluster_goes),
    ]
    steps = [
        Step.model_validate({"op": op, "urn": each["urn"], "type": each["type"], "old": each, "new": None})
        for each in aks_state.exported()["resources"]
        if each["urn"] in gone
    ]
    assert [group.logical_name for group in drained_groups(Stream(steps=steps))] == names


@pytest.mark.parametrize(
    ("changes", "drains"),
    [
        ({"httpProxyConfig": {"httpProxy": "http://proxy.corp.example:3128"}}, True),
        ({"securityProfile": {"customCATrustCertificates": ["LS0t"]}}, True),
        ({"tags": {"team": "ml"}}, False),
    ],
    ids=["proxy", "certificates", "tags"],
)
def test_aks_drains_all_pools_after_a_change_of_what_all_nodes_start_with(
    changes: dict[str, Any], drains: bool
) -> None:
    steps = []
    for each in aks_state.exported()["resources"]:
        old = {"inputs": {}, **each}
        is_cluster = old["urn"] == aks_state.urn(aks.CLUSTER, "test-cluster")
        new = {**old, "inputs": {**old["inputs"], **(changes if is_cluster else {})}}
        op = "update" if is_cluster else "same"
        step = {"op": op, "urn": old["urn"], "type": old["type"], "old": old, "new": new}
        steps.append(Step.model_validate(step))
    pools = {each.name for each in aks_state.components() if isinstance(each, Group)}
    assert {group.name for group in drained_groups(Stream(steps=steps))} == (pools if drains else set())


@pytest.mark.parametrize(
    ("op", "changes", "is_upgrade"),
    [
        ("update", {"version": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}, True),
        ("update", {"releaseVersion": "1.35.2-20261105"}, True),
        ("update", {"launchTemplate": {"id": "lt-1", "version": "2"}}, True),
        ("update", {"labels": {"a": "b"}}, False),
        ("replace", {"version": "1.36"}, False),
        ("same", {}, False),
    ],
)
def test_only_groups_that_stay_with_other_nodes_are_drained(op: str, changes: dict[str, Any], is_upgrade: bool) -> None:
    place = urn(NODE_GROUP, "test-workload")
    old = next(each for each in exported()["resources"] if each["urn"] == place)
    new = {**old, "inputs": {**old["inputs"], **changes}}
    step = Step.model_validate({"op": op, "urn": place, "type": NODE_GROUP, "old": old, "new": new})
    found = [(str(each.group), each.inputs) for each in node_upgrades(Stream(steps=[step]))]
    assert found == ([(f"node group {WORKLOAD}", (*changes,))] if is_upgrade else [])
