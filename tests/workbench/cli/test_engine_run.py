"""What people and pipes see of a run of the engine, which a stand-in plays."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from support.eks import document
from support.scripted_engine import DONE, SUMMARY, ScriptedEngine, said
from support.streams import stream
from workbench import stacks
from workbench.cli import engine_run
from workbench.engine import Session
from workbench.engine.cloud import cloud_session
from workbench.stacks import CONFIG_KEY


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a session on the stack of the recorded streams, without ``--verbose``."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(engine_run.VERBOSE_VARIABLE)
    (tmp_path / "Pulumi.prod.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document()}}))
    return cloud_session(stacks.find("prod"), ScriptedEngine(tmp_path).toolchain)


def plays(folder: Path, name: str, code: int = 0) -> None:
    """Let the engine write a recorded stream."""
    (folder / "recorded").write_bytes(stream(name))
    (folder / "pulumi").write_text(
        f"#!/bin/sh\necho the display of the engine\nfor last; do :; done\n"
        f'while [ "$1" != --event-log ]; do shift; done\ncp {folder}/recorded "$2"\nexit {code}\n'
    )


def test_a_pipe_gets_a_summary_and_not_the_engines_display(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plays(tmp_path, "larger")
    code, _ = engine_run.run(session, "preview")
    lines = capfd.readouterr().out.splitlines()
    assert code == 0
    assert lines[0] == "prod (prod, eks): plan passed"
    assert "  workload    size      1..10                  1..12" in lines
    assert lines[-1] == "update 3; 125 unchanged; 111 rules evaluated"
    assert "the display of the engine" not in lines


def test_a_violation_comes_first_and_last(session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plays(tmp_path, "violating", code=255)
    engine_run.run(session, "preview")
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "prod (prod, eks): blocked"
    rules = [number for number, line in enumerate(lines) if line.startswith("  NG-11 violated")]
    assert rules[0] < 5
    assert rules[-1] == len(lines) - 1


@pytest.mark.parametrize("way", ["variable", "option"])
def test_verbose_and_options_for_the_engines_own_output_give_that(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    plays(tmp_path, "larger")
    if way == "variable":
        monkeypatch.setenv(engine_run.VERBOSE_VARIABLE, "1")
    engine_run.run(session, "preview", *(["--json"] if way == "option" else []))
    assert capfd.readouterr().out == "the display of the engine\n"


def test_on_a_terminal_of_80_columns_the_summary_follows_with_every_name(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plays(tmp_path, "larger")
    terminal = Console(file=StringIO(), width=80, force_terminal=True, color_system=None)
    monkeypatch.setattr(engine_run, "out", terminal)
    engine_run.run(session, "preview")
    assert capfd.readouterr().out == "the display of the engine\n"
    assert isinstance(terminal.file, StringIO)
    shown = terminal.file.getvalue()
    for text in ("prod-workload (aws:eks/nodeGroup:NodeGroup)", "scalingConfig.maxSize 10 -> 12", "1..12"):
        assert text in shown
    assert "…" not in shown


def test_an_engine_that_came_to_no_plan_is_quoted(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plays(tmp_path, "larger", code=255)
    (tmp_path / "recorded").write_bytes(b"")
    code, _ = engine_run.run(session, "preview")
    shown = capfd.readouterr()
    assert (code, shown.out) == (255, "")
    assert "the display of the engine" in shown.err


def test_of_a_stream_with_a_plan_before_its_update_the_update_is_shown(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plays(tmp_path, "grown")
    (tmp_path / "recorded").write_bytes(stream("larger") + stream("grown"))
    engine_run.run(session, "up")
    first, *others = capfd.readouterr().out.splitlines()
    assert first == "prod (prod, eks): up done"
    assert not [line for line in others if "event stream" in line]


def test_what_the_engine_refuses_is_in_the_summary(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = ScriptedEngine(tmp_path)
    engine.answers(
        "up",
        [said("creating EKS Node Group: no quota"), {"summaryEvent": {**SUMMARY, "result": "failed"}}, DONE[-1]],
        code=255,
    )
    engine_run.run(session, "up")
    shown = capfd.readouterr().out
    assert "up failed" in shown.splitlines()[0]
    assert "no quota" in shown


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize(("code", "headline"), [(255, "up failed"), (130, "stopped")])
def test_a_failure_that_the_stream_lacks_is_quoted_from_the_engines_display(
    session: Session, capfd: pytest.CaptureFixture[str], code: int, headline: str, *, is_whole: bool
) -> None:
    folder = stacks.folder()
    plays(folder, "larger", code)
    if not is_whole:
        (folder / "recorded").write_bytes(stream("larger").rpartition(b'{"sequence"')[0])
    engine_run.run(session, "up")
    shown = capfd.readouterr()
    assert shown.out.splitlines()[0] == f"prod (prod, eks): {headline}"
    assert ("the display of the engine" in shown.err) is (code == 255)


def test_a_failure_that_the_stream_holds_is_not_repeated_and_warnings_are_listed(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    warning = said("this field is deprecated")
    warning["diagnosticEvent"]["severity"] = "warning"
    summary = {"summaryEvent": {**SUMMARY, "result": "failed"}}
    ScriptedEngine(tmp_path).answers("up", [warning, said("no quota"), summary, DONE[-1]], code=255)
    engine_run.run(session, "up")
    assert capfd.readouterr().err == "warning: this field is deprecated\n"
