"""The file that `--events` names: private, of this run alone, and there whatever comes of the run."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from workbench import stacks
from workbench.cli.app import app
from workbench.system.errors import UserError

RUNNER = CliRunner()


def test_a_run_that_never_starts_leaves_no_earlier_stream_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    file = tmp_path / "events.jsonl"
    file.write_text("of yesterday")
    file.chmod(0o644)
    result = RUNNER.invoke(app, ["preview", "nowhere", "--events", str(file)])
    assert isinstance(result.exception, UserError)
    assert file.read_text() == ""
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "is not a regular file"), ("missing/events", "cannot write"), ("pipe", "is not a regular file")],
)
@pytest.mark.parametrize("command", ["preview", "up", "destroy", "drift"])
def test_what_cannot_be_such_a_file_is_answered(tmp_path: Path, command: str, name: str, said: str) -> None:
    if name == "pipe":
        (tmp_path / "pipe").symlink_to("/dev/null")
    result = RUNNER.invoke(app, [command, "local", "--events", str(tmp_path / name)])
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "Invalid value for '--events'" in result.stderr
    assert Path("/dev/null").is_char_device()
