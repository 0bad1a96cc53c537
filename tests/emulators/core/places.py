"""Where a caller stands, and a door in front of an API server that lets through only whom the cloud lets through."""

import select
import socket
import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True)
class Place:
    """Where a caller stands.

    Parameters
    ----------
    address
        Its public address, as the cloud sees it; empty if its way does not lead through the Internet.
    network
        Id of the network that it is in or connected to; empty if none.
    """

    address: str = ""
    network: str = ""


class Door:
    """A port on loopback that leads to an API server while this is allowed, and closes connections otherwise.

    A cloud lets a refused caller wait until it gives up; a closed connection says the same without the wait.

    Parameters
    ----------
    host, port
        Of the API server. Its certificate is good for any port.
    is_open
        Asked for each connection.
    """

    def __init__(self, host: str, port: int, is_open: Callable[[], bool]) -> None:
        class Handler(socketserver.BaseRequestHandler):
            @override
            def handle(self) -> None:
                if is_open():
                    with suppress(OSError), socket.create_connection((host, port)) as inner:
                        _relay(self.request, inner)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self._server = Server((LOOPBACK, 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        """Such as ``https://127.0.0.1:40123``."""
        return f"https://{LOOPBACK}:{self._server.server_address[1]}"

    def close(self) -> None:
        """Let nobody through any more; connections that are open stay."""
        self._server.shutdown()
        self._server.server_close()


def _relay(one: Any, other: socket.socket) -> None:
    """Pass on what either side says until one of them is done."""
    ends = {one: other, other: one}
    while True:
        for said in select.select(list(ends), [], [])[0]:
            heard = said.recv(65536)
            if not heard:
                return
            ends[said].sendall(heard)
