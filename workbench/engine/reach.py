"""Whether the Kubernetes API of a recorded cluster answers this machine.

The engine notices only after minutes, because it waits for every object on its own.
"""

import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

import yaml

from workbench.engine.cluster_components import kubeconfig_of
from workbench.engine.pending import awaits_replacement

PATIENCE: Final = 10.0
"""Seconds to wait for an answer."""

_HTTPS: Final = 443


def silent_api(deployment: Mapping[str, Any]) -> str:
    """Return address and error of an API that does not answer; empty if it answers.

    Also empty if no Kubernetes object is recorded, so that the engine does not need the API yet, and behind a proxy,
    which only the engine's plug-in uses.

    Parameters
    ----------
    deployment
        As exported.
    """
    text = kubeconfig_of(deployment)
    if not text or "https" in getproxies() or not any(map(_is_object, deployment.get("resources") or ())):
        return ""
    address = str(yaml.safe_load(text)["clusters"][0]["cluster"]["server"])
    try:
        _greet(address)
    except OSError as error:
        return f"{address} ({error})"
    return ""


def _is_object(resource: Mapping[str, Any]) -> bool:
    # One deleted with its cluster needs no API until the replacement exists; the kubeconfig is still the old one.
    return resource["type"].startswith("kubernetes:") and not awaits_replacement(resource)


def _greet(address: str) -> None:
    """Begin a TLS session; a bare connection may succeed at a proxy or load balancer whose API does not answer."""
    parts = urlsplit(address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent
    with (
        socket.create_connection((str(parts.hostname), parts.port or _HTTPS), timeout=PATIENCE) as connection,
        context.wrap_socket(connection, server_hostname=parts.hostname),
    ):
        pass
