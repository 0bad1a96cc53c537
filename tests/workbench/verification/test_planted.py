"""Deviations that are planted one at a time: each is found by the one check that it belongs to, and no other."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from components.contract.labels import LabelKey
from components.contract.mlrun import MlrunVariable
from components.contract.mlrun_choices import MlrunChoices
from support.verification import API_POD, NUCLIO, OPEN, OVERRIDE, REPORT, Objects, Plant, Site, manifest, put, site
from workbench.system.paths import PROJECT_ROOT
from workbench.verification.verify import CHECKS, OBJECTS

SELECTOR: Final = MlrunVariable.DEFAULT_SELECTOR.value
CLASSES: Final = MlrunVariable.VALID_CLASSES.value
TOLERATIONS: Final = MlrunVariable.SPOT_TOLERATIONS.value
DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
AUTOSCALER: Final = ("Deployment", "kube-system", "cluster-autoscaler")
THRESHOLD: Final = "MLRUN_FUNCTION__SPEC__STATE_THRESHOLDS__DEFAULT__RUNNING"


def node(name: str, *path: Any, value: Any) -> Plant:
    return put(*path, key=("Node", "", name), value=value)


def ready(status: str, since: str) -> Plant:
    return node("workload-0", "status", "conditions", value=[
        {"type": "Ready", "status": status, "lastTransitionTime": since}])  # fmt: skip


def label(name: str, key: str, value: str | None) -> Plant:
    return node(name, "metadata", "labels", key, value=value)


def priority(name: str, **fields: Any) -> Plant:
    ((field, value),) = fields.items()
    return put(field, key=("PriorityClass", "", f"igz-{name}"), value=value)


def variable(name: str, value: str | None) -> Plant:
    return put("data", name, key=OVERRIDE, value=value)


def container(field: str, value: Any) -> Plant:
    return put("spec", "containers", 0, field, key=API_POD, value=value)


def gone(*key: str) -> Plant:
    return lambda objects: objects.pop(key)  # type: ignore[call-overload] a key


def there(*args: Any, **content: Any) -> Plant:
    made = manifest(*args, **content)
    key = (made["kind"], made["metadata"].get("namespace", ""), made["metadata"]["name"])
    return lambda objects: objects.update({key: made})


def copied(source: str, *names: str, label_of: Mapping[str, str | None] = {}) -> Plant:
    """Return what makes further nodes like another."""

    def plant(objects: Objects) -> None:
        for name in names:
            new = json.loads(json.dumps(objects["Node", "", source]))
            new["metadata"]["name"] = name
            labels = {**new["metadata"]["labels"], **label_of}
            new["metadata"]["labels"] = {key: value for key, value in labels.items() if value is not None}
            objects["Node", "", name] = new

    return plant


def platform(change: Callable[[dict[str, Any]], object]) -> Plant:
    """Return what changes Nuclio's settings."""

    def plant(objects: Objects) -> None:
        data = objects[NUCLIO]["data"]
        content = yaml.safe_load(data["platform.yaml"])
        change(content["kube"])
        data["platform.yaml"] = yaml.safe_dump(content)

    return plant


def reported(change: Callable[[dict[str, Any]], object]) -> Plant:
    """Return what changes the autoscaler's report."""

    def plant(objects: Objects) -> None:
        data = objects[REPORT]["data"]
        content = yaml.safe_load(data["status"])
        change(content)
        data["status"] = yaml.safe_dump(content)

    return plant


def encoded(value: Any) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


def all_of(*plants: Plant) -> Plant:
    return lambda objects: [plant(objects) for plant in plants]


def net(name: str) -> tuple[str, str, str]:
    return "NetworkPolicy", "mlrun", name


GUARD: Final = "igz-user-pods-on-user-pools"
BINDING: Final = ("ValidatingAdmissionPolicyBinding", "", GUARD)
POLICY: Final = ("ValidatingAdmissionPolicy", "", GUARD)
LIFECYCLE, ROLE, POOL = LabelKey.LIFECYCLE.value, LabelKey.ROLE.value, LabelKey.POOL.value
EKS_GROUP: Final = "eks.amazonaws.com/nodegroup"
CAPACITY_TYPE: Final = "eks.amazonaws.com/capacityType"
AZURES: Final = {"labels": {"kubernetes.io/cluster-service": "true"}, "annotations": {DEFAULT_CLASS: "true"}}
MLRUN_JOB: Final = {"labels": {"mlrun/class": "job"}}

PLANTED: Final[dict[str, tuple[str, Plant]]] = {
    # Declared objects
    "a network policy is deleted": ("objects", gone(*net("allow-dns"))),
    "a port of a network policy": (
        "objects",
        put("spec", "egress", 0, "ports", 0, "port", key=net("allow-dns"), value=54),
    ),
    "a quota": (
        "objects",
        put("spec", "hard", "pods", key=("ResourceQuota", "mlrun", "no-system-priority"), value="5"),
    ),
    "a default request": (
        "objects",
        put(
            "spec",
            "limits",
            0,
            "defaultRequest",
            "memory",
            key=("LimitRange", "mlrun", "default-resources"),
            value="7Gi",
        ),
    ),
    "the level of Pod Security": (
        "objects",
        put(
            "metadata", "labels", "pod-security.kubernetes.io/warn", key=("Namespace", "", "mlrun"), value="restricted"
        ),
    ),
    "an object that is being deleted": (
        "objects",
        put(
            "metadata",
            "deletionTimestamp",
            key=("Role", "kube-system", "cluster-autoscaler"),
            value="2026-11-22T10:00:00Z",
        ),
    ),
    "a policy that only audits": ("objects", put("spec", "validationActions", key=BINDING, value=["Audit"])),
    "the autoscaler is scaled down": ("objects", put("spec", "replicas", key=AUTOSCALER, value=0)),
    "the parameters of the policies are gone": ("objects", gone("PolicyParameters", "", "igz-clusters")),
    "a right is taken from a role": (
        "objects",
        put("rules", 0, "verbs", key=("ClusterRole", "", "igz-clusters:core-services"), value=["get"]),
    ),
    "another value of a class, in order": ("objects", priority("workload-high", value=250)),
    # Nodes
    "a node without a lifecycle": ("node-lifecycle", label("workload-0", LIFECYCLE, None)),
    "a node with another lifecycle": ("node-lifecycle", label("workload-0", LIFECYCLE, "preemptible")),
    "a lifecycle that does not exist": ("node-lifecycle", label("data-a-0", LIFECYCLE, "on-demand")),
    "a spot instance that is labelled on-demand": ("node-lifecycle", label("workload-0", CAPACITY_TYPE, "SPOT")),
    "an on-demand instance in a spot pool": ("node-lifecycle", label("spot-0", CAPACITY_TYPE, "ON_DEMAND")),
    "a node of another role": ("node-labels", label("jupyter-a-0", ROLE, "workload")),
    "user work on a node is not marked": ("node-labels", label("gpu-0", LabelKey.USER_WORKLOADS.value, None)),
    "the initial group takes user work": ("node-labels", label("initial-0", ROLE, "workload")),
    "a label of the owner's": ("node-labels", label("spot-0", "example.com/team", "bi")),
    "a node of one group with the pool of another": ("node-labels", label("workload-0", POOL, "spot")),
    "a GPU node without its taint": ("node-taints", node("gpu-0", "spec", "taints", value=[])),
    "a spot node without its taint": ("node-taints", node("spot-0", "spec", "taints", value=[])),
    "a GPU taint with another value": (
        "node-taints",
        node("gpu-0", "spec", "taints", 0, "value", value="true"),
    ),
    "a taint on the initial group": (
        "node-taints",
        node("initial-0", "spec", "taints", value=[{"key": "dedicated", "value": "core", "effect": "NoSchedule"}]),
    ),
    "a node that is not ready": ("node-ready", ready("False", "2026-11-22T11:00:00Z")),
    "a node whose kubelet is silent": ("node-ready", ready("Unknown", "2026-11-22T11:49:00Z")),
    "more nodes than a group may have": ("node-count", copied("gpu-0", *(f"more-{index}" for index in range(4)))),
    "fewer nodes than a static group has": ("node-count", gone("Node", "", "data-a-0")),
    "a core node is missing": ("initial-group", gone("Node", "", "initial-0")),
    "a core node too many": ("initial-group", copied("initial-0", "initial-9")),
    "a core node on a spot instance": ("initial-group", label("initial-0", CAPACITY_TYPE, "SPOT")),
    "a node without a pool": (
        "stray-nodes",
        copied("workload-0", "stray", label_of={POOL: None, EKS_GROUP: None}),
    ),
    "a node of a pool that the stack does not have": (
        "stray-nodes",
        copied("workload-0", "stray", label_of={POOL: "other", EKS_GROUP: "other"}),
    ),
    # Classes and storage
    "a user class that evicts": (
        "priority-classes",
        priority("workload-high", preemptionPolicy="PreemptLowerPriority"),
    ),
    "user classes out of order": ("priority-classes", priority("workload-low", value=250)),
    "a negative user class": ("priority-classes", priority("workload-low", value=-1)),
    "a user class above core services": ("priority-classes", priority("workload-high", value=5_000_000)),
    "a class of core services below user work": ("priority-classes", priority("system-medium", value=10)),
    "a user class is missing": ("priority-classes", gone("PriorityClass", "", "igz-workload-low")),
    "a default class of somebody else": (
        "global-default-class",
        there("PriorityClass", "theirs", value=7, globalDefault=True),
    ),
    "one of our classes is the default": ("global-default-class", priority("workload-low", globalDefault=True)),
    "two default storage classes": (
        "default-storage-class",
        there("StorageClass", "gp2", metadata={"annotations": {DEFAULT_CLASS: "true"}}),
    ),
    "no default storage class": (
        "default-storage-class",
        put("metadata", "annotations", DEFAULT_CLASS, key=("StorageClass", "", "gp3"), value="false"),
    ),
    "the storage class is deleted": ("default-storage-class", gone("StorageClass", "", "gp3")),
    # Add-ons
    "a GPU node that offers no GPU": ("gpu-plugin", node("gpu-0", "status", "allocatable", value={})),
    "a GPU node that offers fewer GPUs": (
        "gpu-plugin",
        node("gpu-0", "status", "allocatable", "nvidia.com/gpu", value="3"),
    ),
    "an autoscaler that is not available": ("autoscaler", put("status", "conditions", key=AUTOSCALER, value=[])),
    "no autoscaler": ("autoscaler", gone(*AUTOSCALER)),
    "an autoscaler that fell silent": (
        "autoscaler",
        reported(lambda status: status.update(time="2026-11-22 11:00:00.1 +0000 UTC")),
    ),
    "an autoscaler that never reported": ("autoscaler", gone(*REPORT)),
    "an elastic group that the autoscaler does not know": (
        "autoscaler-groups",
        reported(lambda status: status.update(nodeGroups=status["nodeGroups"][1:])),
    ),
    "other bounds": (
        "autoscaler-groups",
        reported(lambda status: status["nodeGroups"][0]["health"].update(maxSize=2)),
    ),
    "an autoscaled initial group": (
        "autoscaler-groups",
        reported(lambda status: status["nodeGroups"].append({"name": "eks-test-initial-0a1b2c3-1", "health": {}})),
    ),
    # Admission and networks
    "a policy without its binding": ("admission-bound", gone(*BINDING)),
    "a binding of another policy": ("admission-bound", put("spec", "policyName", key=BINDING, value="other")),
    "a binding that leaves out namespaces": (
        "admission-bound",
        put("spec", "matchResources", key=BINDING, value={"namespaceSelector": {"matchLabels": {"a": "b"}}}),
    ),
    "a policy with one condition more": (
        "admission-bound",
        put("spec", "matchConditions", key=POLICY, value=[{"name": "never", "expression": "false"}]),
    ),
    "a policy that leaves out objects": (
        "admission-bound",
        put("spec", "matchConstraints", "objectSelector", key=POLICY, value={"matchLabels": {"a": "b"}}),
    ),
    "a namespace without the mark": (
        "namespace-marks",
        put("metadata", "labels", LabelKey.USER_WORKLOADS.value, key=("Namespace", "", "mlrun"), value=None),
    ),
    "a namespace is deleted": ("namespace-marks", gone("Namespace", "", "mlrun")),
    "jobs in a namespace without the mark": ("namespace-marks", there("Pod", "job", "team", metadata=MLRUN_JOB)),
    "no network policy that denies": ("network-isolation", gone(*net("default-deny"))),
    "a network policy that denies only some pods": (
        "network-isolation",
        put("spec", "podSelector", key=net("default-deny"), value={"matchLabels": {"app": "one"}}),
    ),
    "a policy of somebody else that opens a namespace": (
        "network-isolation",
        there("NetworkPolicy", "open", "mlrun", spec=OPEN),
    ),
    # MLRun
    "a setting that env hides": (
        "mlrun-settings",
        container("env", [{"name": SELECTOR, "value": encoded({"a": "b"})}]),
    ),
    "a setting from a Secret": (
        "mlrun-settings",
        container("env", [{"name": CLASSES, "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
    ),
    "a setting that a later ConfigMap hides": (
        "mlrun-settings",
        all_of(
            there("ConfigMap", "later", "mlrun", data={CLASSES: "igz-workload-low"}),
            container("envFrom", [{"configMapRef": {"name": name}} for name in (OVERRIDE[2], "later")]),
        ),
    ),
    "a setting that only an earlier ConfigMap still has": (
        "mlrun-settings",
        all_of(
            there("ConfigMap", "mlrun-common-env", "mlrun", data={CLASSES: "igz-workload-low"}), variable(CLASSES, None)
        ),
    ),
    "an API that does not start": (
        "mlrun-settings",
        put("status", key=API_POD, value={"phase": "Pending"}),
    ),
    "an API that does not read our ConfigMap": ("mlrun-settings", container("envFrom", [])),
    "our ConfigMap is deleted": ("mlrun-settings", gone(*OVERRIDE)),
    "another selector": ("mlrun-settings", variable(SELECTOR, encoded({"pool": "jobs"}))),
    "raw JSON": ("mlrun-settings", variable(SELECTOR, '{"pool": "jobs"}')),
    "no toleration for spot nodes": ("mlrun-settings", variable(TOLERATIONS, None)),
    "spaces between classes": (
        "mlrun-settings",
        variable(CLASSES, "igz-workload-low, igz-workload-medium, igz-workload-high"),
    ),
    "a class that does not exist": (
        "mlrun-settings",
        variable(MlrunVariable.DEFAULT_CLASS.value, "default-priority"),
    ),
    "a misspelt key": ("mlrun-keys", variable("MLRUN_FUNCTION_DEFAULTS__PREENPTION_MODE", "allow")),
    "a misspelt key in env": (
        "mlrun-keys",
        container("env", [{"name": "MLRUN_PREEMPTIBLE_NODES__TOLERATION", "value": ""}]),
    ),
    "a threshold of the state running": ("mlrun-keys", variable(THRESHOLD, "24h")),
    "an API that is older than its settings": (
        "mlrun-restart",
        put("metadata", "managedFields", 0, "time", key=OVERRIDE, value="2026-11-22T08:00:00Z"),
    ),
    # Nuclio
    "another selector in Nuclio": (
        "nuclio-settings",
        platform(lambda kube: kube.update(defaultFunctionNodeSelector={"pool": "jobs"})),
    ),
    "no class in Nuclio": ("nuclio-settings", platform(lambda kube: kube.pop("defaultFunctionPriorityClassName"))),
    "one class more in Nuclio": (
        "nuclio-settings",
        platform(lambda kube: kube["validFunctionPriorityClassNames"].append("theirs")),
    ),
    "another spot label in Nuclio than in MLRun": (
        "nuclio-settings",
        platform(lambda kube: kube["preemptibleNodes"].update(nodeSelector={"spot": "yes"})),
    ),
    "no toleration in Nuclio": (
        "nuclio-settings",
        platform(lambda kube: kube["preemptibleNodes"].pop("tolerations")),
    ),
}
"""By name: the check, and what is planted in a cluster on EKS."""

ELSEWHERE: Final[dict[str, tuple[str, str, Plant]]] = {
    "an empty list of tolerations": (
        *("eks-untainted", "nuclio-settings"),
        platform(lambda kube: kube["preemptibleNodes"].update(tolerations=[])),
    ),
    "tolerations of a taint that no node has": (
        *("eks-untainted", "mlrun-settings"),
        variable(TOLERATIONS, encoded([{"key": "spot", "operator": "Exists"}])),
    ),
    "spot nodes that do not exist": (
        *("existing", "mlrun-settings"),
        variable(MlrunVariable.SPOT_SELECTOR.value, encoded({LIFECYCLE: "preemptible"})),
    ),
    "a node that AKS calls spot": (
        *("aks", "node-lifecycle"),
        label("workload-0", "kubernetes.azure.com/scalesetpriority", "spot"),
    ),
    "bounds that the autoscaler of AKS reports": (
        *("aks", "autoscaler-groups"),
        reported(lambda status: status["nodeGroups"][0]["health"].update(maxSize=2)),
    ),
    "a declared node is deleted": ("local", "initial-group", gone("Node", "", "initial-0")),
    "a declared node has another role": ("local", "node-labels", label("initial-0", ROLE, "workload")),
    "a declared node has another pool": ("local", "node-labels", label("initial-0", POOL, "workload")),
    "a declared node has another lifecycle": ("local", "node-lifecycle", label("initial-0", LIFECYCLE, "preemptible")),
    "an autoscaler on this machine that does not report": ("local", "autoscaler", gone(*REPORT)),
    "a new node without labels": (
        *("existing", "node-labels"),
        all_of(copied("workload-0", "workload-9", label_of={ROLE: None}), gone("Node", "", "workload-0")),
    ),
    "a node that no longer matches": ("existing", "stray-nodes", copied("gpu-0", "old", label_of={"rack": "none"})),
    "a class of Azure's that is newer than ours": (
        *("aks", "default-storage-class"),
        there("StorageClass", "default", metadata={**AZURES, "creationTimestamp": "2026-11-22T10:00:00Z"}),
    ),
    "fewer nodes than the owner promised": ("existing", "node-count", gone("Node", "", "workload-0")),
    "an adopted GPU node without its taint": ("existing", "node-taints", node("gpu-0", "spec", "taints", value=[])),
}
"""By name: the kind of cluster, the check, and what is planted."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_deviation_is_found_by_the_check_that_it_belongs_to(name: str) -> None:
    check, plant = PLANTED[name]
    assert {found for found, _ in site("eks").verified(plant).deviations} == {check}


@pytest.mark.parametrize(
    ("name", "place", "action"),
    [
        ("a setting that env hides", f"Pod mlrun/{API_POD[2]}, spec.containers.env[{SELECTOR}]", "Remove it there"),
        ("a setting that a later ConfigMap hides", f"ConfigMap mlrun/later, data.{CLASSES}", "Remove it there"),
        ("a setting that only an earlier ConfigMap still has", f"ConfigMap mlrun/{OVERRIDE[2]}, data.{CLASSES}", "Run"),
        ("another selector", f"ConfigMap mlrun/{OVERRIDE[2]}, data.{SELECTOR}", "Run `igz-clusters up test`. Then"),
    ],
)
def test_a_setting_is_corrected_where_it_comes_from(name: str, place: str, action: str) -> None:
    ((_, found),) = site("eks").verified(PLANTED[name][1]).deviations
    assert str(found.place) == place
    assert found.action.startswith(action)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_deviation_on_another_kind_of_cluster_too(name: str) -> None:
    kind, check, plant = ELSEWHERE[name]
    assert {found for found, _ in site(kind).verified(plant).deviations} == {check}


@pytest.mark.parametrize("kind", ["eks", "eks-untainted", "aks", "local", "existing"])
def test_a_clean_cluster_has_no_deviation(kind: str) -> None:
    assert site(kind).verified().deviations == ()


@pytest.mark.parametrize(
    "plant",
    [
        ready("False", "2026-11-22T11:55:00Z"),
        all_of(
            node("gpu-0", "metadata", "creationTimestamp", value="2026-11-22T11:55:00Z"),
            node("gpu-0", "status", "allocatable", value={}),
        ),
        node("workload-0", "spec", "taints", value=[{"key": "efs.csi.aws.com/agent-not-ready", "effect": "NoExecute"}]),
    ],
    ids=["not ready yet", "no GPUs yet", "an agent is not ready yet"],
)
def test_a_node_that_starts_is_no_deviation(plant: Plant) -> None:
    assert site("eks").verified(plant).deviations == ()


def test_what_the_api_server_adds_to_policies_is_no_deviation() -> None:
    selectors = {"namespaceSelector": {}, "objectSelector": {}}
    defaults = put("spec", "matchResources", key=BINDING, value={"matchPolicy": "Equivalent", **selectors})
    assert site("eks").verified(all_of(defaults, _defaulted)).deviations == ()


def _defaulted(objects: Objects) -> None:
    constraints = objects[POLICY]["spec"]["matchConstraints"]
    constraints |= {"matchPolicy": "Equivalent", "objectSelector": {}}
    for rule in constraints["resourceRules"]:
        rule["scope"] = "*"


def test_credentials_that_hide_a_setting_are_not_shown() -> None:
    clean = site("eks")
    name = MlrunVariable.AUTO_MOUNT_PARAMETERS.value
    mlrun = MlrunChoices.model_validate({"autoMount": {"type": "pvc", "parameters": {"pvc_name": "shared"}}})
    chosen = clean.contract.config.platform.model_copy(update={"mlrun": mlrun})
    config = clean.contract.config.model_copy(update={"platform": chosen})
    changed = Site(replace(clean.contract, config=config), clean.objects)
    text = json.dumps(changed.verified(variable(name, encoded({"aws_secret_key": "canary"}))).as_json())
    assert f"{name} has another value, which is not shown" in text
    assert "canary" not in text


def test_the_older_default_class_that_azure_restores_is_no_deviation() -> None:
    ours = put("metadata", "creationTimestamp", key=("StorageClass", "", "premium-ssd"), value="2026-11-20T10:00:00Z")
    theirs = there("StorageClass", "default", metadata={**AZURES, "creationTimestamp": "2026-11-20T09:00:00Z"})
    assert site("aks").verified(all_of(ours, theirs)).deviations == ()


def test_the_group_of_a_name_is_not_mistaken_for_one_that_ends_in_it() -> None:
    def rename(status: dict[str, Any]) -> None:
        status["nodeGroups"][0]["name"] = f"other-{status['nodeGroups'][0]['name']}"

    found = site("local").verified(reported(rename)).deviations
    assert {check for check, _ in found} == {"autoscaler-groups"}


def test_a_deviation_is_planted_for_every_check() -> None:
    assert {check for check, _ in PLANTED.values()} == {OBJECTS, *CHECKS}
    assert len(PLANTED) >= 40


def test_the_page_lists_exactly_the_checks() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", (PROJECT_ROOT / "docs" / "verify.md").read_text(), re.MULTILINE)
    assert rows == [OBJECTS, *CHECKS]


@pytest.mark.parametrize("name", PLANTED)
def test_each_deviation_says_where_it_is_what_is_expected_and_what_to_do(name: str) -> None:
    _, plant = PLANTED[name]
    for _, each in site("eks").verified(plant).deviations:
        assert each.place.name
        assert each.problem
        assert each.expected
        assert each.action.endswith(".")
