"""What `kubectl` shows of a cluster that `up` made."""

import re

import pytest

from components.contract.labels import LabelKey
from support.cluster import Cluster, eventually

pytestmark = pytest.mark.control_plane


def test_static_nodes_are_ready_with_their_labels_and_no_taint(cluster: Cluster) -> None:
    nodes = cluster.nodes(pool="initial")
    assert set(nodes) == {"initial-0", "initial-1"}
    for node in nodes.values():
        ready = next(c for c in node["status"]["conditions"] if c["type"] == "Ready")
        assert ready["status"] == "True"
        assert node["metadata"]["labels"][LabelKey.ROLE] == "initial"
        assert node["metadata"]["labels"][LabelKey.LIFECYCLE] == "non-preemptible"
        assert LabelKey.USER_WORKLOADS not in node["metadata"]["labels"]
        assert "taints" not in node["spec"]
        assert node["status"]["capacity"]["cpu"] == "8"
        assert node["status"]["allocatable"]["cpu"] == "7910m"


def test_a_pool_with_a_minimum_has_that_many_nodes(cluster: Cluster) -> None:
    eventually(lambda: len(cluster.nodes(pool="workload")) == 1)


def test_three_user_classes_never_preempt(cluster: Cluster) -> None:
    classes = {c["metadata"]["name"]: c for c in cluster.get("priorityclasses")["items"]}
    users = {name: c for name, c in classes.items() if name.startswith("igz-workload-")}
    assert {name: c["value"] for name, c in users.items()} == {
        "igz-workload-low": 100,
        "igz-workload-medium": 200,
        "igz-workload-high": 300,
    }
    assert {c["preemptionPolicy"] for c in users.values()} == {"Never"}
    assert [name for name, c in classes.items() if c.get("globalDefault")] == []


def test_a_user_namespace_holds_limits_quotas_network_policies_and_pod_security(cluster: Cluster) -> None:
    labels = cluster.get("namespace", "mlrun")["metadata"]["labels"]
    levels = {key.rpartition("/")[2]: value for key, value in labels.items() if key.startswith("pod-security.")}
    assert levels == {"enforce": "privileged", "enforce-version": "latest", "warn": "baseline", "audit": "baseline"}
    kinds = "limitranges,resourcequotas,networkpolicies,configmaps"
    found = {(o["kind"], o["metadata"]["name"]) for o in cluster.get(kinds, "-n", "mlrun")["items"]}
    assert found == {
        ("LimitRange", "default-resources"),
        ("ResourceQuota", "no-system-priority"),
        ("NetworkPolicy", "default-deny"),
        ("NetworkPolicy", "allow-api-server"),
        ("NetworkPolicy", "allow-dns"),
        ("NetworkPolicy", "allow-platform"),
        ("NetworkPolicy", "allow-core-services"),
        ("ConfigMap", "mlrun-override-env"),
        ("ConfigMap", "kube-root-ca.crt"),
    }


def test_a_privileged_pod_is_refused_where_core_services_run(cluster: Cluster) -> None:
    refused = cluster.kubectl(
        "run", "root", "--image=example.invalid/i", "--privileged", "-n", "mlrun",
        f'--overrides={{"spec":{{"nodeSelector":{{"{LabelKey.USER_WORKLOADS}":"true"}}}}}}',
        check=False,
    )  # fmt: skip
    # Two policies refuse it, and the API server reports one of them.
    said = re.findall(r"container root must not set securityContext\.privileged|\[HK-02\]", refused.stderr)
    assert refused.returncode
    assert said
