"""The kubeconfig of a user: how to reach a cluster, and that ``kubelogin`` says who asks."""

import base64
from typing import Any, Final

import yaml

from emulators.azure.server import TENANT
from emulators.azure.server.store import Resource
from emulators.core.service_context import ControlPlane

SERVER: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
CLIENT: Final = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
"""AKS's own applications in every directory: https://azure.github.io/kubelogin/concepts/aks.html."""

NOBODY: Final = base64.b64encode(b"no certificate: nobody answers at this address").decode()


def kubeconfig(cluster: Resource, control_plane: ControlPlane | None) -> dict[str, Any]:
    """Return the answer to ``listClusterUserCredential``."""
    properties, name = cluster.properties, cluster.id.name
    host = properties.get("fqdn") or properties["privateFQDN"]
    reached = control_plane or ControlPlane(f"https://{host}:443", NOBODY)
    user = f"clusterUser_{cluster.id.group.name if cluster.id.group else ''}_{name}"
    entra = ["--server-id", SERVER, "--client-id", CLIENT, "--tenant-id", TENANT]
    helper = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "kubelogin",
        "args": ["get-token", "--environment", "AzurePublicCloud", *entra, "--login", "devicecode"],
        "provideClusterInfo": False,
        "interactiveMode": "IfAvailable",
    }
    place = {"server": reached.endpoint, "certificate-authority-data": reached.certificate_authority}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": place}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
        "users": [{"name": user, "user": {"exec": helper}}],
    }
    text = yaml.safe_dump(document, sort_keys=False)
    return {"kubeconfigs": [{"name": "clusterUser", "value": base64.b64encode(text.encode()).decode()}]}
