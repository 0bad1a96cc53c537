"""What changed since a passport was made: each planted change is found and named, and what moves by itself is not."""

import json
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.contract.digests import digest_of
from components.contract.labels import LabelKey
from components.contract.mlrun import MlrunVariable
from support.passports import ADD_ON, ADMINS, passport, sight
from support.verification import API_POD, OPEN, OVERRIDE, REPORT, Objects, Plant, manifest, put
from workbench.passport.comparison import Difference, compare, differences
from workbench.passport.model import Passport
from workbench.passport.reading import Sight
from workbench.verification.contract import Contract
from workbench.verification.verify import verify

QUOTA: Final = ("ResourceQuota", "mlrun", "no-system-priority")
LIMITS: Final = ("LimitRange", "mlrun", "default-resources")
DENIAL: Final = ("NetworkPolicy", "mlrun", "default-deny")
SPACE: Final = ("Namespace", "", "mlrun")
BINDING: Final = ("ValidatingAdmissionPolicyBinding", "", "igz-pods-mandatory")
POLICY: Final = ("ValidatingAdmissionPolicy", "", "igz-pods-mandatory")
CLASS: Final = ("PriorityClass", "", "igz-workload-high")
RIGHTS: Final = ("ClusterRole", "", "igz-clusters:core-services")
CLASSES: Final = MlrunVariable.VALID_CLASSES.value
WARN: Final = "pod-security.kubernetes.io/warn"
ROLE: Final = LabelKey.ROLE.value
LIFECYCLE: Final = LabelKey.LIFECYCLE.value
DEFAULT: Final = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
NODE: Final = ("Node", "", "initial-0")


def gone(*key: str) -> Plant:
    return lambda objects: objects.pop(key)  # type: ignore[call-overload] a key


def there(*args: Any, **content: Any) -> Plant:
    made = manifest(*args, **content)
    key = (made["kind"], made["metadata"].get("namespace", ""), made["metadata"]["name"])
    return lambda objects: objects.update({key: made})


def copied(source: str, name: str) -> Plant:
    """Return what makes another node like one."""

    def plant(objects: Objects) -> None:
        new = json.loads(json.dumps(objects["Node", "", source]))
        new["metadata"]["name"] = name
        objects["Node", "", name] = new

    return plant


PLANTED: Final[dict[str, tuple[Plant, str]]] = {
    "a quota": (
        put("spec", "hard", "pods", key=QUOTA, value="5"),
        "ResourceQuota mlrun/no-system-priority, spec.hard.pods",
    ),
    "a quota of somebody else": (
        there("ResourceQuota", "theirs", "mlrun", spec={"hard": {"pods": "1"}}),
        "ResourceQuota mlrun/theirs",
    ),
    "a default request": (
        put("spec", "limits", 0, "defaultRequest", "memory", key=LIMITS, value="7Gi"),
        "LimitRange mlrun/default-resources, spec.limits[0].defaultRequest.memory",
    ),
    "the denial is deleted": (gone(*DENIAL), "NetworkPolicy mlrun/default-deny"),
    "a network policy that opens": (
        there("NetworkPolicy", "open", "mlrun", spec=OPEN),
        "NetworkPolicy mlrun/open",
    ),
    "a level of Pod Security": (
        put("metadata", "labels", WARN, key=SPACE, value="restricted"),
        f'Namespace mlrun, metadata.labels["{WARN}"]',
    ),
    "an action at admission": (
        put("spec", "validationActions", 0, key=BINDING, value="Audit"),
        "ValidatingAdmissionPolicyBinding igz-pods-mandatory, spec.validationActions[0]",
    ),
    "a condition that excuses everything": (
        lambda objects: objects[POLICY]["spec"]["matchConditions"].append({"name": "never", "expression": "false"}),
        "ValidatingAdmissionPolicy igz-pods-mandatory, spec.matchConditions",
    ),
    "a policy of somebody else": (
        there("MutatingAdmissionPolicy", "theirs", spec={"mutations": []}),
        "MutatingAdmissionPolicy theirs",
    ),
    "a webhook of somebody else": (
        there("MutatingWebhookConfiguration", "theirs", webhooks=[]),
        "MutatingWebhookConfiguration theirs",
    ),
    "a class that evicts": (
        put("preemptionPolicy", key=CLASS, value="PreemptLowerPriority"),
        "PriorityClass igz-workload-high, preemptionPolicy",
    ),
    "a class is deleted": (gone(*CLASS), "PriorityClass igz-workload-high"),
    "a second default storage class": (
        there("StorageClass", "one", metadata=DEFAULT),
        "StorageClass one",
    ),
    "a right of a role": (
        put("rules", 0, "verbs", key=RIGHTS, value=["*"]),
        "ClusterRole igz-clusters:core-services, rules[0].verbs[0]",
    ),
    "a role of somebody else": (
        there("ClusterRole", "theirs", rules=[{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
        "ClusterRole theirs",
    ),
    "a further administrator": (
        lambda objects: objects[ADMINS]["subjects"].append({"kind": "User", "name": "eve"}),
        "ClusterRoleBinding cluster-admin, subjects",
    ),
    "a binding of somebody else": (
        there("RoleBinding", "theirs", "mlrun", roleRef={"kind": "ClusterRole", "name": "admin"}),
        "RoleBinding mlrun/theirs",
    ),
    "a setting of MLRun": (
        put("data", CLASSES, key=OVERRIDE, value="igz-workload-low"),
        f"ConfigMap mlrun/mlrun-override-env, data.{CLASSES}",
    ),
    "a setting that the stack does not know": (
        put("data", "EXTRA", key=OVERRIDE, value="1"),
        "ConfigMap mlrun/mlrun-override-env, data.EXTRA",
    ),
    "another image of an add-on": (
        put("spec", "template", "spec", "containers", 0, "image", key=ADD_ON, value="evil.example.com/kube-proxy:1"),
        'DaemonSet kube-system/kube-proxy, images["kube-proxy"]',
    ),
    "a further add-on": (
        there("DaemonSet", "miner", "kube-system", spec={"template": {"spec": {"containers": []}}}),
        "DaemonSet kube-system/miner",
    ),
    "a label of a node": (
        put("metadata", "labels", ROLE, key=NODE, value="workload"),
        f'node-labels: Node initial-0, metadata.labels["{ROLE}"]',
    ),
    "a lifecycle of a node": (
        put("metadata", "labels", LIFECYCLE, key=NODE, value=None),
        f'node-lifecycle: Node initial-0, metadata.labels["{LIFECYCLE}"]',
    ),
    "a taint of a node": (
        put("spec", "taints", key=NODE, value=[{"key": "a", "value": "b", "effect": "NoSchedule"}]),
        "node-taints: Node initial-0, spec.taints",
    ),
    "another kubelet": (
        put("status", "nodeInfo", key=NODE, value={"kubeletVersion": "v1.30.0"}),
        "Pool initial, kubelets",
    ),
    "a node without a pool": (
        there("Node", "stray", metadata={"labels": {"kubernetes.io/os": "linux"}}),
        "stray-nodes: Node stray",
    ),
    "a node too many": (copied("initial-0", "initial-9"), "initial-group: Group initial"),
    "an autoscaler that forgot a group": (
        lambda objects: objects[REPORT]["data"].update(status=_without_groups(objects[REPORT]["data"]["status"])),
        "autoscaler-groups: Group ",
    ),
    "an object that is being deleted": (
        put("metadata", "deletionTimestamp", key=QUOTA, value="2026-11-22T10:00:00Z"),
        "objects: ResourceQuota mlrun/no-system-priority",
    ),
}
"""Change, and where it is found."""


def _without_groups(status: str) -> str:
    return yaml.safe_dump({**yaml.safe_load(status), "nodeGroups": []})


def found(passport: Passport, seen: Sight) -> tuple[Difference, ...]:
    return compare(passport, seen, verify(seen.contract, seen.snapshot))


@pytest.fixture(scope="module")
def clean() -> Passport:
    return passport("local")


def test_a_cluster_that_did_not_change_has_no_difference(clean: Passport) -> None:
    assert found(clean, sight("local")) == ()
    assert clean.deviations == ()


@pytest.mark.parametrize("name", PLANTED)
def test_a_change_is_found_and_named_by_its_place(name: str, clean: Passport) -> None:
    plant, where = PLANTED[name]
    differences = found(clean, sight("local", plant))
    assert differences
    if where.endswith(" "):
        assert {each.where.startswith(where) for each in differences} == {True}
    else:
        assert [each.where for each in differences] == [where]


def test_a_difference_says_what_was_and_what_is(clean: Passport) -> None:
    (quota,) = found(clean, sight("local", PLANTED["a quota"][0]))
    assert (quota.then, quota.now) == ("0", "5")
    (policy,) = found(clean, sight("local", PLANTED["the denial is deleted"][0]))
    assert (policy.then, policy.now) == ("exists", "does not exist")
    (node,) = found(clean, sight("local", PLANTED["a label of a node"][0]))
    assert (node.then, node.now) == ("as the stack demands", "is 'workload'")


def test_values_of_config_maps_are_not_shown(clean: Passport) -> None:
    (setting,) = found(clean, sight("local", PLANTED["a setting that the stack does not know"][0]))
    assert (setting.then, setting.now[:8]) == ("nothing", digest_of("1")[:8])


def test_another_version_of_the_control_plane_is_a_difference(clean: Passport) -> None:
    (version,) = found(clean, sight("local", version="v1.37.0"))
    assert version == Difference("API server, version", "v1.36.1", "v1.37.0")


def test_another_cluster_is_the_only_difference(clean: Passport) -> None:
    differences = found(clean, sight("local", PLANTED["a quota"][0], uid="another"))
    assert [each.where for each in differences] == ["Cluster"]
    assert differences[0].now == "UID another: it is another cluster"


def test_what_differed_already_is_no_difference() -> None:
    plant = PLANTED["a taint of a node"][0]
    before = passport("local", plant)
    assert [each.check for each in before.deviations] == ["node-taints"]
    assert found(before, sight("local", plant)) == ()
    other = put("spec", "taints", key=NODE, value=[{"key": "c", "value": "d", "effect": "NoSchedule"}])
    assert [each.where for each in found(before, sight("local", other))] == ["node-taints: Node initial-0, spec.taints"]


def test_an_api_of_mlrun_that_is_gone_is_a_difference_for_each_claim_that_had_passed(clean: Passport) -> None:
    plant = gone(*API_POD)
    scaled_to_zero = "MLRun is not installed, or its API is scaled to zero"
    assert found(clean, sight("local", plant)) == (
        Difference("mlrun-settings: MLRun's API has the settings of the stack", "passed", scaled_to_zero),
        Difference("mlrun-restart: MLRun's API started after its settings last changed", "passed", scaled_to_zero),
    )
    assert found(passport("local", plant), sight("local", plant)) == ()


def test_an_api_that_waits_for_nodes_outside_office_hours_is_no_difference(
    clean: Passport, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending = put("status", key=API_POD, value={"phase": "Pending"})
    assert [each.where.partition(":")[0] for each in found(clean, sight("local", pending))] == [
        "mlrun-settings",
        "mlrun-restart",
    ]
    monkeypatch.setattr(Contract, "unsettled", lambda *_: "not judged outside cluster.officeHours")
    assert found(clean, sight("local", pending)) == ()


def moved(objects: Objects) -> None:
    """Change what changes by itself."""
    copied("workload-0", "workload-1")(objects)
    there("Pod", "job-1", "mlrun", metadata={"labels": {"mlrun/class": "job"}}, spec={"containers": []})(objects)
    for content in objects.values():
        content["metadata"] |= {
            "resourceVersion": "4711",
            "generation": 7,
            "managedFields": [{"manager": "kubectl"}],
            "annotations": {**content["metadata"].get("annotations", {}), "example.com/seen": "today"},
        }
    objects[QUOTA]["status"] = {"used": {"pods": "3"}}
    objects[ADD_ON]["spec"]["template"]["metadata"] = {"annotations": {"kubectl.kubernetes.io/restartedAt": "today"}}


def test_what_scales_and_moves_is_no_difference(clean: Passport) -> None:
    assert found(clean, sight("local", moved)) == ()


def hooked(certificate: str, *namespaces: str) -> Plant:
    """Return what adds a webhook for pods of some namespaces."""
    kept_out = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(namespaces)}
    hook = {
        "name": "pods.example.com",
        "clientConfig": {"service": {"namespace": "theirs", "name": "hook"}, "caBundle": certificate},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchExpressions": [kept_out]},
    }
    return there("ValidatingWebhookConfiguration", "theirs", webhooks=[hook])


def test_a_webhook_that_intercepts_more_is_found_and_one_with_a_renewed_certificate_is_not() -> None:
    before = passport("local", hooked("b2xk", "mlrun"))
    assert found(before, sight("local", hooked("bmV3", "mlrun"))) == ()
    (wider,) = found(before, sight("local", hooked("bmV3", "kube-system")))
    place = "ValidatingWebhookConfiguration theirs, webhooks[0].namespaceSelector.matchExpressions[0].values[0]"
    assert wider == Difference(place, "mlrun", "kube-system")


def of_a_job(kind: str, **content: Any) -> Plant:
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob", "name": "train", "uid": "u", "controller": True}
    return there(kind, "train-launcher", "mlrun", metadata={"ownerReferences": [owner]}, **content)


LAUNCHER: Final = {"kind": "ServiceAccount", "name": "train-launcher", "namespace": "mlrun"}
OWN_ROLE: Final = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "train-launcher"}


def allows(exec_in: list[str], *more: dict[str, Any], verbs: tuple[str, ...] = ("get", "list", "watch")) -> Plant:
    """Return what makes a role that claims to be that of a job's launcher."""
    names = {"resourceNames": exec_in} if exec_in else {}
    watch = {"apiGroups": [""], "resources": ["pods"], "verbs": list(verbs)}
    enter = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"], **names}
    return of_a_job("Role", rules=[watch, enter, *more])


def binds(role: dict[str, Any] = OWN_ROLE, *subjects: dict[str, Any]) -> Plant:
    """Return what makes a binding that claims to be that of a job's launcher."""
    return of_a_job("RoleBinding", roleRef=role, subjects=[*(subjects or (LAUNCHER,))])


def test_what_the_mpi_operator_makes_for_a_job_is_no_difference(clean: Passport) -> None:
    def plant(objects: Objects) -> None:
        allows(["train-worker-0", "train-worker-11"])(objects)
        binds()(objects)

    assert found(clean, sight("local", plant)) == ()


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param(
            allows(["train-worker-0"], {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}), id="secrets"
        ),
        pytest.param(allows(["train-worker-0"], verbs=("get", "list", "delete")), id="another verb"),
        pytest.param(allows(["train-worker-0", "mlrun-db-0"]), id="exec in another pod"),
        pytest.param(allows(["train-worker-0-of-another"]), id="exec in a pod of a name that begins alike"),
        pytest.param(allows([]), id="exec in every pod"),
        pytest.param(binds({"kind": "ClusterRole", "name": "cluster-admin"}), id="another role"),
        pytest.param(binds(OWN_ROLE, LAUNCHER, {"kind": "Group", "name": "system:authenticated"}), id="others too"),
        pytest.param(binds(OWN_ROLE, {**LAUNCHER, "namespace": "default"}), id="an account elsewhere"),
    ],
)
def test_rights_that_only_claim_to_be_of_a_job_are_found(forged: Plant, clean: Passport) -> None:
    (change,) = found(clean, sight("local", forged))
    assert change.where.endswith(" mlrun/train-launcher")


def test_a_launchers_rights_under_the_name_of_no_launcher_are_found(clean: Passport) -> None:
    def plant(objects: Objects) -> None:
        allows(["train-worker-0"])(objects)
        role = objects.pop(("Role", "mlrun", "train-launcher"))
        objects["Role", "mlrun", "default"] = {**role, "metadata": {**role["metadata"], "name": "default"}}

    assert [each.where for each in found(clean, sight("local", plant))] == ["Role mlrun/default"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=2), inner, max_size=3),
    max_leaves=8,
)


def known(value: Any) -> Any:
    """Return a value without fields that are null: to Kubernetes they are absent."""
    if isinstance(value, dict):
        return {key: known(each) for key, each in value.items() if each is not None}
    return [known(each) for each in value] if isinstance(value, list) else value


@given(JSON, JSON)
def test_values_have_a_difference_exactly_if_their_digests_differ(one: Any, other: Any) -> None:
    one, other = known(one), known(other)
    assert bool(list(differences(one, other))) == (digest_of(one) != digest_of(other))
