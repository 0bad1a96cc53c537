"""How commands ask and end."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from workbench.cli import local
from workbench.cli.app import app
from workbench.cli.console import agree, leave
from workbench.system.errors import UserError


def stdin(monkeypatch: pytest.MonkeyPatch, answer: str, *, is_terminal: bool = True) -> None:
    """Let a user type an answer; Ctrl-C if it is empty."""

    def readline() -> str:
        if not answer:
            raise KeyboardInterrupt
        return f"{answer}\n"

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: is_terminal, readline=readline))


@pytest.mark.parametrize("answer", ["y", "Yes"])
def test_a_yes_goes_on(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    stdin(monkeypatch, answer)
    agree("Do that?")


def test_a_no_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, "n")
    with pytest.raises(typer.Exit) as ended:
        agree("Do that?")
    assert ended.value.exit_code == 1


def test_ctrl_c_at_a_prompt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        stdin(monkeypatch, "")
        agree("Delete it?")

    monkeypatch.setattr(local, "_existing", interrupted)
    assert CliRunner().invoke(app, ["local", "delete", "mine"]).exit_code == 130


def test_without_a_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, "y", is_terminal=False)
    with pytest.raises(UserError, match="Cannot prompt without a terminal; nothing changed"):
        agree("Do that?")


@pytest.mark.parametrize(("code", "left"), [(0, 0), (130, 130), (255, 1), (-9, 1), (8, 1)])
def test_exit_codes_of_the_engine_are_not_passed_on(code: int, left: int) -> None:
    with pytest.raises(typer.Exit) as ended:
        leave(code)
    assert ended.value.exit_code == left


def test_the_control_planes_of_a_folder_are_stopped_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    stopped = list[str]()

    def instance(name: str) -> SimpleNamespace:
        return SimpleNamespace(stop=lambda: stopped.append(name) or True)

    monkeypatch.setattr(local, "instances", lambda: ["acme-dev", "acme-prod", "other"])
    monkeypatch.setattr(local, "Instance", instance)
    monkeypatch.setattr(local.stacks, "stack_files", lambda: {"acme-dev": None, "acme-prod": None, "acme-new": None})
    done = CliRunner().invoke(app, ["local", "stop", "--stacks"])
    assert done.exit_code == 0, done.output
    assert stopped == ["acme-dev", "acme-prod"]
    monkeypatch.setattr(local, "instances", list)
    assert CliRunner().invoke(app, ["local", "stop", "--stacks"]).stdout == "No control plane to stop.\n"
