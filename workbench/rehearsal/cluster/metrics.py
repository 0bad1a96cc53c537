"""Serves ``metrics.k8s.io`` to the API server of a rehearsal, as metrics-server does on a cluster.

The API server finds it by a Service of type ``ExternalName``, since endpoints on loopback are refused; the name is
used unchanged (kubernetes v1.36.3, ``staging/src/k8s.io/apiserver/pkg/util/proxy/proxy.go``, ``ResolveCluster``).
Both sides show certificates: the API server verifies the name ``SERVICE.NAMESPACE.svc`` (``kube-aggregator``,
``pkg/controllers/status/remote/remote_available_controller.go``, ``BuildTransportConfig``), and only its front proxy
is answered, after the API server has checked the user's rights.
"""

import base64
import json
import ssl
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from typing_extensions import override

from workbench.local.pki import CLUSTER_CA, FRONT_PROXY_CA, METRICS_SERVICE
from workbench.local.ports import LOOPBACK
from workbench.rehearsal.cluster.simulated import Api, LostError, PodUsage, Usages

_GROUP: Final = "metrics.k8s.io"
_BASE: Final = f"/apis/{_GROUP}/v1beta1"
_API_SERVICE: Final = f"/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.{_GROUP}"
_RESOURCE: Final = {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["list"]}

WINDOW: Final = 15.0
"""Seconds over which usage is measured: the default of ``--metric-resolution`` in the manifests of metrics-server
(https://github.com/kubernetes-sigs/metrics-server/blob/026af897f5f59ecbee64b4c898dcb8f38b7c32d6/charts/metrics-server/values.yaml)."""

_AVAILABLE_SECONDS: Final = 30.0
"""Longest wait until the API server has found this server; it checks at once."""
_PAUSE: Final = 0.05


class MetricsServer:
    """A server of pod metrics on a free port of 127.0.0.1, until it is closed.

    Parameters
    ----------
    pki
        Folder of the instance's certificates.
    usages
        Returns what pods use; called for each request of the API server.
    window
        Real time over which usage is measured, as Kubernetes writes it, such as ``250ms``.
    """

    def __init__(self, pki: Path, usages: Usages, window: str) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "metrics.crt", pki / "metrics.key")
        context.load_verify_locations(pki / f"{FRONT_PROXY_CA}.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        handler = type("Handler", (_Handler,), {"usages": staticmethod(usages), "window": window})
        self._server = _Server((LOOPBACK, 0), handler)
        # The handshake is left to the thread of the connection: one that hangs must not stop the others.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, name="play metrics", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Accept no more connections; open ones end with the API server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def offer(api: Api, server: MetricsServer, pki: Path, seconds: float = _AVAILABLE_SECONDS) -> None:
    """Make the API server offer the metrics, and wait until it does.

    Raises
    ------
    LostError
        It does not find the server in time.
    """
    name, namespace = METRICS_SERVICE
    metadata = {"name": name, "namespace": namespace}
    spec: dict[str, Any] = {"type": "ExternalName", "externalName": LOOPBACK}
    api.apply({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    authority = base64.b64encode((pki / f"{CLUSTER_CA}.crt").read_bytes()).decode()
    spec = {
        "group": _GROUP,
        "version": "v1beta1",
        "service": {**metadata, "port": server.port},
        "caBundle": authority,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
    }
    metadata = {"name": f"v1beta1.{_GROUP}"}
    api.apply({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata, "spec": spec})
    deadline = time.monotonic() + seconds
    while (found := _condition(api)).get("status") != "True":
        if time.monotonic() > deadline:
            raise LostError(
                f"The API server does not find the rehearsal's pod metrics: {found.get('message', 'no answer')}.\n"
                "Rehearse again on a less busy machine."
            )
        time.sleep(_PAUSE)


def _condition(api: Api) -> Mapping[str, str]:
    conditions = ((api.get(_API_SERVICE) or {}).get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == "Available"), {})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: clients without a certificate are refused, and connections may end at any time."""


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    usages: Usages
    window: str

    def do_GET(self) -> None:
        """Answer a request for the resources of the group, or for metrics of pods."""
        url = urlsplit(self.path)
        if url.path.rstrip("/") == _BASE:
            self._send({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{_GROUP}/v1beta1",
                        "resources": [_RESOURCE]})  # fmt: skip
            return
        namespace = _namespace_of(url.path)
        selector = _labels_of(parse_qs(url.query).get("labelSelector", [""])[0])
        if namespace is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"the server has no {url.path}")
        elif selector is None:
            self._refuse(HTTPStatus.BAD_REQUEST, "label selectors must be of the form key=value")
        else:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
            items = [_metrics(each, now, self.window) for each in self.usages(namespace, selector)]
            self._send({"kind": "PodMetricsList", "apiVersion": f"{_GROUP}/v1beta1", "metadata": {}, "items": items})

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self._send({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "message": message,
                    "reason": "NotFound" if status is HTTPStatus.NOT_FOUND else "BadRequest"}, status)  # fmt: skip

    def _send(self, body: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> None:
        data = json.dumps(body, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def _namespace_of(path: str) -> str | None:
    """Return the namespace of a path of pod metrics; empty for those of all namespaces, None for another path."""
    match path.removeprefix(_BASE).strip("/").split("/") if path.startswith(f"{_BASE}/") else ():
        case ["pods"]:
            return ""
        case ["namespaces", namespace, "pods"]:
            return namespace
        case _:
            return None


def _labels_of(selector: str) -> dict[str, str] | None:
    """Return the labels that a selector demands; None if it is more than a list of ``key=value``."""
    found = {}
    for part in filter(None, selector.split(",")):
        key, sign, value = part.partition("=")
        if not sign or key.endswith("!") or any(each in part for each in " ()"):
            return None
        found[key] = value.removeprefix("=")
    return found


def _metrics(usage: PodUsage, now: str, window: str) -> dict[str, Any]:
    return {
        "metadata": {"name": usage.name, "namespace": usage.namespace, "labels": dict(usage.labels)},
        "timestamp": now,
        "window": window,
        "containers": [{"name": "main", "usage": {"cpu": f"{usage.cpu_millis}m"}}],
    }
