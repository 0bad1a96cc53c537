"""What `igz-clusters drift` answers without looking at anything."""

import errno
from pathlib import Path

import pytest
from typer.testing import CliRunner

from workbench.cli import drift
from workbench.cli.app import app
from workbench.report.model import Outcome
from workbench.system.errors import NoVerdictError
from workbench.system.paths import FOLDER_VARIABLE


def test_only_drift_ends_with_the_exit_code_of_drift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistaken = CliRunner().invoke(app, ["drift", "one", "two", "--events", str(tmp_path / "events.jsonl")])
    assert mistaken.exit_code == 2
    assert "one stack: one of one, two" in " ".join(mistaken.output.split())
    unknown = CliRunner().invoke(app, ["drift", "nowhere"])
    assert unknown.exit_code == 2
    assert "Stack 'nowhere' not found" in unknown.output
    assert "Known stacks: " in unknown.output
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "nowhere"))
    no_folder = CliRunner().invoke(app, ["drift", "dev"]).exception
    assert isinstance(no_folder, NoVerdictError)
    assert "nowhere does not exist" in str(no_folder)


def test_a_disk_that_is_full_is_no_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(drift, "ensure", full)
    report = drift.report_on("dev", hermetic=True)
    assert report.outcome is Outcome.UNJUDGED
    assert report.outcome.exit_code == 3
    monkeypatch.setattr("workbench.report.terminal.show", full)
    assert isinstance(CliRunner().invoke(app, ["drift", "dev"]).exception, NoVerdictError)
