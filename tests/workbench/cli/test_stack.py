"""What `up` of a local stack does with what the state records."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from support.scripted_engine import PLANNED, ScriptedEngine, step
from workbench import stacks
from workbench.cli import engine_run, stack
from workbench.engine.cloud import cloud_session
from workbench.report.events import STACK_TYPE
from workbench.system.paths import PROJECT_ROOT


def test_up_rewrites_a_record_of_pools_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = {"urn": "urn:pulumi:s::p::x::p-s", "type": STACK_TYPE, "outputs": {"pools": "damaged"}}
    monkeypatch.setattr(stack.StateFiles, "deployment", lambda _: {"resources": [recorded]})
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    ready = Mock(stack=stacks.read(PROJECT_ROOT / "Pulumi.local.yaml"))
    assert stack._lost_pods(ready, {}) == []
    assert capsys.readouterr().err == (
        "note: The state's output 'pools' cannot be read. So nodes and running pods are not checked.\n"
    )
    ready.api.run.assert_not_called()


@pytest.mark.parametrize(("verbose", "shown"), [("1", "Resources:\n    1 unchanged\n\n"), ("", "local: up done\n")])
def test_up_that_changes_nothing_prints_what_verbose_asks_for_and_makes_no_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verbose: str, shown: str
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv(engine_run.VERBOSE_VARIABLE, verbose)
    monkeypatch.setattr(stack, "_lost_pods", lambda *_: [])
    monkeypatch.setattr(stack.unchanged, "is_as_updated", lambda _: True)
    engine, local = ScriptedEngine(tmp_path), stacks.read(PROJECT_ROOT / "Pulumi.local.yaml")
    node = step(
        "same", "urn:pulumi:local::igz-clusters::kubernetes:core/v1:Node::initial-0", {"inputs": {}, "outputs": {}}
    )
    engine.answers("preview", [node, *PLANNED], says="Resources:\n    1 unchanged")
    stack._update(Mock(stack=local, session=cloud_session(local, engine.toolchain)), None)
    printed = capsys.readouterr().out
    assert printed.startswith(shown)
    assert ("Resources:" in printed) is bool(verbose)
    assert engine.commands == ["preview"]
