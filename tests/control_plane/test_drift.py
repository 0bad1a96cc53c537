"""What users change outside of Pulumi on a real cluster, and what changes there by itself."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.contract.labels import AnnotationKey, LabelKey
from components.contract.ownership import FIELD_MANAGER
from components.contract.taints import OWN_SPOT_TAINT
from support.cluster import Cluster, eventually, pod

pytestmark = pytest.mark.control_plane

USER = {LabelKey.USER_WORKLOADS.value: "true"}
ROLE = f'metadata.labels["{LabelKey.ROLE}"]'
ENFORCE = "pod-security.kubernetes.io/enforce"

CHANGES: dict[str, tuple[str, ...]] = {
    "a label of a node": ("label", "node", "initial-0", f"{LabelKey.ROLE}=workload", "--overwrite"),
    "a taint of a node": ("taint", "node", "initial-1", "example.com/maintenance=1:NoSchedule"),
    "a text": ("patch", "priorityclass", "igz-workload-high", "--type=merge", '-p={"description":"mine"}'),
    "an annotation": ("annotate", "priorityclass", "igz-workload-low", "example.com/owner=me"),
    "a quota": ("patch", "quota", "no-system-priority", "-n=mlrun", '-p={"spec":{"hard":{"pods":"5"}}}'),
    "a limit": (
        *("patch", "limitrange", "default-resources", "-n=mlrun", "--type=json"),
        '-p=[{"op":"replace","path":"/spec/limits/0/defaultRequest/memory","value":"7Gi"}]',
    ),
    "a way into the network": ("patch", "netpol", "default-deny", "-n=mlrun", '-p={"spec":{"ingress":[{}]}}'),
    "a label of a namespace": ("label", "namespace", "mlrun", f"{ENFORCE}=restricted", "--overwrite"),
    "a key of a ConfigMap": ("patch", "cm", "mlrun-override-env", "-n=mlrun", '-p={"data":{"EXTRA":"1"}}'),
    "policy parameters": (
        *("patch", "policyparameters", "igz-clusters", "--type=merge"),
        '-p={"spec":{"maxUserPriority":2000000}}',
    ),
    "the action of a policy": (
        *("patch", "validatingadmissionpolicybinding", "igz-pods-mandatory"),
        '-p={"spec":{"validationActions":["Audit"]}}',
    ),
    "a right": (
        *("patch", "clusterrole", "igz-clusters:core-services", "--type=json"),
        '-p=[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}}]',
    ),
    "an object": ("delete", "netpol", "allow-platform", "-n=mlrun"),
}
ADDED = {
    "mlrun-default-deny": {"spec.ingress": (None, "[{}]")},
    "igz-clusters-core-services": {
        "rules[1]": (None, '{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}'),
    },
    "igz-workload-low": {'metadata.annotations["example.com/owner"]': (None, "me")},
    "initial-1": {"spec.taints[0]": (None, '{"effect": "NoSchedule", "key": "example.com/maintenance", "value": "1"}')},
    "mlrun-mlrun-mlrun-override-env": {"data.EXTRA": (None, "[not shown]")},
}
"""By logical name and path: what was declared, and what is there. `up` leaves these, for it does not declare them."""

CHANGED = {
    "mlrun-allow-platform": {},
    "mlrun-default-resources": {"spec.limits[0].defaultRequest.memory": ("1Gi", "7Gi")},
    "igz-clusters": {"spec.maxUserPriority": ("1000000", "2000000")},
    "igz-pods-mandatory": {"spec.validationActions[0]": ("Deny", "Audit")},
    "igz-workload-high": {"description": ("User work; waits for room.", "mine")},
    "initial-0": {ROLE: ("initial", "workload")},
    "mlrun": {f'metadata.labels["{ENFORCE}"]': ("privileged", "restricted")},
    "mlrun-no-system-priority": {"spec.hard.pods": ("0", "5")},
}
UNDONE = (
    ("taint", "node", "initial-1", "example.com/maintenance-"),
    ("annotate", "priorityclass", "igz-workload-low", "example.com/owner-"),
    ("patch", "netpol", "default-deny", "-n=mlrun", '-p={"spec":{"ingress":null}}'),
    ("patch", "cm", "mlrun-override-env", "-n=mlrun", '-p={"data":{"EXTRA":null}}'),
    (
        *("patch", "clusterrole", "igz-clusters:core-services", "--type=json"),
        '-p=[{"op":"remove","path":"/rules/1"}]',
    ),
)


def drift(cluster: Cluster, *options: str, code: int) -> dict[str, dict[str, tuple[str | None, str | None]]]:
    """Return what is reported, by logical name and path; fail unless the exit code is ``code``."""
    done = cluster.command("drift", cluster.stack, "--hermetic", "--json", *options, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    (stack,) = json.loads(done.stdout)["stacks"]
    assert stack["source"] == "drift"
    assert stack["dangers"] == stack["findings"] == stack["problems"] == []
    return {
        each["name"]: {p["path"]: (p["before"], p["after"]) for p in each["properties"]} for each in stack["changes"]
    }


def written(cluster: Cluster) -> dict[str, str]:
    """Return what a command could write: the state, its history and locks, and every object of the stack."""
    files = [file for file in (cluster.data / "state").rglob("*") if file.is_file()]
    digests = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    kinds = cluster.kubectl("api-resources", "--verbs=list", "-o=name").stdout.split()
    items = cluster.get(",".join(kinds), "-A")["items"]
    return digests | {_identity(item): _version(item) for item in items if _is_ours(item)}


def _is_ours(item: dict[str, Any]) -> bool:
    return (item["metadata"].get("annotations") or {}).get("pulumi.com/patchFieldManager") == FIELD_MANAGER


def _identity(item: dict[str, Any]) -> str:
    metadata = item["metadata"]
    return "/".join((item["kind"], metadata.get("namespace", ""), metadata["name"], metadata["uid"]))


def _version(item: dict[str, Any]) -> str:
    if item["kind"] != "Node":
        return str(item["metadata"]["resourceVersion"])
    # A node reports its health all the time.
    return json.dumps([item["metadata"]["labels"], item["metadata"]["annotations"], item["spec"]], sort_keys=True)


def test_what_pods_deployments_and_the_autoscaler_move_is_no_drift(cluster: Cluster) -> None:
    waiting = pod(
        "waits-for-a-node",
        annotations={AnnotationKey.RESTART_PLAN.value: "retry"},
        nodeSelector={**USER, LabelKey.LIFECYCLE.value: "preemptible"},
        tolerations=[OWN_SPOT_TAINT.toleration()],
    )
    served = pod("served", labels={"app": "served"}, nodeSelector=USER)
    template = {"metadata": {"labels": {"app": "served"}}, "spec": {**served["spec"], "restartPolicy": "Always"}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "served"}}, "template": template}
    metadata = {"name": "served", "namespace": "mlrun"}
    cluster.apply(waiting)
    cluster.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    try:
        eventually(lambda: cluster.pool_of("waits-for-a-node") == "spot")
        eventually(lambda: cluster.get("deployment", "served", "-n", "mlrun")["status"].get("readyReplicas") == 1)
        before = written(cluster)
        assert drift(cluster, code=0) == {}
        assert written(cluster) == before
    finally:
        cluster.kubectl("delete", "deployment", "served", "-n", "mlrun")


@pytest.fixture
def changed(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster with all of ``CHANGES``; afterwards it is as it was, whatever a test did."""
    try:
        for change in CHANGES.values():
            cluster.kubectl(*change)
        yield cluster
    finally:
        if cluster.command("drift", cluster.stack, "--hermetic", check=False).returncode:
            for remedy in UNDONE:
                cluster.kubectl(*remedy, check=False)
            cluster.up()


@pytest.mark.full
def test_changes_behind_its_back_are_all_reported_and_nothing_else(changed: Cluster, tmp_path: Path) -> None:
    before, events = written(changed), tmp_path / "events.jsonl"
    found = drift(changed, f"--events={events}", code=1)
    assert found == CHANGED | ADDED
    assert written(changed) == before
    assert events.stat().st_mode & 0o777 == 0o600
    shown = changed.command("drift", changed.stack, "--hermetic", check=False, COLUMNS="200")
    assert shown.returncode == 1
    assert f"drift: {len(CHANGES)} resources are not as declared" in shown.stdout
    # The event stream alone gives the same report.
    again = changed.command("report", str(events), check=False, COLUMNS="200")
    assert (again.returncode, again.stdout) == (1, shown.stdout)

    # The remedy that docs/drift.md names: `up` for what is declared, and by hand what others added.
    changed.up()
    assert drift(changed, code=1) == ADDED
    for remedy in UNDONE:
        changed.kubectl(*remedy)
    assert drift(changed, code=0) == {}
