import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from workbench.clouds.journal import JOURNAL

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
    command = [sys.executable, "-m", "workbench.clouds.aws"]
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


ENGINE = """
import subprocess, sys
plugin = subprocess.Popen([sys.executable, "-m", "workbench.clouds.aws"])
print(plugin.pid, flush=True)
plugin.wait()
"""


def test_it_dies_with_the_engine_that_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", ENGINE], stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout
        child = psutil.Process(int(engine.stdout.readline()))
        engine.stdout.readline()  # the port: it serves
        engine.kill()
    deadline = time.monotonic() + 10
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
