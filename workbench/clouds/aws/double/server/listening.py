"""The listener: AWS's API over HTTP on loopback, one thread for each connection."""

import signal
import socket
import struct
import threading
import time
from typing import Any, Final

from moto.moto_server.werkzeug_app import MotoRequestHandler
from typing_extensions import override
from werkzeug.serving import ThreadedWSGIServer

from workbench.clouds.aws.double.server.application import Application
from workbench.clouds.aws.double.server.control import Control

LOOPBACK: Final = "127.0.0.1"

PATIENCE: Final = 10.0
"""Seconds that calls under way get to end when the server is told to stop."""


class _Handler(MotoRequestHandler):
    @override
    def connection_dropped(self, error: BaseException, environ: dict[str, Any] | None = None) -> None:
        # Closing without lingering resets the connection, as a network does that fails.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    @override
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: the log of calls says it better."""


def listen(application: Application, port: int) -> ThreadedWSGIServer:
    """Return a listener that has its port already; 0 is any free one."""
    return ThreadedWSGIServer(LOOPBACK, port, Control(application), handler=_Handler)


def serve(application: Application, server: ThreadedWSGIServer) -> None:
    """Serve until SIGTERM or SIGINT; calls that are under way are answered first."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # The listener's loop runs in this thread, so somebody else must tell it.
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    until = time.monotonic() + PATIENCE
    while application.calls.are_under_way() and time.monotonic() < until:
        time.sleep(0.05)
