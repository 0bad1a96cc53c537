"""Events for the program that started the run: in its file, or to its server."""

from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import events_pb2_grpc

from workbench.engine import event_listener
from workbench.system.errors import UserError

EVENTS = b'{"sequence":0}\n{"sequence":1}\n'


class Server(events_pb2_grpc.EventsServicer):
    def __init__(self) -> None:
        self.taken: list[str] = []

    def StreamEvents(self, request_iterator: Iterator[Any], context: Any) -> Empty:  # noqa: N802, ARG002 as the service has it
        self.taken += [request.event for request in request_iterator]
        return Empty()


def test_a_server_gets_one_message_an_event_whatever_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server, listener = grpc.server(futures.ThreadPoolExecutor(max_workers=1)), Server()
    events_pb2_grpc.add_EventsServicer_to_server(listener, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        event_listener.send(EVENTS, f"tcp://127.0.0.1:{port}")
    finally:
        server.stop(None).wait()
    assert listener.taken == ['{"sequence":0}', '{"sequence":1}']


def test_a_file_gets_them_at_its_end(tmp_path: Path) -> None:
    file = tmp_path / "events"
    file.write_bytes(b"{}\n")
    event_listener.send(EVENTS, str(file))
    assert file.read_bytes() == b"{}\n" + EVENTS


def test_a_server_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(UserError, match=r"--event-log: tcp://127\.0\.0\.1:1 took no events: UNAVAILABLE"):
        event_listener.send(EVENTS, "tcp://127.0.0.1:1")
