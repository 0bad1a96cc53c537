"""Pods whose service account has an identity in Entra get the label for it, from a real API server."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.aks.identity import USE_LABEL
from components.scheduling.identity_label import NAME, IdentityLabel, IdentityLabelArgs
from support.admission import account, present
from support.api import Api
from support.cluster import Cluster, eventually, pod
from support.recorder import record

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

API = "admissionregistration.k8s.io/v1"
VISION, SPEECH = "label-vision", "label-speech"
KEY, VALUE = USE_LABEL


def manifests() -> Iterator[dict[str, Any]]:
    args = IdentityLabelArgs(label=USE_LABEL, accounts={VISION: ("igz-jobs", "sparkapp")})
    recorder = record(lambda: IdentityLabel("label", args) and None)
    for name in (VISION, SPEECH):
        labels = {"igz-clusters.io/user-workloads": "true"}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        yield account("igz-jobs", name)
        yield account("other", name)
    for kind in ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"):
        spec = recorder.of_type(f"kubernetes:{API}:{kind}")[NAME]["spec"]
        yield {"apiVersion": API, "kind": kind, "metadata": {"name": NAME}, "spec": spec}


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    api = Api(cluster.kubeconfig())
    with present(api, manifests()):
        eventually(lambda: labels(api, VISION, "igz-jobs").get(KEY) == VALUE)
        yield api


def labels(api: Api, namespace: str, name: str, **own: str) -> dict[str, str]:
    """Return the labels of a pod with a service account."""
    made = api.create(pod("x", namespace=namespace, labels=own, serviceAccountName=name), dryRun="All")
    assert made.accepted, made.message
    found: dict[str, str] = made.body["metadata"].get("labels", {})
    return found


def test_a_pod_of_the_account_gets_the_label_beside_its_own(api: Api) -> None:
    assert labels(api, VISION, "igz-jobs", team="a") == {"team": "a", KEY: VALUE}


def test_pods_of_other_accounts_and_namespaces_do_not(api: Api) -> None:
    assert KEY not in labels(api, VISION, "other")
    assert KEY not in labels(api, SPEECH, "igz-jobs")
