"""Kubeconfigs; they refer to certificate and key files and contain no secret themselves."""

import yaml

from workbench.local.layout import Layout
from workbench.local.pki import CLIENTS, CLUSTER_CA
from workbench.local.ports import LOOPBACK
from workbench.system.files import write_private


def write_kubeconfigs(layout: Layout, port: int) -> None:
    """Write one kubeconfig for each user of the API server on ``port``; each has a context ``igz-local-<name>``."""
    name = f"igz-local-{layout.name}"
    cluster = {
        "server": f"https://{LOOPBACK}:{port}",
        "certificate-authority": str(layout.pki / f"{CLUSTER_CA}.crt"),
    }
    for client in CLIENTS:
        user = f"{name}-{client.name}"
        keys = {
            "client-certificate": str(layout.pki / f"{client.name}.crt"),
            "client-key": str(layout.pki / f"{client.name}.key"),
        }
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": user, "user": keys}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
            "current-context": name,
        }
        write_private(layout.kubeconfig(client.name), yaml.safe_dump(content, sort_keys=False))
