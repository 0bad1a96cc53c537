"""A passport of a real API server: it verifies, each change behind its back is named, and a forged one is refused."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from components.contract.labels import LabelKey
from components.contract.priorities import USER_PRIORITY_LIMIT
from support.cluster import Cluster, eventually, running_cluster
from support.verification import OPEN, manifest

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

QUOTA: Final = ("patch", "quota", "no-system-priority", "-n=mlrun")
LIMIT: Final = ("patch", "limitrange", "default-resources", "-n=mlrun", "--type=json")
BINDING: Final = ("patch", "validatingadmissionpolicybinding", "igz-pods-mandatory")
PARAMETERS: Final = ("patch", "policyparameters", "igz-clusters", "--type=merge")
RIGHTS: Final = ("patch", "clusterrole", "igz-clusters:core-services", "--type=json")
SETTINGS: Final = ("patch", "cm", "mlrun-override-env", "-n=mlrun")
LABEL: Final = ("label", "node", "initial-0", "--overwrite")
SECRETS: Final = '{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}'


def memory(amount: str) -> str:
    return f'-p=[{{"op":"replace","path":"/spec/limits/0/defaultRequest/memory","value":"{amount}"}}]'


def labelled(key: str) -> str:
    return f'Node initial-0, metadata.labels["{key}"]'


CHANGES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...], str]]] = {
    "a quota": (
        (*QUOTA, '-p={"spec":{"hard":{"pods":"5"}}}'),
        (*QUOTA, '-p={"spec":{"hard":{"pods":"0"}}}'),
        "ResourceQuota mlrun/no-system-priority, spec.hard.pods",
    ),
    "a quota of somebody else": (
        ("create", "quota", "theirs", "--hard=pods=9", "-n=mlrun"),
        ("delete", "quota", "theirs", "-n=mlrun"),
        "ResourceQuota mlrun/theirs",
    ),
    "a default request": (
        (*LIMIT, memory("7Gi")),
        (*LIMIT, memory("1Gi")),
        "LimitRange mlrun/default-resources, spec.limits[0].defaultRequest.memory",
    ),
    "a label of a namespace": (
        ("label", "namespace", "mlrun", "example.com/team=a"),
        ("label", "namespace", "mlrun", "example.com/team-"),
        'Namespace mlrun, metadata.labels["example.com/team"]',
    ),
    "an action at admission": (
        (*BINDING, '-p={"spec":{"validationActions":["Audit"]}}'),
        (*BINDING, '-p={"spec":{"validationActions":["Deny"]}}'),
        "ValidatingAdmissionPolicyBinding igz-pods-mandatory, spec.validationActions[0]",
    ),
    "a parameter of the rules": (
        (*PARAMETERS, '-p={"spec":{"maxUserPriority":2000000}}'),
        (*PARAMETERS, f'-p={{"spec":{{"maxUserPriority":{USER_PRIORITY_LIMIT}}}}}'),
        "PolicyParameters igz-clusters, spec.maxUserPriority",
    ),
    "a right": (
        (*RIGHTS, f'-p=[{{"op":"add","path":"/rules/-","value":{SECRETS}}}]'),
        (*RIGHTS, '-p=[{"op":"remove","path":"/rules/1"}]'),
        "ClusterRole igz-clusters:core-services, rules",
    ),
    "an administrator": (
        ("create", "clusterrolebinding", "theirs", "--clusterrole=cluster-admin", "--user=eve"),
        ("delete", "clusterrolebinding", "theirs"),
        "ClusterRoleBinding theirs",
    ),
    "a right in a namespace": (
        ("create", "rolebinding", "theirs", "--clusterrole=view", "--user=eve", "-n=mlrun"),
        ("delete", "rolebinding", "theirs", "-n=mlrun"),
        "RoleBinding mlrun/theirs",
    ),
    "a setting of MLRun": (
        (*SETTINGS, '-p={"data":{"EXTRA":"1"}}'),
        (*SETTINGS, '-p={"data":{"EXTRA":null}}'),
        "ConfigMap mlrun/mlrun-override-env, data.EXTRA",
    ),
    "a class of somebody else": (
        ("create", "priorityclass", "theirs", "--value=7", "--preemption-policy=Never"),
        ("delete", "priorityclass", "theirs"),
        "PriorityClass theirs",
    ),
    "an add-on": (
        ("create", "deployment", "miner", "--image=example.com/miner:1", "--replicas=0", "-n=kube-system"),
        ("delete", "deployment", "miner", "-n=kube-system"),
        "Deployment kube-system/miner",
    ),
    "a role of a node": (
        (*LABEL, f"{LabelKey.ROLE}=workload"),
        (*LABEL, f"{LabelKey.ROLE}=initial"),
        f"node-labels: {labelled(LabelKey.ROLE)}",
    ),
    "a lifecycle of a node": (
        (*LABEL, f"{LabelKey.LIFECYCLE}=preemptible"),
        (*LABEL, f"{LabelKey.LIFECYCLE}=non-preemptible"),
        f"node-lifecycle: {labelled(LabelKey.LIFECYCLE)}",
    ),
    "a taint of a node": (
        ("taint", "node", "initial-0", "example.com/maintenance=1:NoSchedule"),
        ("taint", "node", "initial-0", "example.com/maintenance-"),
        "node-taints: Node initial-0, spec.taints",
    ),
}
"""What kubectl changes, how it is undone, and where it is found."""

HOOK: Final = {
    "name": "pods.example.com",
    "clientConfig": {"service": {"namespace": "default", "name": "hook"}},
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
    "objectSelector": {"matchLabels": {"example.com/hooked": "yes"}},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
MADE: Final = (
    {**manifest("NetworkPolicy", "open", "mlrun", spec=OPEN), "apiVersion": "networking.k8s.io/v1"},
    {
        **manifest("MutatingWebhookConfiguration", "theirs", webhooks=[HOOK]),
        "apiVersion": "admissionregistration.k8s.io/v1",
    },
    manifest("Node", "stray", metadata={"labels": {"kubernetes.io/os": "linux"}}),
)
FOUND: Final = {"NetworkPolicy mlrun/open", "MutatingWebhookConfiguration theirs", "stray-nodes: Node stray"}


class Passport:
    """A passport of the local cluster, and its public key."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.file, self.key = cluster, folder / "passport.json", folder / "key.pub"
        self.key.write_text(cluster.command("passport", "key").stdout)
        page = folder / "passport.html"
        options = ("--output", str(self.file), "--page", str(page), "--allow-dirty", "--hermetic")
        self.said = cluster.command("passport", "make", cluster.stack, *options).stdout
        self.page = page.read_text()

    def verify(self) -> tuple[int, set[str], str]:
        """Return the exit code, the places of all differences, and what went to standard error."""
        options = ("--public-key", str(self.key), "--json", "--hermetic")
        done = self.cluster.command("passport", "verify", self.cluster.stack, str(self.file), *options, check=False)
        found: dict[str, Any] = json.loads(done.stdout) if done.stdout else {"differences": []}
        return done.returncode, {each["where"] for each in found["differences"]}, done.stderr


def test_a_passport_verifies_each_change_is_named_and_a_forged_one_is_refused(tmp_path: Path) -> None:
    with running_cluster(tmp_path / "data", is_quick=True) as cluster:
        eventually(lambda: cluster.command("verify", cluster.stack, "--hermetic", check=False).returncode == 0)
        passport = Passport(cluster, tmp_path)
        assert ", none failed, " in passport.said
        assert ">node-labels<" in passport.page
        assert passport.verify()[:2] == (0, set())

        for name, (change, undo, where) in CHANGES.items():
            cluster.kubectl(*change)
            assert passport.verify()[:2] == (1, {where}), name
            cluster.kubectl(*undo)
        for each in MADE:
            cluster.apply(each)
        assert passport.verify()[:2] == (1, FOUND)
        for each in MADE:
            cluster.kubectl("delete", "-f", "-", stdin=json.dumps(each))
        eventually(lambda: passport.verify()[:2] == (0, set()))

        envelope = json.loads(passport.file.read_text())
        payload = envelope["payload"]
        passport.file.write_text(json.dumps({**envelope, "payload": f"{payload[:400]}AAAA{payload[404:]}"}))
        code, found, said = passport.verify()
        assert (code, found) == (1, set())
        assert "The signature is not of this key, or the passport was changed" in said
