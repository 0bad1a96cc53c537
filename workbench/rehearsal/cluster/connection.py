"""Connections to an API server on loopback: client certificate, one open connection per thread, retries."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from workbench.rehearsal.cluster.simulated import ApiError, LostError

MERGE_PATCH: Final = "application/merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
JSON: Final = "application/json"

PATIENCE: Final = 6.0
"""Seconds for which requests are retried if the server does not answer; a healthy one answers in milliseconds."""
BUSY_PATIENCE: Final = 60.0
"""Seconds for which requests are retried if the server answers ``429 Too Many Requests``."""
_TIMEOUT: Final = 30.0
"""Seconds until a request counts as unanswered."""
_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 2.0
_UNWELL: Final = {
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
"""Statuses of an API server that is starting or whose etcd does not answer."""
_EVICTION: Final = "/eviction"
"""End of paths at which 429 is the verdict of a PodDisruptionBudget, not a busy server."""


@dataclass(frozen=True)
class Request:
    """A request.

    Parameters
    ----------
    method, path
        As HTTP has them; the path includes the query.
    body
        What is sent as JSON; None for nothing.
    content_type
        Type of the body.
    headers
        Further headers, which may repeat.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()

    def send(self, connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
        """Send it and return the response, of which only the head has been read."""
        data = b"" if self.body is None else json.dumps(self.body, separators=(",", ":")).encode()
        connection.putrequest(self.method, self.path)
        connection.putheader("Accept", JSON)
        for name, value in self.headers:
            connection.putheader(name, value)
        if data:
            connection.putheader("Content-Type", self.content_type)
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        return connection.getresponse()


@dataclass(frozen=True)
class Answer:
    """A response: HTTP status, the body's text, and the seconds after which the server wants a retry."""

    status: int
    text: bytes
    retry_after: float = 0.0

    @property
    def body(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)

    @property
    def is_good(self) -> bool:
        """Whether the request succeeded."""
        return self.status < HTTPStatus.BAD_REQUEST

    def refusal(self) -> ApiError:
        """Return the error in the answer: its message, or for an unknown path the plain text."""
        try:
            said = str(self.body["message"])
        except (ValueError, LookupError, TypeError):
            said = self.text.decode(errors="replace").strip()
        return ApiError(self.status, said)

    def is_conflict(self) -> bool:
        """Return whether another writer was faster: of the object, or of the quota that it counts against."""
        return self.status == HTTPStatus.CONFLICT and b'"reason":"Conflict"' in self.text.replace(b'": "', b'":"')


class Server:
    """The API server of a kubeconfig; may be used from any thread.

    Parameters
    ----------
    kubeconfig
        A file of one cluster, and of one user with a client certificate. ``http`` addresses need no certificate.
    lost
        Returns what a ``LostError`` says in addition to the address: which component has ended, where its log is.
        Default: nothing.
    patience
        Seconds for which requests are retried if the server does not answer.
    """

    def __init__(self, kubeconfig: Path, lost: Callable[[], str] = lambda: "", *, patience: float = PATIENCE) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.patience = patience
        self._url = str(cluster["server"])
        self._lost = lost
        self._tls: ssl.SSLContext | None = None
        if self._url.startswith("https:"):
            self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
            self._tls.load_cert_chain(user["client-certificate"], user["client-key"])
        self._own = threading.local()

    def connect(self, timeout: float = _TIMEOUT) -> http.client.HTTPConnection:
        """Return a new connection, not opened yet."""
        url = urlsplit(self._url)
        if self._tls is None:
            return http.client.HTTPConnection(str(url.hostname), url.port, timeout=timeout)
        return http.client.HTTPSConnection(str(url.hostname), url.port, timeout=timeout, context=self._tls)

    def ask(self, request: Request) -> Answer:
        """Send a request and return the answer; retry if the server is busy or restarting, or another was faster.

        The server may have executed a request that it did not answer. A repeated request to create an object may then
        find the object of the first: the caller decides what ``409`` means.

        Raises
        ------
        LostError
            The server did not answer for ``patience`` seconds.
        """
        begin, pause = time.monotonic(), _PAUSE
        while True:
            answer, error = self._attempt(request)
            waited = time.monotonic() - begin
            if answer is None:
                self.give_up(error, waited)
            elif answer.status == HTTPStatus.TOO_MANY_REQUESTS and not request.path.endswith(_EVICTION):
                if waited > BUSY_PATIENCE:
                    return answer
            elif answer.status in _UNWELL:
                self.give_up(answer.refusal(), waited)
            elif not answer.is_conflict() or waited > self.patience:
                return answer
            time.sleep(min(max(pause, answer.retry_after if answer else 0), _LONGEST_PAUSE))
            pause = min(2 * pause, _LONGEST_PAUSE / 2)

    def give_up(self, error: Exception | None, waited: float) -> None:
        """Raise ``LostError`` if a component is known to have ended, or if the server has not answered for too long."""
        if known := self._lost():
            raise LostError(known) from error
        if waited > self.patience:
            raise LostError(f"The API server {self._url} does not answer: {error}.") from error

    def close(self) -> None:
        """Close the connection of the calling thread; others are closed when their threads end."""
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is not None:
            connection.close()
            self._own.connection = None

    def _attempt(self, request: Request) -> tuple[Answer | None, Exception | None]:
        """Send a request, and retry at once if the kept connection had been closed in the meantime."""
        kept: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if kept is not None:
            answer, _ = self._exchange(request, kept)
            if answer is not None:
                return answer, None
        return self._exchange(request, self.connect())

    def _exchange(
        self, request: Request, connection: http.client.HTTPConnection
    ) -> tuple[Answer | None, Exception | None]:
        self._own.connection = None
        try:
            response = request.send(connection)
            answer = Answer(response.status, response.read(), _seconds(response.getheader("Retry-After")))
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return None, error
        if not response.will_close:
            self._own.connection = connection
        return answer, None


def _seconds(header: str | None) -> float:
    return float(header) if header and header.isdecimal() else 0.0
