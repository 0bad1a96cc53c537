import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2
from typing_extensions import override

from workbench.offline.journal import JOURNAL
from workbench.offline.plugin import Servicer
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Changed, Checked, CloudError, Existing, PartlyMadeError, Provider, ReadResult

URN = "urn:pulumi:dev::igz-clusters::igz-clusters:clusters:Eks$aws:{}::{}"
VPC, ROLE = "ec2/vpc:Vpc", "iam/role:Role"
SECRET = {rpc._special_sig_key: rpc._special_secret_sig, "value": "10.0.0.0/16"}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def process(journal: Path) -> Iterator[subprocess.Popen[str]]:
    """The offline AWS plug-in, started as the engine starts it."""
    environment = {**os.environ, JOURNAL: str(journal)}
    command = [sys.executable, "-m", "workbench.offline.aws"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as started:
        yield started
        started.terminate()


@pytest.fixture
def plugin(process: subprocess.Popen[str]) -> Iterator[provider_pb2_grpc.ResourceProviderStub]:
    assert process.stdout
    with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
        yield provider_pb2_grpc.ResourceProviderStub(channel)


def test_it_listens_on_loopback_only(process: subprocess.Popen[str]) -> None:
    assert process.stdout
    port = int(process.stdout.readline())
    listening = [c.laddr for c in psutil.Process(process.pid).net_connections() if c.status == psutil.CONN_LISTEN]
    # A socket for both families shows IPv4 addresses in IPv6 clothes.
    assert {(address.ip.removeprefix("::ffff:"), address.port) for address in listening} == {("127.0.0.1", port)}


def test_it_ends_quietly_when_the_engine_needs_it_no_more() -> None:
    command = [sys.executable, "-m", "workbench.offline.aws"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout
        started.stdout.readline()  # the port: it serves
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate(timeout=600)
    assert (started.returncode, errors) == (0, "")


def struct(values: dict[str, Any]) -> Struct:
    bag = Struct()
    bag.update(values)
    return bag


def urn(type_: str, name: str = "main") -> str:
    return URN.format(type_, name)


def test_it_says_what_it_is(plugin: Any) -> None:
    schema = json.loads(plugin.GetSchema(provider_pb2.GetSchemaRequest()).schema)
    assert schema["name"] == "aws"
    assert "Offline stand-in" in schema["description"]
    assert plugin.Handshake(provider_pb2.ProviderHandshakeRequest()).accept_secrets


def test_a_check_returns_secrets_and_unknowns_as_they_came(plugin: Any) -> None:
    given = {"cidrBlock": SECRET, "tags": {"a": rpc.UNKNOWN}}
    answer = plugin.Check(provider_pb2.CheckRequest(urn=urn(VPC), news=struct(given)))
    assert not answer.failures
    assert answer.inputs == struct({**given, "tagsAll": rpc.UNKNOWN})


def test_all_tags_hide_what_the_tags_hide(plugin: Any) -> None:
    tags = {"a": SECRET, "b": "c"}
    answer = plugin.Check(
        provider_pb2.CheckRequest(urn=urn(VPC), news=struct({"cidrBlock": "10.0.0.0/16", "tags": tags}))
    )
    assert answer.inputs["tagsAll"] == struct(tags)


def test_default_tags_of_the_configuration_reach_a_check(plugin: Any) -> None:
    plugin.Configure(provider_pb2.ConfigureRequest(args=struct({"defaultTags": json.dumps({"tags": {"team": "ml"}})})))
    answer = plugin.Check(provider_pb2.CheckRequest(urn=urn(VPC), news=struct({"cidrBlock": "10.0.0.0/16"})))
    assert answer.inputs["tagsAll"] == struct({"team": "ml"})


def test_what_is_created_in_a_preview_has_no_id_and_no_outputs_yet(plugin: Any) -> None:
    given = struct({"cidrBlock": "10.0.0.0/16"})
    answer = plugin.Create(provider_pb2.CreateRequest(urn=urn(VPC), properties=given, preview=True))
    assert answer.id == ""
    assert answer.properties == given


def test_an_update_in_a_preview_keeps_what_is_known_and_forgets_what_it_changes(plugin: Any) -> None:
    template = urn("ec2/launchTemplate:LaunchTemplate")
    answer = plugin.Update(
        provider_pb2.UpdateRequest(
            urn=template,
            olds=struct({"arn": "arn:x", "latestVersion": 3, "userData": "old"}),
            news=struct({"userData": "new"}),
            preview=True,
        )
    )
    assert answer.properties == struct({"arn": "arn:x", "userData": "new"})


@pytest.mark.parametrize(
    ("call", "request_"),
    [
        ("Create", provider_pb2.CreateRequest(urn=urn(VPC), properties=Struct())),
        ("Update", provider_pb2.UpdateRequest(urn=urn(VPC), news=Struct())),
        ("Delete", provider_pb2.DeleteRequest(urn=urn(VPC))),
        ("Read", provider_pb2.ReadRequest(urn=urn(VPC), id="vpc-1")),
        ("Invoke", provider_pb2.InvokeRequest(tok="aws:ec2/getVpc:getVpc")),
    ],
)
def test_whatever_needs_a_cloud_is_refused_and_noted(plugin: Any, journal: Path, call: str, request_: Any) -> None:
    with pytest.raises(grpc.RpcError) as refusal:
        getattr(plugin, call)(request_)
    assert refusal.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "the offline provider 'aws' only plans" in refusal.value.details()
    assert [json.loads(line)["event"] for line in journal.read_text().splitlines()] == ["refused"]


def test_an_automatic_name_stays_once_the_resource_exists(plugin: Any) -> None:
    def check(seed: bytes, olds: Struct | None = None) -> Struct:
        news = struct({"assumeRolePolicy": "{}"})
        request = provider_pb2.CheckRequest(urn=urn(ROLE, "nodes"), news=news, olds=olds, randomSeed=seed)
        inputs: Struct = plugin.Check(request).inputs
        return inputs

    first = check(b"1")
    assert first["name"].startswith("nodes-")
    assert first["name"] != check(b"2")["name"]
    assert check(b"2", olds=first)["name"] == first["name"]


def test_another_region_replaces_the_provider_and_with_it_everything(plugin: Any) -> None:
    old, new = struct({"region": "eu-west-1", "profile": "a"}), struct({"region": "eu-west-2", "profile": "b"})
    answer = plugin.DiffConfig(provider_pb2.DiffRequest(old_inputs=old, news=new))
    assert (list(answer.diffs), list(answer.replaces)) == (["profile", "region"], ["region"])


@dataclass(frozen=True)
class Scripted(Provider):
    """A provider that answers what a test wants, and notes what it was given."""

    answer: Any = None
    given: list[Existing] = field(default_factory=list)

    def _answer(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return "id-1", {**inputs, **self._answer()}

    @override
    def read(self, resource: Existing) -> ReadResult | None:
        self.given.append(resource)
        found: ReadResult | None = self._answer()
        return found

    @override
    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:
        self.given.append(resource)
        return {**inputs, **self._answer()}

    @override
    def delete(self, resource: Existing) -> None:
        self.given.append(resource)
        self._answer()

    @override
    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        return Checked(filled=self._answer())

    @override
    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        return Changed(self._answer())

    @override
    def foreseen(self, type_: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        return {**inputs, **self._answer()}

    @override
    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"token": token, **arguments}


@contextmanager
def scripted(answer: Any) -> Iterator[tuple[Any, list[Existing]]]:
    """Serve a scripted provider in this process; give a stub, and what the provider will have been given."""
    provider, server = Scripted("scripted", "1.0.0", "", answer=answer), grpc.server(ThreadPoolExecutor(2))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield provider_pb2_grpc.ResourceProviderStub(channel), provider.given
    server.stop(None)


def partly_made(error: Any) -> provider_pb2.ErrorResourceInitFailed:
    """Return what the engine reads from an error, as its own library does."""
    status, detail = status_pb2.Status(), provider_pb2.ErrorResourceInitFailed()
    status.ParseFromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    assert (status.code, status.message) == (grpc.StatusCode.UNKNOWN.value[0], error.details())
    assert status.details[0].Unpack(detail)
    return detail


def test_a_plan_that_the_cloud_would_refuse_is_an_error_without_secrets() -> None:
    request = provider_pb2.DiffRequest(urn=urn(VPC), old_inputs=struct({"cidrBlock": SECRET}), news=Struct())
    with scripted(CloudError("no change from 10.0.0.0/16")) as (plugin, _), pytest.raises(grpc.RpcError) as refusal:
        plugin.Diff(request)
    assert refusal.value.details() == "no change from [secret]"


def test_what_is_made_is_returned_whole_with_its_secrets_hidden() -> None:
    with scripted({"arn": "arn:10.0.0.0/16", "state": "available"}) as (plugin, _):
        given = struct({"cidrBlock": SECRET})
        answer = plugin.Create(provider_pb2.CreateRequest(urn=urn(VPC), properties=given))
    assert answer.id == "id-1"
    hidden = {**SECRET, "value": "arn:10.0.0.0/16"}
    assert answer.properties == struct({"cidrBlock": SECRET, "arn": hidden, "state": "available"})


def test_what_is_partly_made_keeps_its_id_outputs_and_reasons() -> None:
    failure = PartlyMadeError("id-1", {"cidrBlock": "10.0.0.0/16", "status": "FAILED"}, ("no room in 10.0.0.0/16", "b"))
    with scripted(failure) as (plugin, _), pytest.raises(grpc.RpcError) as raised:
        plugin.Create(provider_pb2.CreateRequest(urn=urn(VPC), properties=struct({"cidrBlock": SECRET})))
    detail = partly_made(raised.value)
    assert (detail.id, list(detail.reasons)) == ("id-1", ["no room in [secret]", "b"])
    assert detail.properties == struct({"cidrBlock": SECRET, "status": "FAILED"})


def test_an_update_that_fails_midway_says_what_it_left() -> None:
    request = provider_pb2.UpdateRequest(urn=urn(VPC), id="id-1", olds=struct({"a": 1}), news=struct({"a": 2}))
    with scripted(PartlyMadeError("id-1", {"a": 2}, ("slow",))) as (plugin, _), pytest.raises(grpc.RpcError) as raised:
        plugin.Update(request)
    assert partly_made(raised.value).properties == struct({"a": 2})


def test_a_failure_of_the_cloud_is_said_in_its_words_without_secrets() -> None:
    with scripted(CloudError("creating VPC (10.0.0.0/16): no")) as (plugin, _), pytest.raises(grpc.RpcError) as raised:
        plugin.Create(provider_pb2.CreateRequest(urn=urn(VPC), properties=struct({"cidrBlock": SECRET})))
    assert (raised.value.code(), raised.value.details()) == (
        grpc.StatusCode.UNKNOWN,
        "creating VPC ([secret]): no",
    )


def test_what_does_not_exist_has_no_id() -> None:
    with scripted(None) as (plugin, _):
        answer = plugin.Read(provider_pb2.ReadRequest(urn=urn(VPC), id="id-1", properties=struct({"a": 1})))
    assert answer == provider_pb2.ReadResponse()


def test_a_read_returns_live_inputs_and_keeps_what_did_not_move_as_it_was() -> None:
    inputs = struct({"cidrBlock": SECRET, "size": 2, "name": "x", "__defaults": ["name"]})
    state = struct({"cidrBlock": SECRET, "size": 2, "arn": "arn:x"})
    live = {"cidrBlock": "10.0.0.0/16", "size": 7}
    request = provider_pb2.ReadRequest(urn=urn(VPC, "main"), id="id-1", inputs=inputs, properties=state)
    with scripted(ReadResult({**live, "name": "x"}, {**live, "arn": "arn:x"})) as (plugin, given):
        answer = plugin.Read(request)
    assert answer.id == "id-1"
    assert answer.inputs == struct({"cidrBlock": SECRET, "size": 7, "name": "x", "__defaults": ["name"]})
    assert answer.properties == struct({"cidrBlock": SECRET, "size": 7, "arn": "arn:x"})
    asked = Existing(
        "aws:ec2/vpc:Vpc",
        "main",
        "id-1",
        {"cidrBlock": "10.0.0.0/16", "size": 2, "name": "x"},
        {"cidrBlock": "10.0.0.0/16", "size": 2, "arn": "arn:x"},
    )
    assert given == [asked]


def test_an_import_gets_the_resources_own_id() -> None:
    with scripted(ReadResult({"a": 1}, {"a": 1}, "r-1")) as (plugin, _):
        answer = plugin.Read(provider_pb2.ReadRequest(urn=urn(VPC), id="table_0.0.0.0/0"))
    assert (answer.id, answer.inputs) == ("r-1", struct({"a": 1}))


def test_update_and_delete_know_the_resource() -> None:
    with scripted({}) as (plugin, given):
        olds, old, new = struct({"a": 1, "arn": "x"}), struct({"a": 1}), struct({"b": 2})
        request = provider_pb2.UpdateRequest(urn=urn(VPC), id="id-1", olds=olds, old_inputs=old, news=new)
        assert plugin.Update(request).properties == new  # what it has no more, the state has no more
        plugin.Delete(provider_pb2.DeleteRequest(urn=urn(VPC), id="id-1", properties=olds, old_inputs=old))
    expected = Existing("aws:ec2/vpc:Vpc", "main", "id-1", {"a": 1}, {"a": 1, "arn": "x"})
    assert given == [expected, expected]


def test_what_a_preview_cannot_know_inside_an_object_is_marked_so() -> None:
    request = provider_pb2.CreateRequest(urn=urn(VPC), properties=struct({"cidrBlock": SECRET}), preview=True)
    with scripted({"issuer": {"enabled": True, "url": UNKNOWN}}) as (plugin, _):
        answer = plugin.Create(request)
    foreseen = {"cidrBlock": SECRET, "issuer": {"enabled": True, "url": rpc.UNKNOWN}}
    assert (answer.id, answer.properties) == ("", struct(foreseen))


def test_an_input_that_is_filled_in_may_be_unknown() -> None:
    with scripted({"location": UNKNOWN}) as (plugin, _):
        answer = plugin.Check(provider_pb2.CheckRequest(urn=urn(VPC), news=struct({"a": 1})))
    assert answer.inputs == struct({"a": 1, "location": rpc.UNKNOWN, "__defaults": ["location"]})


def test_a_function_is_called_with_its_arguments() -> None:
    with scripted(None) as (plugin, _):
        answer = plugin.Invoke(provider_pb2.InvokeRequest(tok="a:b:c", args=struct({"name": "x"})))
    assert getattr(answer, "return") == struct({"token": "a:b:c", "name": "x"})


ENGINE = """
import subprocess, sys
plugin = subprocess.Popen([sys.executable, "-m", "workbench.offline.aws"])
print(plugin.pid, flush=True)
plugin.wait()
"""


def test_it_dies_with_the_engine_that_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", ENGINE], stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout
        child = psutil.Process(int(engine.stdout.readline()))
        engine.stdout.readline()  # the port: it serves
        engine.kill()
    deadline = time.monotonic() + 600
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
