"""API calls of the supervisor: RBAC for simulator and autoscaler, and the release of old node leases."""

import http.client
import urllib.parse
from collections.abc import Collection
from pathlib import Path

import yaml

from components.contract.labels import TRUE, LabelKey
from workbench.local.endpoint import Endpoint

_MANIFESTS = Path(__file__).with_name("manifests")
_OWNER = "igz-clusters-supervisor"
_NO_PARAMETERS = b"paramKind"
_PROBE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "igz-clusters-probe"},
    "spec": {"containers": [{"name": "probe", "image": "probe"}]},
}
"""A pod that is never created: only the reason for its rejection counts."""


def grant_rights(api: Endpoint, components: Collection[str]) -> bool:
    """Apply the roles and bindings of components; return whether the API server accepted all of them."""
    objects = [
        each
        for name in components
        if (file := _MANIFESTS / f"{name}.yaml").exists()
        for each in yaml.safe_load_all(file.read_text())
    ]
    answers = [
        api.request("PATCH", f"{_path(each)}?fieldManager={_OWNER}&force=true", each, "application/apply-patch+yaml")
        for each in objects
    ]
    return all(status in {http.client.OK, http.client.CREATED} for status, _ in answers)


def accepts_pods(api: Endpoint) -> bool:
    """Return whether the default namespace accepts pods: it exists and so does its service account."""
    return api.is_ok("/api/v1/namespaces/default/serviceaccounts/default")


def judges_pods(api: Endpoint) -> bool:
    """Return whether the admission policies apply to user pods, or no namespace accepts user pods.

    After a start, and after the first `up`, the API server may not have found the policies' parameters yet. Until then
    it refuses every user pod with ``failed to find resource referenced by paramKind``.
    """
    selector = urllib.parse.quote(f"{LabelKey.USER_WORKLOADS}={TRUE}")
    found = api.get(f"/api/v1/namespaces?labelSelector={selector}&limit=1")
    if found is None:
        return False
    names = [each["metadata"]["name"] for each in found["items"]]
    answers = [api.request("POST", f"/api/v1/namespaces/{name}/pods?dryRun=All", _PROBE) for name in names]
    return all(status and _NO_PARAMETERS not in body for status, body in answers)


def release_nodes(api: Endpoint) -> None:
    """Drop the nodes' leases.

    Each run of the simulator has a new identity and ignores nodes until the lease of the previous run expires: without
    this, simulated nodes and pods would not change for up to 40 s after a restart.
    """
    api.request("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")


def _path(manifest: dict[str, dict[str, str]]) -> str:
    metadata = manifest["metadata"]
    scope = f"namespaces/{metadata['namespace']}/" if "namespace" in metadata else ""
    return f"/apis/{manifest['apiVersion']}/{scope}{str(manifest['kind']).lower()}s/{metadata['name']}"
