"""What the EKS stack puts into its cluster, on a real API server and with the real autoscaler."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract import autoscaler
from components.contract.labels import LabelKey
from support.cluster import Cluster, eventually, pod
from support.eks import built

pytestmark = pytest.mark.control_plane

DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def declared(prefix: str = "") -> list[dict[str, Any]]:
    """Return the objects in the cluster whose logical name starts with ``prefix``, numbers as whole numbers."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    found = [r for r in built("prod").resources if r.type.startswith("kubernetes:") and r.name.startswith(prefix)]
    return [plain(resource.inputs) for resource in found]


def listed(items: list[dict[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def test_the_api_server_accepts_every_object_and_knows_every_field(cluster: Cluster) -> None:
    options = ("--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict")
    accepted = cluster.kubectl("apply", *options, "-f", "-", stdin=listed(declared())).stdout.splitlines()
    assert len(accepted) == len(declared()) > 30


def test_the_api_server_refuses_a_field_that_it_does_not_know(cluster: Cluster) -> None:
    (deployment,) = (o for o in declared() if o["kind"] == "Deployment")
    deployment["spec"]["template"]["spec"]["nodeSelectors"] = {}
    options = ("--server-side", "--dry-run=server", "--validate=strict")
    refused = cluster.kubectl("apply", *options, "-f", "-", stdin=listed([deployment]), check=False)
    assert "nodeSelectors" in refused.stderr


@pytest.fixture
def autoscaler_account(cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    """Give the account of our manifests its rights, and those of the simulated cloud; return its kubeconfig."""
    kwok = [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [autoscaler.CONFIG, autoscaler.TEMPLATES],
            "verbs": ["get"],
        },
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["create", "delete"]},
    ]
    api = "rbac.authorization.k8s.io"
    cloud = [
        {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": "kwok-provider"}, "rules": kwok},
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "kwok-provider"},
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": "kwok-provider"},
            "subjects": [{"kind": "ServiceAccount", "name": autoscaler.NAME, "namespace": autoscaler.NAMESPACE}],
        },
    ]
    kinds = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    rights = listed([*(o for o in declared("test-own-autoscaler") if o["kind"] in kinds), *cloud])
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=rights)
    config = yaml.safe_load(cluster.kubeconfig().read_text())
    config["users"][0]["user"]["as"] = f"system:serviceaccount:{autoscaler.NAMESPACE}:{autoscaler.NAME}"
    file = tmp_path / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(config))
    yield file
    cluster.kubectl("delete", "-f", "-", stdin=rights)


def test_the_real_autoscaler_works_with_our_flags_and_rights_and_misses_none(
    cluster: Cluster, autoscaler_account: Path, tmp_path: Path
) -> None:
    """Only what belongs to AWS is exchanged for the simulated cloud."""
    container = built("prod").of_type(DEPLOYMENT)["test-own-autoscaler"]["spec"]["template"]["spec"]["containers"][0]
    of_aws = ("--cloud-provider", "--node-group-auto-discovery", "--address")
    flags = [flag for flag in container["command"][1:] if not flag.startswith(of_aws)]
    local = ["--cloud-provider=kwok", f"--kubeconfig={autoscaler_account}", "--address=127.0.0.1:0"]
    environment = {
        "POD_NAMESPACE": autoscaler.NAMESPACE,
        "KWOK_PROVIDER_MODE": "local",
        "KUBECONFIG": str(autoscaler_account),
    }
    log = tmp_path / "log"
    with log.open("w") as sink:
        process = subprocess.Popen(
            [cluster.binary("cluster-autoscaler"), *flags, *local, "--scan-interval=2s"],
            env={**os.environ, **environment},
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: "successfully acquired lease" in log.read_text())
        # The stack's own autoscaler looks at the same pod: which of the two starts the node does not matter here.
        cluster.apply(pod("work", nodeSelector={LabelKey.USER_WORKLOADS.value: "true", LabelKey.POOL.value: "jupyter"}))
        eventually(lambda: cluster.pool_of("work") == "jupyter")
        cluster.kubectl("delete", "pod", "work", "-n", "mlrun", "--grace-period=0", "--force")
        eventually(lambda: log.read_text().count("ScaleUpToNodeGroupMinSize") > 5)
    finally:
        # Asked politely to stop, it would delete the nodes of the simulated cloud.
        process.kill()
        process.wait()
    assert [line for line in log.read_text().splitlines() if "forbidden" in line.lower()] == []


@pytest.mark.parametrize(
    "what", ["get secrets", "create pods", "delete pods", "update configmaps", "create clusterroles"]
)
def test_the_autoscaler_may_not(cluster: Cluster, autoscaler_account: Path, what: str) -> None:
    verb, resource = what.split()
    account = f"--as=system:serviceaccount:{autoscaler.NAMESPACE}:{autoscaler.NAME}"
    answer = cluster.kubectl("auth", "can-i", verb, resource, "-n", autoscaler.NAMESPACE, account, check=False)
    assert answer.stdout.strip() == "no"
