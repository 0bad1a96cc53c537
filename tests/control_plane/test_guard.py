"""Who may leave the user pools: the guard against people with rights in a namespace, and against nobody else."""

from collections.abc import Iterator

import pytest

from components.contract.admission import is_marked_as_core_service, pod_checks
from components.contract.groups import node_groups
from components.contract.labels import LabelKey
from components.contract.pools import NodePool
from support.cluster import Cluster, eventually, pod

pytestmark = pytest.mark.control_plane

SCIENTIST = "--as=scientist"
OPERATOR = "--as=operator"
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
    assert "Ask the platform team, or drop the label" in refused.stderr


def test_a_scientist_may_not_mark_a_template_either(cluster: Cluster) -> None:
    refused = cluster.apply(deployment(CORE), SCIENTIST, check=False)
    assert "Ask the platform team, or drop the label" in refused.stderr


@pytest.mark.parametrize("verb", ["create", "update", "delete", "patch"])
@pytest.mark.parametrize("kind", ["validatingadmissionpolicies", "validatingadmissionpolicybindings", "namespaces"])
def test_a_scientist_may_change_nothing_of_the_guard(cluster: Cluster, verb: str, kind: str) -> None:
    assert cluster.kubectl("auth", "can-i", verb, kind, SCIENTIST, check=False).stdout.strip() == "no"


def test_the_platform_role_may_install_core_services_on_the_initial_group(cluster: Cluster) -> None:
    initial = {LabelKey.ROLE.value: "initial"}
    marked = deployment(CORE)
    marked["spec"]["template"]["spec"]["nodeSelector"] = initial  # type: ignore[index]
    cluster.apply(marked, OPERATOR)
    try:
        cluster.kubectl("rollout", "status", "deployment/api", "-n", "mlrun", "--timeout=50s")
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
        assert "switches this namespace's guard on" in refused.stderr
        changed = f"{LabelKey.USER_WORKLOADS}=no"
        refused = cluster.kubectl("label", "namespace", "mlrun", changed, "--overwrite", SCIENTIST, check=False)
        assert "switches this namespace's guard on" in refused.stderr
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
USER = {LabelKey.USER_WORKLOADS.value: "true"}


def affinity(*terms: list[dict[str, object]]) -> dict[str, object]:
    required = {"nodeSelectorTerms": [{"matchExpressions": expressions} for expressions in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


PREVENT = [{"key": LabelKey.LIFECYCLE.value, "operator": "NotIn", "values": ["preemptible"]}]
ELSEWHERE = [{"key": "team", "operator": "Exists"}]


@pytest.fixture(scope="module")
def untainted(cluster: Cluster) -> str:
    """A namespace under the checks of a cluster whose spot nodes carry no taint."""
    checks = pod_checks(node_groups({"spot": NodePool.model_validate(UNTAINTED_SPOT)}, None))
    name = {"metadata": {"name": "untainted"}}
    selector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "untainted"}}}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    api = "admissionregistration.k8s.io/v1"
    policy = {
        "matchConstraints": {"resourceRules": [rule], **selector},
        "variables": [{"name": "core", "expression": is_marked_as_core_service("object.metadata")}],
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
        ({"affinity": affinity(PREVENT)}, False),
    ],
)
def test_untainted_spot_nodes_make_every_user_pod_choose_a_lifecycle(
    cluster: Cluster, untainted: str, spec: dict[str, object], admitted: bool
) -> None:
    answer = cluster.apply(pod("x", namespace=untainted, **spec), "--dry-run=server", check=False)
    assert (answer.returncode == 0) is admitted, answer.stderr
