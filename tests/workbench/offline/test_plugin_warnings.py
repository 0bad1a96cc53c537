"""Warnings of a plan reach the engine, which prints them with the resource."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2
from typing_extensions import override

from workbench.offline.aws.provider import OfflineAws
from workbench.offline.plugin import Servicer

CLUSTER = "urn:pulumi:dev::igz-clusters::aws:eks/cluster:Cluster::dev"


class Engine(engine_pb2_grpc.EngineServicer):
    """Keeps the messages that it gets."""

    def __init__(self) -> None:
        self.logged: list[engine_pb2.LogRequest] = []

    @override
    def Log(self, request: Any, context: grpc.ServicerContext) -> Empty:
        self.logged.append(request)
        return Empty()


@pytest.fixture
def engine() -> Iterator[tuple[Engine, str]]:
    served, server = Engine(), grpc.server(ThreadPoolExecutor(1))
    engine_pb2_grpc.add_EngineServicer_to_server(served, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield served, f"127.0.0.1:{port}"
    server.stop(None)


def diff(plugin: Servicer, old: dict[str, Any], new: dict[str, Any]) -> provider_pb2.DiffResponse:
    bags = Struct(), Struct()
    for bag, values in zip(bags, (old, new), strict=True):
        bag.update(values)
    request = provider_pb2.DiffRequest(urn=CLUSTER, old_inputs=bags[0], news=bags[1])
    return plugin.Diff(request, None)  # type: ignore[arg-type]


def test_a_warning_reaches_the_engine_with_its_resource(engine: tuple[Engine, str]) -> None:
    served, address = engine
    plugin = Servicer(OfflineAws())
    plugin.Handshake(provider_pb2.ProviderHandshakeRequest(engine_address=address), None)  # type: ignore[arg-type]
    answer = diff(plugin, {"version": "1.35"}, {})
    assert answer.changes == provider_pb2.DiffResponse.DIFF_NONE
    (logged,) = served.logged
    assert (logged.severity, logged.urn) == (engine_pb2.WARNING, CLUSTER)
    assert logged.message.startswith("dev: version is no longer set")


def test_a_plan_without_an_engine_needs_none() -> None:
    answer = diff(Servicer(OfflineAws()), {"version": "1.35"}, {})
    assert answer.changes == provider_pb2.DiffResponse.DIFF_NONE
