"""Watches of the API server: what exists, then each change, across lost connections and expired versions."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

from typing_extensions import override

from workbench.rehearsal.cluster.connection import Request, Server

Event = Mapping[str, Any]
"""``{"type": "ADDED" | "MODIFIED" | "DELETED", "object": ...}``."""

_LIFE: Final = 600
"""Seconds after which the server ends a watch; it continues with another request."""
_SILENCE: Final = 150.0
"""Seconds without data after which the watch sends a new request; most kinds get a bookmark every minute."""
_PAGE: Final = 1000
_PAUSE: Final = 0.1
_BLOCK: Final = 1 << 20


class Watch(Iterator[Event]):
    """An iterator over the objects of a collection and their changes; ends when it is closed, from any thread.

    A change is reported once. If the server has forgotten the last seen version, everything is listed again, and the
    differences are reported as changes.

    Parameters
    ----------
    server
        The API server.
    path
        Path of a collection; may have a query such as ``labelSelector``.

    Raises
    ------
    LostError
        By ``next``: the server does not answer.
    ApiError
        By ``next``: the server refuses the watch.
    """

    def __init__(self, server: Server, path: str) -> None:
        self._server = server
        self._path = path
        self._known: dict[str, tuple[str, bytes]] = {}
        """Version of each object by UID, and its last event as text: parsed, 10,000 pods would take 250 MB."""
        self._version = ""
        self._closed = threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self._events = self._run()

    @override
    def __next__(self) -> Event:
        """Return the next event, and wait for it."""
        return next(self._events)

    def close(self) -> None:
        """End the iteration, also while another thread waits for an event."""
        self._closed.set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with suppress(OSError):
                # Not the TLS socket's own method: it would remove the session while the reader uses it.
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def _run(self) -> Iterator[Event]:
        failed_since: float | None = None
        while not self._closed.is_set():
            problem: Exception | None = None
            try:
                if not self._version:
                    yield from self._list()
                for event in self._stream():
                    failed_since = None
                    yield event
            except (OSError, http.client.HTTPException) as error:
                problem = error
            if problem is None:
                failed_since = None
                continue
            now = time.monotonic()
            failed_since = failed_since or now
            if not self._closed.is_set():
                self._server.give_up(problem, now - failed_since)
                self._closed.wait(_PAUSE)

    def _list(self) -> Iterator[Event]:
        listed: dict[str, Mapping[str, Any]] = {}
        version, more = "", ""
        while not self._closed.is_set():
            page = self._page(more)
            if page is None:  # the rest of the list has expired
                listed, more = {}, ""
                continue
            version = page["metadata"]["resourceVersion"]
            kind = {"apiVersion": page["apiVersion"], "kind": str(page["kind"]).removesuffix("List")}
            listed |= {each["metadata"]["uid"]: {**kind, **each} for each in page["items"]}
            more = page["metadata"].get("continue", "")
            if not more:
                break
        else:
            return
        was, self._version = self._known, version
        self._known = {uid: (each["metadata"]["resourceVersion"], _event_text(each)) for uid, each in listed.items()}
        for uid, (_, text) in was.items():
            if uid not in listed:
                yield {**json.loads(text), "type": "DELETED"}
        for uid, each in listed.items():
            if uid not in was:
                yield {"type": "ADDED", "object": each}
            elif each["metadata"]["resourceVersion"] != was[uid][0]:
                yield {"type": "MODIFIED", "object": each}

    def _page(self, more: str) -> Any:
        answer = self._server.ask(Request("GET", self._with(limit=_PAGE, **({"continue": more} if more else {}))))
        if answer.status == HTTPStatus.GONE:
            return None
        if not answer.is_good:
            raise answer.refusal()
        return answer.body

    def _stream(self) -> Iterator[Event]:
        """Yield the changes of one request; it ends when the server ends it."""
        path = self._with(watch="true", allowWatchBookmarks="true", resourceVersion=self._version, timeoutSeconds=_LIFE)
        connection = self._server.connect(_SILENCE)
        try:
            connection.connect()
            self._connection = connection
            if self._closed.is_set():  # closed before there was a connection to close
                return
            response = Request("GET", path).send(connection)
            if response.status == HTTPStatus.GONE:
                self._version = ""
                return
            if response.status != HTTPStatus.OK:
                raise http.client.HTTPException(f"{response.status} {response.read()[:500]!r}")
            yield from self._changes(response)
        finally:
            self._connection = None
            connection.close()

    def _changes(self, response: http.client.HTTPResponse) -> Iterator[Event]:
        rest = b""
        while block := _read(response):
            *lines, rest = (rest + block).split(b"\n") if b"\n" in block else [rest + block]
            for line in lines:
                if self._closed.is_set():
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    self._failed(event["object"])
                    return
                self._version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self._note(event, line)
                    yield event

    def _failed(self, status: Mapping[str, Any]) -> None:
        if status.get("code") == HTTPStatus.GONE:
            self._version = ""
            return
        raise http.client.HTTPException(str(status.get("message")))

    def _note(self, event: Event, text: bytes) -> None:
        uid = event["object"]["metadata"]["uid"]
        if event["type"] == "DELETED":
            self._known.pop(uid, None)
        else:
            self._known[uid] = event["object"]["metadata"]["resourceVersion"], text

    def _with(self, **parameters: object) -> str:
        return f"{self._path}{'&' if '?' in self._path else '?'}{urlencode(parameters)}"


def _read(response: http.client.HTTPResponse) -> bytes:
    """Return what has arrived; nothing after a long silence: the next request shows whether the server still answers.

    Watches of events get no bookmarks, so a quiet cluster sends nothing for a long time.
    """
    try:
        return response.read1(_BLOCK)
    except TimeoutError:
        return b""


def _event_text(each: Mapping[str, Any]) -> bytes:
    return json.dumps({"object": each}, separators=(",", ":")).encode()
