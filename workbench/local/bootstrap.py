"""What the supervisor itself asks of the cluster: rights for simulator and autoscaler, and a clean slate for nodes."""

import http.client
from pathlib import Path

import yaml

from workbench.local.endpoint import Endpoint

_MANIFEST = Path(__file__).with_name("manifests") / "rbac.yaml"
_OWNER = "igz-clusters-supervisor"


def grant_rights(api: Endpoint) -> bool:
    """Apply roles and bindings; return whether the API server took them all."""
    objects = yaml.safe_load_all(_MANIFEST.read_text())
    answers = [
        api.request("PATCH", f"{_path(each)}?fieldManager={_OWNER}&force=true", each, "application/apply-patch+yaml")
        for each in objects
    ]
    return all(status in {http.client.OK, http.client.CREATED} for status, _ in answers)


def is_furnished(api: Endpoint) -> bool:
    """Return whether the default namespace takes pods: the namespace and its service account exist."""
    return api.is_ok("/api/v1/namespaces/default/serviceaccounts/default")


def release_nodes(api: Endpoint) -> None:
    """Drop the nodes' leases.

    Each run of the simulator has an identity of its own, and leaves nodes alone until the lease of the last run ends:
    for up to 40 s after a restart, nobody would move them.
    """
    api.request("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")


def _path(manifest: dict[str, dict[str, str]]) -> str:
    metadata = manifest["metadata"]
    scope = f"namespaces/{metadata['namespace']}/" if "namespace" in metadata else ""
    return f"/apis/{manifest['apiVersion']}/{scope}{str(manifest['kind']).lower()}s/{metadata['name']}"
