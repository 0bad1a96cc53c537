"""Roles of people and pipelines on a real API server, by impersonation."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.contract.labels import LabelKey
from components.scheduling.people import PeopleAccess, PeopleAccessArgs
from support.admission import Manifest, present
from support.api import Answer, Api, path_of
from support.cluster import Cluster, eventually, pod
from support.older import objects_of
from support.people import CORE, MAY, MUST_NOT, PEOPLE, PLAIN, Action

pytestmark = pytest.mark.control_plane

DRY = {"dryRun": "All"}
USER = {LabelKey.USER_WORKLOADS.value: "true"}
USER_POOL = {**USER, LabelKey.ROLE.value: "workload"}


MARKS = {"master": {"node-role.kubernetes.io/control-plane": ""}, "foreign": {}}
"""Labels of nodes that are in no pool."""


def node(role: str) -> Manifest:
    marks = MARKS.get(role, {LabelKey.ROLE.value: role})
    labels = {**marks, LabelKey.LIFECYCLE.value: "non-preemptible"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"people-{role}", "labels": labels}}


NODES = {role: node(role) for role in ("workload", "initial", "data", "master", "foreign")}


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    """The API server with a group in every role, a namespace without core services, and a node of each role."""
    made = Api(cluster.kubeconfig())
    arguments = PeopleAccessArgs(people=PEOPLE, core_namespaces=(CORE,))
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name, labels in ((PLAIN, USER), ("other", {}))
    ]
    objects = objects_of(lambda: PeopleAccess("people", arguments) and None)
    with present(made, [*namespaces, *objects, *NODES.values()]):
        eventually(lambda: _changed(made, "initial", {"spec": {"unschedulable": True}}).status == 403)
        yield made


def _as(role: str) -> dict[str, Any]:
    return {"as_user": f"{role}-member", "groups": (role, "system:authenticated")}


def _changed(api: Api, role: str, patch: Manifest, who: str = "it-admin") -> Answer:
    return api.send("PATCH", path_of(NODES[role]), patch, **_as(who), **DRY)


def _may(api: Api, role: str, action: Action) -> bool:
    attributes = {
        "verb": action.verb,
        "resource": action.resource,
        "group": action.group,
        "subresource": action.part,
        "namespace": action.where,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": {"user": f"{role}-member", "groups": list(_as(role)["groups"]), "resourceAttributes": attributes},
    }
    status = api.create(review).body["status"]
    assert "evaluationError" not in status, status
    return bool(status["allowed"])


@pytest.mark.parametrize("role", MAY)
def test_each_role_may_do_its_list_and_nothing_that_is_forbidden(api: Api, role: str) -> None:
    assert [str(action) for action in MAY[role] if not _may(api, role, action)] == []
    assert [str(action) for action in MUST_NOT[role] if _may(api, role, action)] == []


CHANGES: dict[str, Manifest] = {
    "cordon": {"spec": {"unschedulable": True}},
    "taint": {"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}},
    "label": {"metadata": {"labels": {"example.com/rack": "7"}}},
    "annotation": {
        "metadata": {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": None, "a": "b"}}
    },
    "lifecycle": {"metadata": {"labels": {LabelKey.LIFECYCLE.value: "preemptible"}}},
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_it_administrator_changes_application_nodes_only(api: Api, change: str) -> None:
    patch = CHANGES[change]
    assert _changed(api, "workload", patch).accepted
    for role in ("initial", "data", "master", "foreign"):
        answer = _changed(api, role, patch)
        assert (answer.status, answer.accepted) == (403, False)
        assert "application nodes only" in answer.message or "follow from its pool" in answer.message
    assert _changed(api, "workload", patch, who="data-scientist").status == 403


@pytest.mark.parametrize("role", NODES)
@pytest.mark.parametrize(
    "metadata",
    [
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "gone", "uid": "1"}]},
        {"finalizers": ["example.com/kept"]},
    ],
    ids=["owner", "finalizer"],
)
def test_an_it_administrator_gives_no_node_an_owner_or_a_finalizer(
    api: Api, metadata: dict[str, Any], role: str
) -> None:
    """The garbage collector deletes what has an owner that does not exist."""
    answer = _changed(api, role, {"metadata": metadata})
    assert answer.status == 403
    assert "give no node an owner or a finalizer" in answer.message


def test_an_it_administrator_named_as_a_user_is_confined_too(api: Api) -> None:
    named = {"as_user": "it-admin@example.com", "groups": ("system:authenticated",)}
    answers = [
        api.send("PATCH", path_of(NODES[role]), CHANGES["cordon"], **named, **DRY) for role in ("workload", "initial")
    ]
    assert [answer.accepted for answer in answers] == [True, False]


@pytest.mark.parametrize("label", [LabelKey.ROLE, LabelKey.POOL, LabelKey.USER_WORKLOADS])
def test_labels_of_the_contract_stay_the_stack_s(api: Api, label: LabelKey) -> None:
    answer = _changed(api, "workload", {"metadata": {"labels": {label.value: "initial"}}})
    assert answer.status == 403
    assert "follow from its pool" in answer.message


def template(restart: str, labels: dict[str, str]) -> Manifest:
    spec = pod("x", nodeSelector=USER_POOL)["spec"]
    return {"metadata": {"labels": {"app": "x", **labels}}, "spec": {**spec, "restartPolicy": restart}}


def job(where: str, **labels: str) -> Manifest:
    metadata, spec = {"name": "x", "namespace": where}, {"template": template("Never", labels)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def deployment(where: str, **labels: str) -> Manifest:
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": template("Always", labels)}
    return {**job(where), "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}


MARK = {LabelKey.CORE_SERVICE.value: "true"}


@pytest.mark.parametrize(
    ("who", "made", "accepted"),
    [
        ("data-scientist", job(PLAIN), True),
        ("data-scientist", job(CORE), False),
        ("data-scientist", job(PLAIN, **MARK), False),
        ("data-scientist", pod("x", namespace=PLAIN, nodeSelector=USER_POOL), True),
        ("data-scientist", pod("x", namespace=PLAIN, nodeSelector={LabelKey.ROLE.value: "initial"}), False),
        ("ci-applies", deployment(PLAIN), True),
        ("ci-applies", deployment(PLAIN, **MARK), False),
        ("ci-applies", deployment(CORE), False),
        ("ci-reads", deployment(PLAIN), False),
        ("it-admin", deployment(CORE, **MARK), True),
        ("it-admin", deployment(PLAIN, **MARK), False),
    ],
)
def test_what_a_role_creates_is_judged_by_admission_as_well(api: Api, who: str, made: Manifest, accepted: bool) -> None:
    answer = api.create(made, **_as(who), **DRY)
    assert answer.accepted is accepted, answer.message


def test_a_service_account_of_a_role_s_namespace_gets_nothing_from_it(api: Api) -> None:
    account = {"as_user": f"system:serviceaccount:{PLAIN}:default", "groups": ("system:serviceaccounts",)}
    assert api.send("GET", f"/api/v1/namespaces/{PLAIN}/pods", **account).status == 403


def _compared(cluster: Cluster, *groups: str) -> tuple[int, int, str]:
    """Return the exit codes of `drift` and `verify` with the rights of groups, and what `verify` found."""
    file = cluster.kubeconfig()
    text = file.read_text()
    config = yaml.safe_load(text)
    config["users"][0]["user"] |= {"as": "robot", "as-groups": ["system:authenticated", *groups]}
    try:
        file.write_text(yaml.safe_dump(config))
        drift = cluster.command("drift", "local", "--hermetic", check=False)
        verify = cluster.command("verify", "local", "--json", "--hermetic", check=False)
    finally:
        file.write_text(text)
    return drift.returncode, verify.returncode, verify.stdout


@pytest.mark.full
def test_a_pipeline_that_reads_can_compare_the_cluster_with_its_stack(cluster: Cluster, api: Api) -> None:
    assert _compared(cluster)[:2] == (3, 3)
    drift, verify, found = _compared(cluster, "ci-reads")
    assert (drift, verify) == (0, 1)
    deviating = {each["id"] for each in json.loads(found)["checks"] if each["deviations"]}
    assert deviating == {"stray-nodes"}  # the nodes of these tests
