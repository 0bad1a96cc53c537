"""A server that speaks as much of the API server's HTTP as a client's tests need, over plain HTTP on loopback."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import yaml
from typing_extensions import override

Reply = tuple[int, Any]
"""Status and body; a generator as body is a stream of events; status 0 closes the connection without an answer."""


@dataclass
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, list[str]]
    body: Any
    peer: int
    """Port of the client: one for each connection."""


@dataclass
class TinyServer:
    """Answers each request by ``reply``, and notes it."""

    port: int
    reply: Callable[[Seen], Reply]
    seen: list[Seen] = field(default_factory=list)

    def kubeconfig(self, folder: Path) -> Path:
        """Write a kubeconfig for it and return its path."""
        path = folder / "kubeconfig"
        cluster = {"server": f"http://127.0.0.1:{self.port}"}
        path.write_text(yaml.safe_dump({"clusters": [{"cluster": cluster}], "users": [{"user": {}}]}))
        return path

    def asked(self, method: str, part: str) -> list[Seen]:
        """Return the requests of a method whose path contains a text."""
        return [each for each in self.seen if each.method == method and part in each.path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        tiny: TinyServer = cast("Any", self.server).tiny
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: self.headers.get_all(name, []) for name in self.headers}
        body = json.loads(data) if data else None
        seen = Seen(self.command, self.path, headers, body, self.client_address[1])
        tiny.seen.append(seen)
        status, answer = tiny.reply(seen)
        if not status:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(status)
        if isinstance(answer, Iterator):
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for event in answer:
                line = json.dumps(event).encode() + b"\n"
                self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
            return
        text = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 - names that the base class expects

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing when a client has gone in the middle of a stream."""


@contextmanager
def tiny_server(reply: Callable[[Seen], Reply]) -> Iterator[TinyServer]:
    """Run a server on a free port until the end."""
    server = _Server(("127.0.0.1", 0), _Handler)
    tiny = TinyServer(server.server_address[1], reply)
    cast("Any", server).tiny = tiny
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield tiny
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
