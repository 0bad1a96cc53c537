"""Places of callers, and the addresses of clusters."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from emulators.core.doors import Doors, Place
from emulators.core.service_context import ControlPlane

HOME = Place(address="203.0.113.7")


@pytest.fixture
def server() -> Iterator[tuple[socket.socket, ControlPlane]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener, ControlPlane(f"https://127.0.0.1:{listener.getsockname()[1]}", "Y2E=")


def called(endpoint: str, listener: socket.socket) -> bytes:
    """Return what a caller hears from a server that greets; empty if the connection is reset."""
    listener.settimeout(10)
    parts = urlsplit(endpoint)
    try:
        with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=10) as caller:
            threading.Thread(target=greet, args=(listener,), daemon=True).start()
            return caller.recv(16)
    except ConnectionResetError:  # connecting may notice it already
        return b""


def greet(listener: socket.socket) -> None:
    with suppress(OSError), listener.accept()[0] as inner:
        inner.sendall(b"hello")


def barrier(cluster: str, place: Place) -> str:
    if cluster == "gone":
        raise LookupError(cluster)
    return "" if place.is_in(["203.0.113.0/24"]) else "not in the ranges"


@pytest.mark.parametrize(
    ("place", "expected"),
    [(HOME, True), (Place(address="198.51.100.9"), False), (Place(), False), (Place(address="2001:db8::1"), False)],
)
def test_a_place_is_in_a_range_by_its_address(place: Place, expected: bool) -> None:
    assert place.is_in(["192.0.2.0/24", "203.0.113.0/24"]) is expected


@pytest.mark.parametrize(
    ("name", "place", "heard"),
    [("mine", None, b"hello"), ("mine", HOME, b"hello"), ("mine", Place(), b""), ("gone", HOME, b"")],
)
def test_a_door_asks_for_each_connection(
    server: tuple[socket.socket, ControlPlane], name: str, place: Place | None, heard: bytes
) -> None:
    listener, plane = server
    doors = Doors(barrier)
    address = doors.open(name, plane)
    assert address.certificate_authority == "Y2E="
    doors.place = place
    assert called(address.endpoint, listener) == heard
    doors.close(name)


def test_a_cluster_keeps_its_address_until_it_goes(server: tuple[socket.socket, ControlPlane]) -> None:
    _, plane = server
    doors = Doors(barrier)
    first = doors.open("mine", plane)
    assert doors.open("mine", plane) == first
    assert doors.open("other", plane) != first
    doors.close("mine")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", urlsplit(first.endpoint).port or 0))
    doors.close("other")
    doors.close("mine")
