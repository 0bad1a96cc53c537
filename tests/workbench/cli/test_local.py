"""`igz-clusters local` and commands that start a control plane, while a run of another terminal uses it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support.state_files import engine_lock, said
from workbench import stacks
from workbench.cli import stack
from workbench.cli.app import app
from workbench.engine.backend import StateFiles
from workbench.local import Instance
from workbench.local.layout import Layout
from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

RUN = """
import time
from workbench.engine.lock import stack_lock
with stack_lock("local", "up"):
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """The files of a control plane that does not run."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    made = Layout.of("local")
    os.close(made.acquire() or 0)
    return made


@pytest.fixture
def run() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", RUN], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.parametrize("command", [["stop", "local"], ["stop", "--all"], ["delete", "local", "--yes"]])
def test_a_control_plane_is_neither_stopped_nor_deleted_while_a_run_changes_its_stack(
    layout: Layout, run: subprocess.Popen[bytes], command: list[str]
) -> None:
    refused = CliRunner().invoke(app, ["local", *command]).exception
    assert isinstance(refused, UserError)
    assert f"is being changed by `igz-clusters up` (process {run.pid}, since " in str(refused)
    assert layout.folder.exists()
    run.kill()
    run.wait()
    assert CliRunner().invoke(app, ["local", *command]).exit_code == 0


def test_only_a_command_with_the_lock_of_the_stack_may_stop_what_a_run_uses(
    monkeypatch: pytest.MonkeyPatch, run: subprocess.Popen[bytes]
) -> None:
    def start(_: Instance, __: object, alone: Any) -> bool:
        with alone():
            return True

    for name in ("require_space", "ensure", "open_session"):
        monkeypatch.setattr(stack, name, lambda *_, **__: None)
    monkeypatch.setattr(Instance, "start", start)
    local = stacks.read(PROJECT_ROOT / "Pulumi.local.yaml")
    with pytest.raises(UserError, match=rf"is being changed by `igz-clusters up` \(process {run.pid}, "):
        stack._prepare(local, "preview", hermetic=False)
    stack._prepare(local, "up", hermetic=False, lock=0)


def test_a_preview_does_not_call_what_a_run_in_another_container_uses_stale(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], run: subprocess.Popen[bytes]
) -> None:
    engine_lock(StateFiles("local"), said(2**22 + 1))
    monkeypatch.setattr(locks, "holders", lambda _: [])
    stack._note_the_state("local")
    said_then = capsys.readouterr().err
    assert said_then.startswith("note: The stack 'local' is locked by processes that are not visible here.")
    run.kill()
    run.wait()
    stack._note_the_state("local")
    assert "is stale" in capsys.readouterr().err


def test_a_deleted_control_plane_is_gone_and_deleting_it_again_says_that_there_is_none(layout: Layout) -> None:
    assert CliRunner().invoke(app, ["local", "delete", "local", "--yes"]).stdout == "'local' deleted.\n"
    assert not layout.folder.exists()
    again = CliRunner().invoke(app, ["local", "delete", "local", "--yes"]).exception
    assert str(again) == "There is no control plane 'local'.\nKnown control planes: none."
