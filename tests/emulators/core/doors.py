"""Where callers of API servers stand, and doors that let through only those whom the cloud lets through."""

import socket
import struct
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from emulators.core.service_context import ControlPlane

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 443
CHUNK: Final = 65536


class Place(BaseModel):
    """Where a caller of API servers stands.

    Parameters
    ----------
    address
        That its calls arrive with: of a NAT gateway, if they leave their network through one. Empty: they cannot.
    network
        Id of the VPC or virtual network that it is in; empty for the rest of the world.
    groups
        Ids of its security groups; AWS alone asks for them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str = ""
    network: str = ""
    groups: frozenset[str] = frozenset()

    def is_in(self, ranges: Iterable[str]) -> bool:
        """Return whether one of these ranges holds its address."""
        return bool(self.address) and any(ip_address(self.address) in ip_network(each, strict=False) for each in ranges)


class Doors:
    """The addresses of an emulator's clusters, one for each, and where their callers stand.

    Parameters
    ----------
    barrier
        Returns what keeps a caller at a place from the API server of a cluster, by its name or id; empty if nothing
        does. LookupError: there is no such cluster.
    """

    def __init__(self, barrier: Callable[[str, Place], str]) -> None:
        self.barrier = barrier
        self.place: Place | None = None
        """None: callers reach every API server. It counts when a connection begins."""
        self._doors: dict[str, Door] = {}
        self._asleep: set[str] = set()

    def open(self, cluster: str, server: ControlPlane) -> ControlPlane:
        """Return the API server as callers reach it: at the cluster's own address, which no later one has.

        The server's certificate is good for any port.
        """
        inner = urlsplit(server.endpoint)
        host = inner.hostname or LOOPBACK
        if cluster not in self._doors:
            self._doors[cluster] = Door((host, inner.port or PORT), partial(self._admits, cluster))
            if cluster in self._asleep:
                self._doors[cluster].shut()
        return replace(server, endpoint=f"https://{host}:{self._doors[cluster].port}")

    def sleep(self, cluster: str) -> None:
        """Let the address of a cluster refuse every connection until it wakes up."""
        self._asleep.add(cluster)
        if door := self._doors.get(cluster):
            door.shut()

    def wake(self, cluster: str) -> None:
        """Let the address of a cluster pass connections on again."""
        self._asleep.discard(cluster)
        if door := self._doors.get(cluster):
            door.reopen()

    def close(self, cluster: str) -> None:
        """Let the address of a cluster end with it, if it has one."""
        self._asleep.discard(cluster)
        if door := self._doors.pop(cluster, None):
            door.close()

    def _admits(self, cluster: str) -> bool:
        try:
            return self.place is None or not self.barrier(cluster, self.place)
        except LookupError:
            return False


class Door:
    """A port that passes connections on, one by one, as long as it is open.

    A cloud lets a refused caller wait until it gives up; a reset connection says the same without the wait.

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
        self._is_open = False
        self.reopen()

    @property
    def port(self) -> int:
        """Where it is."""
        port: int = self._listener.getsockname()[1]
        return port

    def close(self) -> None:
        """Refuse all callers for good, end the connections that were passed on, and let the port go."""
        self.shut()
        self._listener.close()

    def shut(self) -> None:
        """Refuse all callers from now on, end the connections that were passed on, and keep the port."""
        if not self._is_open:
            return
        port = self.port
        with self._lock:
            self._is_open = False
            inside = list(self._inside)
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes up who waits in it
        self._listener.close()
        for each in inside:
            _end(each)
        self._listener = socket.socket()  # bound, so that no other program gets the port, but not listening
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((LOOPBACK, port))

    def reopen(self) -> None:
        """Pass connections on at the same port."""
        if self._is_open:
            return
        self._is_open = True
        self._listener.listen()
        self._in_background(partial(self._listen, self._listener))

    def _listen(self, listener: socket.socket) -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            self._in_background(partial(self._pass_on, caller))

    def _pass_on(self, caller: socket.socket) -> None:
        with caller:
            if not self._admits():
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
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
