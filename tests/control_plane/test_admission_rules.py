"""Rules at admission: what they refuse, whom they spare, and that nobody without the platform role gets round them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from components.contract.admission import WAIVER_PREFIX
from components.contract.labels import LabelKey
from components.contract.policy_choices import PolicyChoices
from components.contract.taints import OWN_SPOT_TAINT
from policies.examples import BASES, load_file
from support.admission import (
    USER,
    Manifest,
    Rendered,
    account,
    local_groups,
    namespace,
    present,
    ready,
    rules_at_admission,
)
from support.api import Answer, Api, collection, path_of
from support.cluster import Cluster, eventually, pod
from support.scratch_rules import DATA_NODE, IMAGE, LABEL, REGISTRY, SCRATCH, TOO_HIGH, VALUE

pytestmark = pytest.mark.control_plane

STRICT, LENIENT = "strict", "lenient"
DENY, WARN = (PolicyChoices.model_validate({"admission": mode}) for mode in ("deny", "warn"))
BAD, GOOD = "example.invalid/image", f"{REGISTRY}image"
DRY = {"dryRun": "All"}


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    """Bind scratch rules to a strict and a lenient namespace."""
    api = Api(cluster.kubeconfig())
    # Data nodes are kept by the cluster's own rule: of two policies that refuse, the API server lets one speak.
    rules = rules_at_admission(rule for rule in SCRATCH if rule is not DATA_NODE)
    pod_rules = tuple(rule for rule in rules if rule.subject == "pods")
    objects = [
        *(namespace(name, name) for name in (STRICT, LENIENT)),
        *Rendered(STRICT, rules, local_groups(), DENY).objects(),
        *Rendered(LENIENT, pod_rules, local_groups(), WARN).objects(),
    ]
    with present(api, objects):
        for name in (STRICT, LENIENT):
            ready(api, simple(BAD, name), f"'{name}-pods-mandatory'")
            ready(api, simple(BAD, name), f"'{name}-pods-advisory'")
        ready(api, deployment(BAD), f"'{STRICT}-pods-mandatory-foretold'")
        ready(api, TOO_HIGH, f"'{STRICT}-priorityclasses-mandatory'")
        yield api


def simple(image: str, where: str = STRICT, name: str = "probe", **spec: Any) -> Manifest:
    """Return a pod with one container."""
    made = pod(name, namespace=where, **spec)
    made["spec"]["containers"][0]["image"] = image
    return made


def template(image: str) -> Manifest:
    spec = {**simple(image)["spec"], "restartPolicy": "Always"}
    return {"metadata": {"labels": {"app": "x"}}, "spec": spec}


def deployment(image: str, where: str = STRICT) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": where},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template(image)},
    }


def ids(answer: Answer) -> set[str]:
    return set(re.findall(r"\[(ZZ-\d\d)\]", " ".join([answer.message, *answer.warnings])))


def test_a_pod_that_violates_several_rules_reads_all_of_them_at_once(api: Api) -> None:
    answer = api.create(simple(BAD, hostNetwork=True), **DRY)
    assert answer.status == 403
    assert re.findall(r"\[(ZZ-\d\d)\]", answer.message) == ["ZZ-01", "ZZ-04"]
    assert f"{IMAGE.title}. Fix: {IMAGE.fix} [ZZ-01]" in answer.message


def test_an_advisory_rule_warns_and_lets_pass(api: Api) -> None:
    answer = api.create(simple(GOOD), **DRY)
    assert answer.accepted
    assert ids(answer) == {LABEL.id}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController",
                                  "Job", "CronJob"])  # fmt: skip
def test_who_makes_a_controller_is_warned_of_what_its_pods_will_meet(api: Api, kind: str) -> None:
    spec: Manifest = {"template": template(BAD), "selector": {"matchLabels": {"app": "x"}}, "serviceName": "x"}
    if kind in {"Job", "CronJob"}:
        spec["template"]["spec"]["restartPolicy"] = "Never"
        spec = {"template": spec["template"]}
    if kind == "CronJob":
        spec = {"schedule": "@daily", "jobTemplate": {"spec": spec}}
    if kind == "ReplicationController":
        spec["selector"] = {"app": "x"}
    group = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    made = {"apiVersion": group, "kind": kind, "metadata": {"name": "x", "namespace": STRICT}, "spec": spec}
    answer = api.create(made, fieldValidation="Ignore", **DRY)
    assert answer.accepted, answer.message
    assert IMAGE.id in ids(answer)


def test_with_admission_warn_a_violation_of_a_mandatory_rule_is_only_a_warning(api: Api) -> None:
    answer = api.create(simple(BAD, LENIENT), **DRY)
    assert answer.accepted
    assert IMAGE.id in ids(answer)


def test_a_core_service_is_spared_except_by_rules_that_spare_nobody(api: Api) -> None:
    core = simple(BAD, hostNetwork=True)
    core["metadata"]["labels"] = {LabelKey.CORE_SERVICE.value: "true"}
    assert ids(api.create(core, **DRY)) == {"ZZ-04"}


@pytest.mark.parametrize(
    ("until", "waived"),
    [("2999-12-31", True), ("2020-01-01", False), ("forever", False), ("9999", False), ("", False)],
)
def test_a_waiver_holds_until_its_date(api: Api, until: str, waived: bool) -> None:
    path = f"/api/v1/namespaces/{STRICT}"
    key = f"{WAIVER_PREFIX}zz-01"
    api.send("PATCH", path, {"metadata": {"annotations": {key: until}}})
    try:
        eventually(lambda: (IMAGE.id not in ids(api.create(simple(BAD), **DRY))) is waived)
        assert "ZZ-04" in ids(api.create(simple(BAD, hostNetwork=True), **DRY))
    finally:
        api.send("PATCH", path, {"metadata": {"annotations": {key: None}}})
    eventually(lambda: IMAGE.id in ids(api.create(simple(BAD), **DRY)))


@pytest.fixture
def placed(api: Api) -> Iterator[Manifest]:
    """A pod that keeps all rules and runs."""
    made = simple(GOOD, name="placed", nodeSelector={LabelKey.POOL.value: "initial"})
    with present(api, [made]):
        yield eventually(lambda: next(
            (body for body in [api.send("GET", path_of(made)).body] if body["spec"].get("nodeName")), None
        ))  # fmt: skip


def debugger(image: str) -> Manifest:
    container = {"name": "debug", "image": image, "targetContainerName": "main"}
    return {"spec": {"ephemeralContainers": [container]}}


def test_what_runs_may_not_be_made_worse(api: Api, placed: Manifest) -> None:
    path = path_of(placed)
    image = {"spec": {"containers": [{**placed["spec"]["containers"][0], "image": BAD}]}}
    assert ids(api.send("PATCH", path, image, **DRY)) >= {IMAGE.id}
    debug = api.send("PATCH", f"{path}/ephemeralcontainers", debugger(BAD), **DRY)
    assert (debug.status, ids(debug) >= {IMAGE.id}) == (403, True)


def test_what_runs_can_be_debugged_and_changed_within_the_rules(api: Api, placed: Manifest) -> None:
    assert api.send("PATCH", f"{path_of(placed)}/ephemeralcontainers", debugger(GOOD), **DRY).accepted
    image = {"spec": {"containers": [{**placed["spec"]["containers"][0], "image": f"{GOOD}:2"}]}}
    assert api.send("PATCH", path_of(placed), image, **DRY).accepted


def test_a_pod_that_keeps_the_clusters_own_rules_is_made_placed_and_debugged(api: Api) -> None:
    """No rule may take for the author's choice what the scheduler wrote."""
    example = next(each for each in load_file(BASES / "kubernetes.yaml") if each.name == "pod")
    metadata = {"name": "exemplary", "namespace": "mlrun", "labels": {"app": "train"}}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": example.resources[0].props["spec"]}
    with present(api, [account(made["spec"]["serviceAccountName"], "mlrun"), made]):
        eventually(lambda: api.send("GET", path_of(made)).body["spec"].get("nodeName"))
        debug = {**made["spec"]["containers"][0], "name": "debug"}
        for probe in ("livenessProbe", "readinessProbe", "resources"):
            debug.pop(probe, None)
        wanted = {"spec": {"ephemeralContainers": [debug]}}
        answer = api.send("PATCH", f"{path_of(made)}/ephemeralcontainers", wanted, **DRY)
        assert answer.accepted, answer.message


def test_who_touches_only_the_metadata_of_an_old_pod_is_left_alone(api: Api) -> None:
    old = simple(BAD, LENIENT, name="old")  # as if it was there before the rules
    with present(api, [old]):
        live = {"metadata": {"labels": {"bound-to": STRICT}}}
        assert api.send("PATCH", f"/api/v1/namespaces/{LENIENT}", live).accepted
        try:
            eventually(lambda: not api.create(simple(BAD, LENIENT), **DRY).accepted)
            assert api.send("PATCH", path_of(old), {"metadata": {"labels": {"team": "a"}}}, **DRY).accepted
        finally:
            live["metadata"]["labels"]["bound-to"] = LENIENT
            api.send("PATCH", f"/api/v1/namespaces/{LENIENT}", live)


def test_a_priority_class_is_judged_cluster_wide(api: Api) -> None:
    refused = api.create(TOO_HIGH, **DRY)
    assert (refused.status, ids(refused)) == (403, {VALUE.id})
    assert api.create({**TOO_HIGH, "value": 5}, **DRY).accepted


def node(role: str, ready: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "tested", "labels": {LabelKey.ROLE.value: role}},
        "status": {"conditions": [{"type": "Ready", "status": ready, "reason": "Test", "message": ""}]},
    }


EDITOR, CONTROLLER = "editor", "system:serviceaccount:kube-system:node-controller"


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
    with present(
        api,
        [
            role,
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


VAP = "/apis/admissionregistration.k8s.io/v1"
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
    """One request of somebody who wants out."""

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
NS_MARK = "switches this namespace's guard on"
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
    "lower Pod Security": Attempt("PATCH", NAMESPACE, labels(**{PSA: "privileged"}), NS_EXEMPTION),
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


def test_the_systems_own_pods_and_daemon_sets_meet_no_rule(api: Api) -> None:
    """The worst pod there is, where the system's own live: log collectors, network and storage plug-ins."""
    everywhere = [{"operator": "Exists"}]
    worst = simple(
        BAD, "kube-system", hostNetwork=True, tolerations=everywhere, priorityClassName="system-node-critical"
    )
    assert (api.create(worst, **DRY).accepted, ids(api.create(worst, **DRY))) == (True, set())
    daemon = {**deployment(BAD, "kube-system"), "kind": "DaemonSet"}
    daemon["spec"]["template"]["spec"] = {**worst["spec"], "restartPolicy": "Always"}
    answer = api.create(daemon, **DRY)
    assert (answer.accepted, answer.warnings) == (True, ())
    as_controller = {"as_user": "system:serviceaccount:kube-system:daemon-set-controller"}
    assert api.create(worst, **as_controller, **DRY).accepted


def test_the_api_server_finds_nothing_wrong_with_the_types_of_any_expression(api: Api) -> None:
    def unchecked() -> list[str]:
        return [p["metadata"]["name"] for p in policies() if "typeChecking" not in p.get("status", {})]

    def policies() -> list[Manifest]:
        found: list[Manifest] = api.send("GET", f"{VAP}/validatingadmissionpolicies").body["items"]
        return found

    eventually(lambda: not unchecked())
    found = {p["metadata"]["name"]: p["status"]["typeChecking"].get("expressionWarnings") for p in policies()}
    assert {name: said for name, said in found.items() if said} == {}
    assert len(found) >= 8
