"""The API server over one connection: hundreds of requests in the time that kubectl needs for ten."""

import http.client
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

DRY_RUN = {"dryRun": "All"}
CONTENT_TYPES = {"PATCH": "application/merge-patch+json", "APPLY": "application/apply-patch+yaml"}
GROUPS = {"v1": "/api/v1"}
IDLE_MAX = 60.0
"""Seconds without a request after which a session reconnects. The server closes connections that were idle for 90
(kubernetes v1.36, ``staging/src/k8s.io/apiserver/pkg/server/secure_serving.go``); building an operator takes longer."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: dict[str, Any]
    warnings: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        return self.status < http.client.BAD_REQUEST

    @property
    def message(self) -> str:
        """What the server says against the request."""
        return "" if self.accepted else str(self.body.get("message"))


class Api:
    """A session of the cluster's administrator, who may act as any other user."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        tls.load_cert_chain(user["client-certificate"], user["client-key"])
        server = urlsplit(cluster["server"])
        self._connection = http.client.HTTPSConnection(str(server.hostname), server.port, context=tls, timeout=600)
        self._answered = time.monotonic()

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        as_user: str = "",
        groups: tuple[str, ...] = (),
        **parameters: str,
    ) -> Answer:
        """Send a request, a PATCH as a merge patch, APPLY as a server-side apply; ``parameters`` go into the query."""
        data = None if body is None else json.dumps(body)
        verb = "PATCH" if method in CONTENT_TYPES else method
        if time.monotonic() > self._answered + IDLE_MAX:
            self._connection.close()  # the next line reconnects
        self._connection.putrequest(verb, f"{path}?{urlencode(parameters)}" if parameters else path)
        headers = [("Content-Type", CONTENT_TYPES.get(method, "application/json")), ("Accept", "application/json")]
        headers += [("Impersonate-User", as_user)] if as_user else []
        headers += [("Impersonate-Group", group) for group in groups]
        for name, value in [*headers, ("Content-Length", str(len(data or "")))]:
            self._connection.putheader(name, value)
        self._connection.endheaders((data or "").encode())
        response = self._connection.getresponse()
        warnings = response.headers.get_all("Warning") or []
        text = response.read()
        self._answered = time.monotonic()
        # Of a path that it does not know the server says so in plain text.
        said = json.loads(text) if response.headers.get_content_type() == "application/json" else {"message": str(text)}
        return Answer(response.status, said, tuple(_text(each) for each in warnings))

    def create(self, manifest: Mapping[str, Any], **options: Any) -> Answer:
        """Create an object."""
        return self.send("POST", collection(manifest), manifest, **options)

    def delete(self, manifest: Mapping[str, Any], **options: Any) -> Answer:
        """Delete an object at once."""
        return self.send("DELETE", path_of(manifest), {"gracePeriodSeconds": 0}, **options)


def collection(manifest: Mapping[str, Any]) -> str:
    """Return the path under which objects of the manifest's kind and namespace are."""
    group = GROUPS.get(manifest["apiVersion"], f"/apis/{manifest['apiVersion']}")
    kind = manifest["kind"].lower()
    plural = kind if kind.endswith("parameters") else f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    plural = f"{kind}es" if kind.endswith("class") else plural
    namespace = manifest["metadata"].get("namespace")
    return f"{group}/namespaces/{namespace}/{plural}" if namespace else f"{group}/{plural}"


def path_of(manifest: Mapping[str, Any]) -> str:
    """Return the path of the manifest's object."""
    return f"{collection(manifest)}/{manifest['metadata']['name']}"


def _text(header: str) -> str:
    # `299 - "text"`, in which the server escapes quotes and backslashes.
    return header.partition('"')[2].removesuffix('"').replace('\\"', '"').replace("\\\\", "\\")
