"""Each pack as the engine meets it: a process of its own, spoken to over the network."""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2 as proto
from pulumi.runtime.proto import analyzer_pb2_grpc

import policies
from components.stack_files.settings_of_the_run import STACK_KEY
from policies.diagnostics import pack_name
from policies.examples import load
from policies.registry import RULES, rules_of
from policies.rule import Pack
from policies.sdk import policies as wire_policies
from workbench.engine.session import ALL_FOLDER

ROOT = Path(policies.__path__[0]).parent
PACKS = ROOT / "policies" / "packs"


SERVED = {**{pack.value: rules_of(pack) for pack in Pack}, ALL_FOLDER: RULES}
"""The rules that each folder of a pack serves."""


@pytest.fixture(params=SERVED)
def analyzer(request: pytest.FixtureRequest) -> Iterator[tuple[str, analyzer_pb2_grpc.AnalyzerStub]]:
    command = [sys.executable, str(PACKS / request.param), "127.0.0.1:1"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(command, env=plain, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            with selectors.DefaultSelector() as ready:
                ready.register(process.stdout, selectors.EVENT_READ)
                assert ready.select(timeout=60), "no port within 60 s: is the output flushed?"
            # The engine takes the first line for the port: nothing else may be printed before.
            with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
                yield request.param, analyzer_pb2_grpc.AnalyzerStub(channel)
        finally:
            process.kill()


def test_the_process_offers_the_packs_rules_and_judges_by_the_stacks_configuration(
    analyzer: tuple[str, analyzer_pb2_grpc.AnalyzerStub],
) -> None:
    pack, stub = analyzer
    offered = [info.name for info in stub.GetAnalyzerInfo(empty_pb2.Empty()).policies]
    assert offered == [policy.name for policy in wire_policies(SERVED[pack])]

    if pack == Pack.HARDENING:
        return
    [single] = [e for e in load() if (e.rule, e.name) == ("NG-05", "bad-single")]
    [given] = single.resources
    request = proto.AnalyzeRequest(type=given.type, name=given.name, urn="urn:x")
    request.properties.update(given.props)
    for environment, spoke in {"dev": "ng-05-", "prod": "ng-06-", "": "ng-06-"}.items():
        config = {STACK_KEY: json.dumps({"environment": environment})} if environment else {}
        stub.ConfigureStack(proto.AnalyzerStackConfigureRequest(config=config))
        said = stub.Analyze(request).diagnostics
        spoken = [d.policyName[:6] for d in said]
        assert {d.policyPackName for d in said if d.policyName[:6] == spoke} == {pack_name(Pack.BEST_PRACTICES)}
        assert spoke in spoken
        assert not {"ng-05-", "ng-06-"} - {spoke} & set(spoken)


@pytest.mark.parametrize("pack", SERVED)
def test_the_project_file_names_the_repositorys_environment(pack: str) -> None:
    project = yaml.safe_load((PACKS / pack / "PulumiPolicy.yaml").read_text())
    assert project["runtime"]["options"]["toolchain"] == "pip"
    assert (PACKS / pack / project["runtime"]["options"]["virtualenv"]).resolve() == (ROOT / ".venv").resolve()


@pytest.mark.parametrize("pack", SERVED)
def test_nothing_in_a_packs_folder_can_shadow_a_module(pack: str) -> None:
    # The folder is first on the process's import path.
    assert {path.name for path in (PACKS / pack).iterdir()} - {"__pycache__"} == {"PulumiPolicy.yaml", "__main__.py"}
