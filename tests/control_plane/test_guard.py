"""Who may leave the user pools: the guard against people with rights in a namespace, and only against them."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.admission import POD_VARIABLES, spot_checks
from components.contract.groups import resolve_groups
from components.contract.labels import LabelKey
from components.contract.pools import NodePool
from support.api import Api
from support.cluster import Cluster, eventually, pod

pytestmark = pytest.mark.control_plane

SCIENTIST = "--as=scientist"
OPERATOR = "--as=operator"
USER = {LabelKey.USER_WORKLOADS.value: "true"}
CORE = {LabelKey.CORE_SERVICE.value: "true"}


@pytest.fixture(scope="module", autouse=True)
def people(cluster: Cluster) -> Iterator[None]:
    """A data scientist who is admin of the namespace, and a member of the platform team."""
    cluster.kubectl("create", "rolebinding", "scientist", "--clusterrole=admin", "--user=scientist", "-n", "mlrun")
    cluster.kubectl("create", "rolebinding", "operator", "--clusterrole=admin", "--user=operator", "-n", "mlrun")
    cluster.kubectl(
        "create", "clusterrolebinding", "operator", "--clusterrole=igz-clusters:platform", "--user=operator"
    )
    yield
    cluster.kubectl("delete", "rolebinding", "scientist", "operator", "-n", "mlrun")
    cluster.kubectl("delete", "clusterrolebinding", "operator")


def deployment(labels: dict[str, str]) -> dict[str, object]:
    template = pod("x", labels={"app": "api", **labels})
    template["spec"]["restartPolicy"] = "Always"
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "api", "namespace": "mlrun"},
        "spec": {
            "selector": {"matchLabels": {"app": "api"}},
            "template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]},
        },
    }


def test_a_scientist_may_not_mark_a_pod_as_core_service(cluster: Cluster) -> None:
    refused = cluster.apply(pod("sly", labels=CORE), SCIENTIST, check=False)
    assert "Ask the platform team or remove it" in refused.stderr


def test_a_scientist_may_not_mark_a_template_either(cluster: Cluster) -> None:
    refused = cluster.apply(deployment(CORE), SCIENTIST, check=False)
    assert "Ask the platform team or remove it" in refused.stderr


@pytest.mark.parametrize("kind", ["validatingadmissionpolicy", "validatingadmissionpolicybinding"])
@pytest.mark.parametrize("verb", ["delete", "patch"])
def test_a_scientist_may_change_nothing_of_the_guard(cluster: Cluster, verb: str, kind: str) -> None:
    name = "igz-user-pods-on-user-pools"
    cluster.get(kind, name)
    change = ["-p", '{"metadata":{"labels":{"x":"y"}}}'] if verb == "patch" else []
    refused = cluster.kubectl(verb, kind, name, *change, "--dry-run=server", SCIENTIST, check=False)
    assert "Forbidden" in refused.stderr


def test_a_running_pod_cannot_be_marked_or_unmarked_without_the_right(cluster: Cluster) -> None:
    cluster.apply(pod("plain", nodeSelector=USER))
    cluster.apply(pod("core", labels=CORE))
    marked = cluster.kubectl(
        "label", "pod", "plain", f"{LabelKey.CORE_SERVICE}=true", "-n", "mlrun", SCIENTIST, check=False
    )
    assert "Ask the platform team or remove it" in marked.stderr
    dropped = cluster.kubectl(
        "label", "pod", "core", f"{LabelKey.CORE_SERVICE}-", "-n", "mlrun", SCIENTIST, check=False
    )
    assert "Ask the platform team or remove it" in dropped.stderr
    cluster.kubectl("label", "pod", "plain", "team=a", "-n", "mlrun", SCIENTIST)


@pytest.fixture(scope="module")
def writer(cluster: Cluster) -> Iterator[str]:
    """An account of a tool that keeps the status of pods, and resizes and debugs them."""
    resources = "pods/status,pods/resize,pods/ephemeralcontainers"
    cluster.kubectl("create", "clusterrole", "writer", "--verb=get,update,patch", f"--resource={resources}")
    cluster.kubectl("create", "rolebinding", "writer", "--clusterrole=writer", "--user=writer", "-n", "mlrun")
    yield "writer"
    cluster.kubectl("delete", "rolebinding", "writer", "-n", "mlrun")
    cluster.kubectl("delete", "clusterrole", "writer")


CORE_SERVICE_PATCHES = {
    "status": {"metadata": {"labels": {LabelKey.CORE_SERVICE.value: None}}},
    "ephemeralcontainers": {"spec": {"ephemeralContainers": [{"name": "debug", "image": "example.invalid/debug:1"}]}},
    "resize": {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "2", "memory": "1Gi"},
                                                                      "requests": {"cpu": "2", "memory": "1Gi"}}}]}},
}  # fmt: skip


def test_no_subresource_marks_a_pod_or_changes_a_core_service(cluster: Cluster, writer: str) -> None:
    cluster.apply(pod("plain", nodeSelector=USER))
    # Simulated nodes offer no resizing, so it waits for one.
    cluster.apply(pod("core", labels=CORE, schedulingGates=[{"name": "example.invalid/wait"}]))
    api = Api(cluster.kubeconfig())
    path = "/api/v1/namespaces/mlrun/pods"
    marked = api.send("PATCH", f"{path}/plain/status", {"metadata": {"labels": CORE}}, as_user=writer)
    assert "Ask the platform team or remove it" in marked.message
    assert api.send("PATCH", f"{path}/plain/status", {"metadata": {"labels": {"team": "a"}}}, as_user=writer).accepted
    for subresource, patch in CORE_SERVICE_PATCHES.items():
        changed = api.send("PATCH", f"{path}/core/{subresource}", patch, as_user=writer)
        assert "Ask the platform team or remove it" in changed.message, subresource


POLICIES = "/apis/networking.k8s.io/v1/namespaces/mlrun/networkpolicies"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", f"{POLICIES}/default-deny", None),
        ("DELETE", POLICIES, None),
        ("PATCH", f"{POLICIES}/default-deny", {"spec": {"policyTypes": ["Ingress"]}}),
        ("PATCH", f"{POLICIES}/default-deny", {"metadata": {"managedFields": [{}]}}),
    ],
)
def test_a_scientist_may_not_drop_the_network_policies_of_the_stack(
    cluster: Cluster, method: str, path: str, body: object
) -> None:
    refused = Api(cluster.kubeconfig()).send(method, path, body, as_user="scientist", dryRun="All")
    assert (refused.status, "change the stack file instead" in refused.message) == (403, True)


def test_a_scientist_goes_on_with_network_policies_of_their_own(cluster: Cluster) -> None:
    api = Api(cluster.kubeconfig())
    own = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "own", "namespace": "mlrun"},
        "spec": {"podSelector": {"matchLabels": {"app": "own"}}},
    }
    assert api.send("POST", POLICIES, own, as_user="scientist").accepted
    assert api.send("PATCH", f"{POLICIES}/own", {"metadata": {"labels": {"a": "b"}}}, as_user="scientist").accepted
    assert api.send("DELETE", f"{POLICIES}/own", as_user="scientist").accepted


def test_a_running_core_service_cannot_get_another_image_without_the_right(cluster: Cluster) -> None:
    cluster.apply(pod("core", labels=CORE))
    refused = cluster.kubectl(
        "set", "image", "pod/core", "main=example.invalid/other", "-n", "mlrun", SCIENTIST, check=False
    )
    assert "Ask the platform team or remove it" in refused.stderr
    cluster.kubectl("label", "pod", "core", "team=a", "-n", "mlrun", SCIENTIST)
    cluster.kubectl("set", "image", "pod/core", "main=example.invalid/other", "-n", "mlrun", OPERATOR)


@pytest.mark.parametrize("kind", ["Job", "CronJob", "StatefulSet", "DaemonSet", "ReplicaSet"])
def test_no_kind_of_controller_lets_a_scientist_set_the_mark(cluster: Cluster, kind: str) -> None:
    template = {"metadata": {"labels": {"app": "x", **CORE}}, "spec": pod("x")["spec"]}
    if kind not in {"Job", "CronJob"}:
        template["spec"]["restartPolicy"] = "Always"
    selector = {} if kind in {"Job", "CronJob"} else {"selector": {"matchLabels": {"app": "x"}}, "serviceName": "x"}
    if kind in {"DaemonSet", "ReplicaSet"}:
        selector.pop("serviceName")
    spec = {"template": template, **selector}
    if kind == "CronJob":
        spec = {"schedule": "@daily", "jobTemplate": {"spec": spec}}
    group = "batch/v1" if kind in {"Job", "CronJob"} else "apps/v1"
    metadata = {"name": "sly", "namespace": "mlrun"}
    refused = cluster.apply(
        {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}, SCIENTIST, check=False
    )
    assert "Ask the platform team or remove it" in refused.stderr


def test_the_platform_role_may_install_core_services_on_the_initial_group(cluster: Cluster) -> None:
    initial = {LabelKey.ROLE.value: "initial"}
    marked = deployment(CORE)
    marked["spec"]["template"]["spec"]["nodeSelector"] = initial  # type: ignore[index]
    cluster.apply(marked, OPERATOR)
    try:
        cluster.kubectl("rollout", "status", "deployment/api", "-n", "mlrun", "--timeout=600s")
        (placed,) = cluster.get("pods", "-n", "mlrun", "-l", "app=api")["items"]
        assert placed["spec"]["nodeName"] in cluster.nodes(pool="initial")
    finally:
        cluster.kubectl("delete", "deployment", "api", "-n", "mlrun", "--wait")


def test_who_may_edit_namespaces_but_is_not_of_the_platform_cannot_drop_the_mark(cluster: Cluster) -> None:
    cluster.kubectl("create", "clusterrole", "ns-editor", "--verb=get,update,patch", "--resource=namespaces")
    cluster.kubectl("create", "clusterrolebinding", "ns-editor", "--clusterrole=ns-editor", "--user=scientist")
    try:
        drop = f"{LabelKey.USER_WORKLOADS}-"
        refused = cluster.kubectl("label", "namespace", "mlrun", drop, SCIENTIST, check=False)
        assert "guards this namespace" in refused.stderr
        changed = f"{LabelKey.USER_WORKLOADS}=no"
        refused = cluster.kubectl("label", "namespace", "mlrun", changed, "--overwrite", SCIENTIST, check=False)
        assert "guards this namespace" in refused.stderr
        cluster.kubectl("label", "namespace", "mlrun", "team=a", SCIENTIST)
        cluster.kubectl("label", "namespace", "mlrun", "team-", SCIENTIST)
    finally:
        cluster.kubectl("delete", "clusterrolebinding", "ns-editor")
        cluster.kubectl("delete", "clusterrole", "ns-editor")


UNTAINTED_SPOT = {
    "role": "workload",
    "lifecycle": "spot",
    "size": {"min": 0, "max": 3},
    "instanceTypes": ["m6i.2xlarge"],
}


def affinity(*terms: list[dict[str, object]]) -> dict[str, object]:
    required = {"nodeSelectorTerms": [{"matchExpressions": expressions} for expressions in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


PREVENT = [{"key": LabelKey.LIFECYCLE.value, "operator": "NotIn", "values": ["preemptible"]}]
ELSEWHERE = [{"key": "team", "operator": "Exists"}]


@pytest.fixture(scope="module")
def untainted(cluster: Cluster) -> str:
    """A namespace under the checks of a cluster whose spot nodes carry no taint."""
    checks = spot_checks(resolve_groups({"spot": NodePool.model_validate(UNTAINTED_SPOT)}, None))
    name = {"metadata": {"name": "untainted"}}
    selector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "untainted"}}}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    api = "admissionregistration.k8s.io/v1"
    policy = {
        "matchConstraints": {"resourceRules": [rule], **selector},
        "variables": [{"name": name, "expression": expression} for name, expression in POD_VARIABLES.items()],
        "validations": [{"expression": check.expression, "message": check.message} for check in checks],
    }
    binding = {"policyName": "untainted", "validationActions": ["Deny"]}
    cluster.kubectl("create", "namespace", "untainted")
    cluster.apply({"apiVersion": api, "kind": "ValidatingAdmissionPolicy", **name, "spec": policy})
    cluster.apply({"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", **name, "spec": binding})
    probe = pod("probe", namespace="untainted")
    eventually(lambda: cluster.apply(probe, "--dry-run=server", check=False).returncode)
    return "untainted"


@pytest.mark.parametrize(
    ("spec", "admitted"),
    [
        ({"nodeSelector": USER}, False),
        ({"nodeSelector": {**USER, LabelKey.LIFECYCLE.value: "non-preemptible"}}, True),
        ({"nodeSelector": USER, "affinity": affinity(PREVENT)}, True),
        ({"nodeSelector": USER, "affinity": affinity(PREVENT, ELSEWHERE)}, False),
        ({"nodeSelector": USER, "affinity": affinity(ELSEWHERE)}, False),
        # MLRun's and Nuclio's modes allow and none write nothing; builds and steps cannot say anything.
        ({"nodeSelector": USER, "labels": {"mlrun/class": "job"}}, True),
        ({"nodeSelector": USER, "labels": {"mlrun/class": "build"}}, True),
        ({"nodeSelector": USER, "labels": {"nuclio.io/class": "function"}}, True),
        ({"nodeSelector": USER, "labels": {"workflows.argoproj.io/workflow": "churn-7x2"}}, True),
        ({"nodeSelector": USER, "labels": {"app": "x"}}, False),
    ],
)
def test_untainted_spot_nodes_make_every_user_pod_choose_a_lifecycle(
    cluster: Cluster, untainted: str, spec: dict[str, Any], admitted: bool
) -> None:
    answer = cluster.apply(pod("x", namespace=untainted, **spec), "--dry-run=server", check=False)
    assert (answer.returncode == 0) is admitted, answer.stderr
