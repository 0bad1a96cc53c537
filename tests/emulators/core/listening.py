"""The listener: a cloud's API over HTTP on loopback, one thread for each connection."""

import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from typing_extensions import override
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from emulators.core.control import Control

LOOPBACK: Final = "127.0.0.1"

PATIENCE: Final = 10.0
"""Seconds that calls under way get to end when the server is told to stop."""


class Handler(WSGIRequestHandler):
    """Counts what is being answered, and resets connections that end without an answer."""

    server: "Listener"

    @override
    def run_wsgi(self) -> None:
        with self.server.answer():
            super().run_wsgi()

    @override
    def connection_dropped(self, error: BaseException, environ: dict[str, Any] | None = None) -> None:
        # Closing without lingering resets the connection, as a network does that fails.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    @override
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: the log of calls says it better."""


class Listener(ThreadedWSGIServer):
    """A cloud on a port that it has from the start; 0 is any free one."""

    def __init__(self, control: Control, port: int, handler: type[Handler] = Handler) -> None:
        super().__init__(LOOPBACK, port, control, handler=handler)
        self._answering = 0
        self._lock = threading.Lock()

    @contextmanager
    def answer(self) -> Iterator[None]:
        """Count a request that is being answered."""
        with self._lock:
            self._answering += 1
        try:
            yield
        finally:
            with self._lock:
                self._answering -= 1

    def serve_until_told(self) -> None:
        """Serve until SIGTERM or SIGINT; requests that are under way are answered first."""
        for number in (signal.SIGTERM, signal.SIGINT):
            # The listener's loop runs in this thread, so another thread must stop it.
            signal.signal(number, lambda *_: threading.Thread(target=self.shutdown).start())
        self.serve_forever(poll_interval=0.1)
        until = time.monotonic() + PATIENCE
        while self._answering and time.monotonic() < until:
            time.sleep(0.02)
