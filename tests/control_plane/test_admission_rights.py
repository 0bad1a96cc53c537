"""Rules at admission: no user without the platform role can bypass them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from components.contract.admission import WAIVER_PREFIX
from components.contract.labels import LabelKey
from components.contract.taints import OWN_SPOT_TAINT
from support.admission import (
    USER,
    Manifest,
    present,
)
from support.api import Api, collection, path_of
from support.cluster import Cluster, eventually, pod
from support.scratch_admission import (
    BAD,
    DRY,
    GOOD,
    STRICT,
    VAP,
    scratch_rules_bound,
    simple,
)
from support.scratch_rules import IMAGE, TOO_HIGH, VALUE

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    with scratch_rules_bound(cluster) as bound:
        yield bound


def node(role: str, ready: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "tested", "labels": {LabelKey.ROLE.value: role}},
        "status": {"conditions": [{"type": "Ready", "status": ready, "reason": "Test", "message": ""}]},
    }


EDITOR, CONTROLLER = "editor", "system:serviceaccount:kube-system:node-controller"
IT_ADMIN = "it-admin"
RELABEL = {"apiGroups": ["igz-clusters.io"], "resources": ["nodes/lifecycle"], "verbs": ["manage"]}


@pytest.fixture(scope="module")
def people(api: Api) -> Iterator[None]:
    """A namespace admin, one who may besides edit namespaces and nodes, and one of the platform team."""

    def bound(name: str, role: str, user: str, where: str | None = None) -> Manifest:
        api_group = "rbac.authorization.k8s.io"
        metadata = {"name": name, **({"namespace": where} if where else {})}
        return {
            "apiVersion": f"{api_group}/v1",
            "kind": "RoleBinding" if where else "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": api_group, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": api_group, "kind": "User", "name": user}],
        }

    verbs = ["get", "update", "patch", "delete"]
    resources = ["namespaces", "namespaces/status", "namespaces/finalize", "nodes", "nodes/status", "priorityclasses"]
    rules = [
        {"apiGroups": ["", "scheduling.k8s.io"], "resources": resources, "verbs": [*verbs, "create"]},
    ]
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "editor"},
        "rules": rules,
    }
    relabel = {**role, "metadata": {"name": "relabel"}, "rules": [RELABEL]}
    with present(
        api,
        [
            role,
            relabel,
            bound("it-admin-edits", "editor", IT_ADMIN),
            bound("it-admin-relabels", "relabel", IT_ADMIN),
            *(bound(f"scientist-{where}", "admin", "scientist", where) for where in (STRICT, "mlrun")),
            *(bound(f"editor-{where}", "admin", EDITOR, where) for where in (STRICT, "mlrun")),
            bound("editor", "editor", EDITOR),
            bound("platform-member", "igz-clusters:platform", "member"),
        ],
    ):
        eventually(lambda: api.send("GET", "/api/v1/nodes/initial-0", as_user="member").accepted)
        yield


@pytest.mark.parametrize(
    ("who", "made", "allowed"),
    [
        (EDITOR, node("data", "True"), False),
        ("member", node("data", "True"), True),
        (CONTROLLER, node("data", "True"), False),  # no controller deletes a node that reports
        (CONTROLLER, node("data", "Unknown"), True),
        (CONTROLLER, node("data", "False"), True),
        (EDITOR, node("workload", "True"), True),
    ],
)
def test_a_living_data_node_is_deleted_by_the_platform_role_only_and_a_lost_one_by_its_controller(
    api: Api, people: None, who: str, made: Manifest, allowed: bool
) -> None:
    with present(api, [made]):
        status = api.send("PATCH", f"{path_of(made)}/status", {"status": made["status"]})
        [said], [wanted] = status.body["status"]["conditions"], made["status"]["conditions"]
        assert said["status"] == wanted["status"]
        answer = api.delete(made, as_user=who, **DRY)
        assert answer.accepted is allowed, answer.message
        assert allowed or "[NG-20]" in answer.message


def test_a_namespace_admin_reads_one_warning_for_each_rule(api: Api, people: None) -> None:
    """A job on spot nodes as MLRun makes it, but with an image and limits of its author."""
    job = pod("train", nodeSelector=USER, tolerations=[OWN_SPOT_TAINT.toleration()])
    job["spec"]["containers"][0] |= {
        "image": "example.invalid/train:latest",
        "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
    }
    answer = api.create(job, as_user="scientist", **DRY)
    assert answer.accepted, answer.message
    assert [re.findall(r"\[([A-Z]{2}-\d\d)\]", text) for text in answer.warnings] == [["HK-08"], ["RS-05"], ["SP-02"]]


GUARDS = {
    "policy": f"{VAP}/validatingadmissionpolicies/igz-user-pods-on-user-pools",
    "binding": f"{VAP}/validatingadmissionpolicybindings/igz-user-pods-on-user-pools",
    "parameters": "/apis/igz-clusters.io/v1/policyparameters/igz-clusters",
    "definition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/policyparameters.igz-clusters.io",
}
NAMESPACE, NODE = "/api/v1/namespaces/mlrun", "/api/v1/nodes/initial-0"
PSA = "pod-security.kubernetes.io/enforce"
UNBOUND = {"metadata": {"name": "x", "namespace": STRICT}}


@dataclass(frozen=True)
class Attempt:
    """A request by a user who tries to bypass the rules."""

    method: str
    path: str
    body: Any = None
    refused_by: str = "cannot"
    """Part of the answer: the rights that are missing, or what the policy says."""


def labels(**values: Any) -> Manifest:
    return {"metadata": {"labels": values}}


def bad_deployment_pod() -> Manifest:
    """A pod that claims to be a controller's."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "1", "controller": True}
    made = simple(BAD)
    made["metadata"]["ownerReferences"] = [owner]
    return made


PODS = f"/api/v1/namespaces/{STRICT}/pods"
NS_MARK = "guards this namespace"
NS_EXEMPTION = "decide what its pods may do"
NODE_LABELS = "follow from its pool"
MARK = "Ask the platform team or remove it"
WAIVE = {"metadata": {"annotations": {f"{WAIVER_PREFIX}pl-01": "2999-12-31"}}}

ATTEMPTS = {
    **{f"delete the {name}": Attempt("DELETE", path) for name, path in GUARDS.items()},
    **{f"change the {name}": Attempt("PATCH", path, labels(x="y")) for name, path in GUARDS.items()},
    "put other parameters beside": Attempt(
        "POST", "/apis/igz-clusters.io/v1/policyparameters", {
            "apiVersion": "igz-clusters.io/v1", "kind": "PolicyParameters", "metadata": {"name": "mine"}, "spec": {}},
    ),
    "bind a policy of one's own": Attempt(
        "POST", f"{VAP}/validatingadmissionpolicybindings", {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "x"}, "spec": {"policyName": "x", "validationActions": ["Audit"]}},
    ),
    "drop the namespace's mark": Attempt("PATCH", NAMESPACE, labels(**{LabelKey.USER_WORKLOADS: None}), NS_MARK),
    "spell the namespace's mark otherwise": Attempt(
        "PATCH", NAMESPACE, labels(**{LabelKey.USER_WORKLOADS: "True"}), NS_MARK
    ),
    "drop it through a subresource": Attempt(
        "PATCH", f"{NAMESPACE}/status", labels(**{LabelKey.USER_WORKLOADS: None}), NS_MARK
    ),
    "waive a rule": Attempt("PATCH", NAMESPACE, WAIVE, NS_EXEMPTION),
    "waive a rule through a subresource": Attempt("PATCH", f"{NAMESPACE}/status", WAIVE, NS_EXEMPTION),
    "change Pod Security": Attempt("PATCH", NAMESPACE, labels(**{PSA: "restricted"}), NS_EXEMPTION),
    "drop Pod Security": Attempt("PATCH", NAMESPACE, labels(**{PSA: None}), NS_EXEMPTION),
    "make a core node a user node": Attempt("PATCH", NODE, labels(**{LabelKey.USER_WORKLOADS: "true"}), NODE_LABELS),
    "call a node spot": Attempt("PATCH", NODE, labels(**{LabelKey.LIFECYCLE: "preemptible"}), NODE_LABELS),
    "drop a node's role": Attempt("PATCH", NODE, labels(**{LabelKey.ROLE: None}), NODE_LABELS),
    "change a node's pool through a subresource": Attempt(
        "PATCH", f"{NODE}/status", labels(**{LabelKey.POOL: "workload"}), NODE_LABELS
    ),
    "make a bad pod": Attempt("POST", PODS, simple(BAD), IMAGE.id),
    "hide it among init containers": Attempt(
        "POST", PODS, simple(GOOD, initContainers=[{"name": "i", "image": BAD}]), IMAGE.id
    ),
    "make it in a controller's name": Attempt("POST", PODS, bad_deployment_pod(), IMAGE.id),
    "use a class of core services": Attempt("POST", PODS, simple(GOOD, priorityClassName="igz-system-high"), "ZZ-03"),
    "name a node": Attempt("POST", PODS, simple(GOOD, nodeName="initial-0"), "ZZ-05"),
    "claim to be a core service": Attempt(
        "POST", "/api/v1/namespaces/mlrun/pods",
        {**pod("x"), "metadata": {"name": "x", "namespace": "mlrun", "labels": {LabelKey.CORE_SERVICE.value: "true"}}},
        MARK,
    ),
    "act in the system's namespace": Attempt(
        "POST", "/api/v1/namespaces/kube-system/pods", pod("x", namespace="kube-system")
    ),
    "make a class above core services": Attempt("POST", collection(TOO_HIGH), TOO_HIGH, VALUE.id),
    "act as a controller of the system": Attempt(
        "POST", "/api/v1/namespaces/kube-system/serviceaccounts/job-controller/token",
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
    ),
    "take the platform role": Attempt(
        "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "x"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "igz-clusters:platform"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": EDITOR}]},
    ),
    "take the core services' role in the namespace": Attempt(
        "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/mlrun/rolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "x", "namespace": "mlrun"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "igz-clusters:core-services"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": EDITOR}]},
        "not currently held",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTEMPTS)
def test_who_lacks_the_platform_role_cannot(api: Api, people: None, name: str) -> None:
    attempt = ATTEMPTS[name]
    answer = api.send(attempt.method, attempt.path, attempt.body, as_user=EDITOR, **DRY)
    assert answer.status == 403, (answer.status, answer.message)
    assert attempt.refused_by in answer.message


@pytest.mark.parametrize("name", [name for name, a in ATTEMPTS.items() if NAMESPACE in a.path and a.method == "PATCH"])
def test_a_namespace_admin_lacks_even_the_right_to_try(api: Api, people: None, name: str) -> None:
    attempt = ATTEMPTS[name]
    answer = api.send(attempt.method, attempt.path, attempt.body, as_user="scientist", **DRY)
    assert (answer.status, "cannot patch" in answer.message) == (403, True)


@pytest.mark.parametrize(
    "name", [name for name, a in ATTEMPTS.items() if a.method == "PATCH" and not a.path.endswith("/status")]
)
def test_the_platform_role_can(api: Api, people: None, name: str) -> None:
    attempt = ATTEMPTS[name]
    answer = api.send(attempt.method, attempt.path, attempt.body, as_user="member", **DRY)
    assert answer.accepted, answer.message


@pytest.mark.parametrize(
    ("who", "role", "changed", "allowed"),
    [
        (IT_ADMIN, "workload", {LabelKey.LIFECYCLE: "preemptible"}, True),
        (IT_ADMIN, "workload", {LabelKey.LIFECYCLE: "preemptible", LabelKey.POOL: "x"}, False),
        (IT_ADMIN, "workload", {LabelKey.ROLE: "initial"}, False),
        (IT_ADMIN, "initial", {LabelKey.LIFECYCLE: "preemptible"}, False),
        (EDITOR, "workload", {LabelKey.LIFECYCLE: "preemptible"}, False),
    ],
)
def test_an_it_administrator_relabels_the_lifecycle_of_application_nodes_and_nothing_else(
    api: Api, people: None, *, who: str, role: str, changed: dict[str, str], allowed: bool
) -> None:
    made = node(role, "True")
    with present(api, [made]):
        answer = api.send("PATCH", path_of(made), labels(**changed), as_user=who, **DRY)
        assert answer.accepted is allowed, answer.message
        assert allowed or NODE_LABELS in answer.message


def test_labels_that_are_not_of_the_contract_can_be_changed_by_who_may_change_nodes(api: Api, people: None) -> None:
    assert api.send("PATCH", NODE, labels(**{"feature.node.kubernetes.io/x": "1"}), as_user=EDITOR, **DRY).accepted


@pytest.mark.parametrize(
    ("who", "groups", "patch", "path"),
    [
        (
            "system:node:initial-0",
            ("system:nodes", "system:authenticated"),
            {"status": {"phase": "Running"}},
            "/status",
        ),
        (CONTROLLER, (), {"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}}, ""),
    ],
)
def test_nodes_and_their_controllers_go_on_with_their_work(
    api: Api, who: str, groups: tuple[str, ...], patch: Manifest, path: str
) -> None:
    answer = api.send("PATCH", f"{NODE}{path}", patch, as_user=who, groups=groups, **DRY)
    assert answer.accepted, answer.message
