"""What a review says before and while it is at work."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from workbench.cli.app import app
from workbench.cli.review import _Teller


def test_what_the_changes_own_code_said_is_obeyed_by_no_terminal_and_no_runner(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _Teller()("prod: it failed:\n\x1b[2J[bold]x\r\n::add-mask::o\x1b]0;t\x07")
    assert capsys.readouterr().err == (
        "    0 s  prod: it failed:\n         | \\x1b[2J[bold]x\n         | ::add-mask::o\\x1b]0;t\\x07\n"
    )


def test_a_rehearsal_that_cannot_be_shown_is_refused_before_anything_is_planned(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("[]")
    given = ["--head", str(tmp_path), "--record", str(tmp_path / "record"), "--rehearsal", str(tmp_path / "notes.json")]
    assert "notes.json is not the JSON of a rehearsal" in str(CliRunner().invoke(app, ["review", *given]).exception)
    assert not (tmp_path / "record").exists()
