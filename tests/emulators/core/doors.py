"""Addresses on loopback that lead to a server for some callers and to nothing for the others."""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

LOOPBACK: Final = "127.0.0.1"
CHUNK: Final = 65536


class Door:
    """A port that passes connections on, one by one, as long as it is open.

    Parameters
    ----------
    target
        Host and port of the server behind it.
    admits
        Asked once for each connection; one that is not admitted is reset before anything is read.
    """

    def __init__(self, target: tuple[str, int], admits: Callable[[], bool]) -> None:
        self._target, self._admits = target, admits
        self._listener = socket.create_server((LOOPBACK, 0))
        self._inside: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_open = True
        self._in_background(self._listen)

    @property
    def port(self) -> int:
        """Where it is."""
        port: int = self._listener.getsockname()[1]
        return port

    def close(self) -> None:
        """Answer nobody any more, and end the connections that were passed on."""
        with self._lock:
            self._is_open = False
            inside = list(self._inside)
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes up who waits in it
        self._listener.close()
        for each in inside:
            _end(each)

    def _listen(self) -> None:
        while self._is_open:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            if self._admits():
                self._in_background(partial(self._pass_on, caller))
            else:
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                caller.close()

    def _pass_on(self, caller: socket.socket) -> None:
        with caller:
            try:
                server = socket.create_connection(self._target)
            except OSError:
                return
            with server:
                pair = {caller, server}
                with self._lock:
                    self._inside |= pair
                    is_late = not self._is_open
                if not is_late:
                    back = self._in_background(lambda: _pump(server, caller))
                    _pump(caller, server)
                    back.join()
                with self._lock:
                    self._inside -= pair

    @staticmethod
    def _in_background(work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Pass on what comes until it ends, and then end both directions."""
    with suppress(OSError):
        while chunk := source.recv(CHUNK):
            sink.sendall(chunk)
    _end(source)
    _end(sink)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
