"""`verify` on real API servers: what kubectl plants is found, and a clean cluster of every kind has no deviation."""

import json
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from typing_extensions import override

from components.contract.labels import AnnotationKey, LabelKey
from components.contract.people_rights import ROLES, PeopleRole
from components.contract.pools import PoolRole
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.cloud_account import CORE_NODE, CloudAccount
from support.cluster import Cluster, eventually, pod, running_cluster
from support.site import STACK, site
from support.verification import OPEN, autoscaler_report, manifest, nodes
from workbench.engine.kubectl import Api
from workbench.stacks import read, stack_files
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.verification.contract import Contract
from workbench.verification.snapshot import take
from workbench.verification.verify import verify

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

GUARD: Final = "igz-user-pods-on-user-pools"
THRESHOLD: Final = "MLRUN_FUNCTION__SPEC__STATE_THRESHOLDS__DEFAULT__RUNNING"
DEFAULT: Final = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
OVERRIDE: Final = "mlrun-override-env"

PLANTED: Final[dict[str, tuple[str, ...]]] = {
    "a policy deleted": ("delete", "networkpolicy", "allow-dns", "-n=mlrun"),
    "a quota": ("patch", "quota", "no-system-priority", "-n=mlrun", '-p={"spec":{"hard":{"pods":"5"}}}'),
    "a limit": (
        *("patch", "limitrange", "default-resources", "-n=mlrun", "--type=json"),
        '-p=[{"op":"replace","path":"/spec/limits/0/defaultRequest/memory","value":"7Gi"}]',
    ),
    "a level": ("label", "namespace", "mlrun", "pod-security.kubernetes.io/warn=restricted", "--overwrite"),
    "an action": (
        *("patch", "validatingadmissionpolicybinding", "igz-pods-mandatory"),
        '-p={"spec":{"validationActions":["Audit"]}}',
    ),
    "a parameter": (
        *("patch", "policyparameters", "igz-clusters", "--type=merge"),
        '-p={"spec":{"maxUserPriority":2000000}}',
    ),
    "a right": (
        *("patch", "clusterrole", "igz-clusters:core-services", "--type=json"),
        '-p=[{"op":"replace","path":"/rules/0/verbs","value":["get"]}]',
    ),
    "a lifecycle": ("label", "node", "initial-0", f"{LabelKey.LIFECYCLE}=preemptible", "--overwrite"),
    "a role": ("label", "node", "initial-0", f"{LabelKey.ROLE}=workload", "--overwrite"),
    "a taint": ("taint", "node", "initial-0", "example.com/maintenance=1:NoSchedule"),
    "a node": ("delete", "node", "initial-1"),
    "a class": ("delete", "priorityclass", "igz-workload-low"),
    "a binding": ("delete", "validatingadmissionpolicybinding", GUARD),
    "the denial": ("delete", "networkpolicy", "default-deny", "-n=mlrun"),
    "a threshold": ("patch", "cm", OVERRIDE, "-n=mlrun", f'-p={{"data":{{"{THRESHOLD}":"24h"}}}}'),
    "a mode": ("patch", "cm", OVERRIDE, "-n=mlrun", '-p={"data":{"MLRUN_FUNCTION_DEFAULTS__PREENPTION_MODE":"allow"}}'),
}
"""What kubectl changes."""

MADE: Final = (
    manifest("Node", "stray", metadata={"labels": {"kubernetes.io/os": "linux"}}),
    {
        **manifest("PriorityClass", "theirs", value=7, globalDefault=True, preemptionPolicy="Never"),
        "apiVersion": "scheduling.k8s.io/v1",
    },
    *(
        {
            **manifest("StorageClass", name, metadata=DEFAULT, provisioner="csi.example.com"),
            "apiVersion": "storage.k8s.io/v1",
        }
        for name in ("one", "two")
    ),
    {**manifest("NetworkPolicy", "open", "mlrun", spec=OPEN), "apiVersion": "networking.k8s.io/v1"},
    manifest("Namespace", "team"),
    manifest("ConfigMap", "nuclio-platform-config", "mlrun", data={"platform.yaml": "kube: {}"}),
)
"""What other owners make."""

UNDONE: Final = (
    ("taint", "node", "initial-0", "example.com/maintenance-"),
    (
        *("patch", "cm", OVERRIDE, "-n=mlrun"),
        f'-p={{"data":{{"{THRESHOLD}":null,"MLRUN_FUNCTION_DEFAULTS__PREENPTION_MODE":null}}}}',
    ),
)

FOUND: Final = {
    "objects": {
        "NetworkPolicy mlrun/allow-dns",
        "ResourceQuota mlrun/no-system-priority, spec.hard.pods",
        "LimitRange mlrun/default-resources, spec.limits[0].defaultRequest.memory",
        'Namespace mlrun, metadata.labels["pod-security.kubernetes.io/warn"]',
        "ValidatingAdmissionPolicyBinding igz-pods-mandatory, spec.validationActions[0]",
        "PolicyParameters igz-clusters, spec.maxUserPriority",
        "ClusterRole igz-clusters:core-services, rules[0].verbs[0]",
    },
    "node-lifecycle": {f'Node initial-0, metadata.labels["{LabelKey.LIFECYCLE}"]'},
    "node-labels": {f'Node initial-0, metadata.labels["{LabelKey.ROLE}"]'},
    "node-taints": {"Node initial-0, spec.taints"},
    "initial-group": {"Node initial-1"},
    "stray-nodes": {"Node stray"},
    "priority-classes": {"PriorityClass igz-workload-low"},
    "global-default-class": {"PriorityClass theirs, globalDefault"},
    "admission-bound": {f"ValidatingAdmissionPolicyBinding {GUARD}"},
    "namespace-marks": {f'Namespace team, metadata.labels["{LabelKey.USER_WORKLOADS}"]'},
    "network-isolation": {"NetworkPolicy mlrun/default-deny", "NetworkPolicy mlrun/open"},
    "mlrun-settings": {"Pod mlrun/mlrun-api-chief, spec.containers.env[MLRUN_VALID_FUNCTION_PRIORITY_CLASS_NAMES]"},
    "mlrun-keys": {
        f"ConfigMap mlrun/{OVERRIDE}, data.{THRESHOLD}",
        f"ConfigMap mlrun/{OVERRIDE}, data.MLRUN_FUNCTION_DEFAULTS__PREENPTION_MODE",
    },
    "mlrun-restart": {"Pod mlrun/mlrun-api-chief"},
}
"""Places by check, without those of Nuclio, all settings of an empty file, and of the default class."""


def api(**container: Any) -> dict[str, Any]:
    """Return a pod of MLRun's API."""
    made = pod("mlrun-api-chief", nodeSelector={LabelKey.USER_WORKLOADS.value: "true"})
    source = {"configMapRef": {"name": OVERRIDE, "optional": True}}
    made["spec"]["containers"][0] |= {"name": "mlrun-api", "envFrom": [source], **container}
    return made


def verified(cluster: Cluster) -> dict[str, set[str]]:
    """Return the places of all deviations by check."""
    done = cluster.command("verify", cluster.stack, "--json", "--hermetic", check=False)
    assert done.returncode in (0, 1), done.stderr
    found = {each["id"]: {d["where"] for d in each["deviations"]} for each in json.loads(done.stdout)["checks"]}
    assert done.returncode == any(found.values())
    return {check: places for check, places in found.items() if places}


@dataclass(frozen=True)
class Reader(Api):
    """Access as a pipeline that has only the role for verification."""

    @override
    def run(self, *arguments: str, stdin: str | None = None) -> str:
        return super().run("--as=reader", *arguments, stdin=stdin)


def assert_the_role_is_enough(cluster: Cluster) -> None:
    """Read everything with the rights of the role, which allow nothing else."""
    rules = [rule for right in ROLES[PeopleRole.VERIFIER] for rule in right.rules()]
    role = {**manifest("ClusterRole", "reader", rules=rules), "apiVersion": "rbac.authorization.k8s.io/v1"}
    cluster.apply(role)
    cluster.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader")
    contract = Contract("local", read(stack_files(PROJECT_ROOT)["local"]).config, cluster.state())
    reader = Reader(cluster.binary("kubectl"), cluster.kubeconfig(), os.environ)
    found = take(reader, contract.declared.values(), contract.config.namespaces)
    assert verify(replace(contract, mutates=found.mutates), found).deviations == ()
    with pytest.raises(UserError, match="secrets is forbidden"):
        reader.run("get", "secrets", "-n", "mlrun")


def test_what_kubectl_plants_is_found_by_the_check_that_it_belongs_to(tmp_path: Path) -> None:
    with running_cluster(tmp_path, is_quick=True) as cluster:
        cluster.apply(api())
        eventually(lambda: cluster.pod("mlrun-api-chief")["status"]["phase"] == "Running")
        eventually(lambda: verified(cluster) == {})
        assert_the_role_is_enough(cluster)

        cluster.kubectl("delete", "pod", "mlrun-api-chief", "-n", "mlrun")
        cluster.apply(api(env=[{"name": "MLRUN_VALID_FUNCTION_PRIORITY_CLASS_NAMES", "value": "a, b"}]))
        eventually(lambda: cluster.pod("mlrun-api-chief")["status"]["phase"] == "Running")
        for each in MADE:
            cluster.apply(each)
        job = pod("job", namespace="team", labels={"mlrun/class": "job"})
        eventually(lambda: not cluster.apply(job, check=False).returncode)
        for arguments in PLANTED.values():
            cluster.kubectl(*arguments)
        found = verified(cluster)
        assert len(found.pop("nuclio-settings")) > 3
        (default,) = found.pop("default-storage-class")
        assert default.startswith(("StorageClass one, ", "StorageClass two, "))  # the older one
        assert found == FOUND

        for each in (*MADE, api()):
            cluster.kubectl("delete", "-f", "-", "--force", "--grace-period=0", stdin=json.dumps(each))
        for arguments in UNDONE:
            cluster.kubectl(*arguments)
        cluster.command("up", "local", "--hermetic", "--yes")
        eventually(lambda: verified(cluster) == {})


def joined(account: CloudAccount, stack: str) -> None:
    """Let the nodes of every group join, as the provider makes them, and the autoscaler report."""
    config = read(account.stack_file(stack)).config
    contract = Contract(stack, config, account.state(stack))
    for group in config.groups:
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        if group.gpu_resource:
            amounts[group.gpu_resource] = str(group.instances[0].gpus)
        for index, node in enumerate(nodes(contract, group)):
            metadata = node["metadata"]
            if group.role is PoolRole.INITIAL and not index:  # the autoscaler already runs there
                metadata["name"] = CORE_NODE["metadata"]["name"]
            metadata["labels"] |= {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
            metadata["annotations"] |= {
                AnnotationKey.SIMULATED.value: "fake",
                AnnotationKey.CAPACITY.value: json.dumps(amounts),
            }
            applied = json.dumps({key: each for key, each in node.items() if key != "status"})
            account.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=applied)
    account.kubectl(
        "apply",
        "-f",
        "-",
        stdin=json.dumps(autoscaler_report(contract, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} +0000 UTC")),
    )


@pytest.mark.parametrize(
    ("kind", "stack"),
    # The checks look into Kubernetes, where a cloud makes no difference but in access and in its own labels.
    [(Account, "dev"), pytest.param(Subscription, "aks-dev", marks=pytest.mark.proofs)],
)
def test_a_clean_cluster_in_a_cloud_has_no_deviation(kind: type[CloudAccount], stack: str, tmp_path: Path) -> None:
    with kind.opened(tmp_path, stack, is_quick=True) as account:
        account.run("up", stack, "--hermetic", "--yes")
        joined(account, stack)

        def told() -> str:
            done = account.run("verify", stack, "--hermetic", check=False)
            return "" if done.returncode == 0 else done.stdout + done.stderr

        eventually(lambda: not told() or print(told()))
        account.kubectl("label", "node", "core", f"{LabelKey.LIFECYCLE}-")
        assert f'node-lifecycle: Node core, metadata.labels["{LabelKey.LIFECYCLE}"]' in told()


def test_a_clean_existing_cluster_has_no_deviation(tmp_path: Path) -> None:
    with site(tmp_path) as theirs:
        theirs.done("up", STACK, "--yes")
        assert "no deviations" in theirs.done("verify", STACK)
        theirs.kubectl("taint", "node", "gpu-0", "nvidia.com/gpu-")
        code, printed = theirs.run("verify", STACK, "--hermetic")
        assert code == 1
        assert "node-taints: Node gpu-0, spec.taints\n  lacks nvidia.com/gpu=present:NoSchedule" in printed
