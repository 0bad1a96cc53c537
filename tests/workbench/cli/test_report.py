import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from support.streams import stream
from workbench.cli.app import app
from workbench.cli.report import Format
from workbench.system.errors import UserError


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "larger.jsonl").write_bytes(stream("larger"))
    return tmp_path / "larger.jsonl"


@pytest.mark.parametrize(("name", "code"), [("larger", 0), ("violating", 1), ("killed", 3), ("replaced", 1)])
def test_the_exit_code_is_the_verdicts(tmp_path: Path, name: str, code: int) -> None:
    (tmp_path / "events").write_bytes(stream(name))
    assert run(tmp_path / "events").exit_code == code


@pytest.mark.parametrize("form", Format)
def test_every_format_is_printed_and_written_alike(file: Path, tmp_path: Path, form: Format) -> None:
    printed = run(file, "--format", form.value)
    written = run(file, "--format", form.value, "--output", tmp_path / "out")
    assert (printed.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    text = (tmp_path / "out").read_text()
    assert "prod" in text or form is Format.SARIF  # which has findings only
    if form is not Format.TERMINAL:  # as wide as the terminal
        assert printed.stdout == text


def test_several_streams_are_one_report(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_bytes(stream("violating"))
    found = run(file, tmp_path / "other.jsonl", "--format", "json")
    assert found.exit_code == 1
    assert [stack["outcome"] for stack in json.loads(found.stdout)["stacks"]] == ["passed", "blocked"]


def test_paths_that_cannot_be_used_are_the_users_mistake(file: Path, tmp_path: Path) -> None:
    assert isinstance(run(tmp_path / "nothing").exception, UserError)
    unusable = run(file, "--format", "json", "--output", tmp_path / "no" / "out").exception
    assert isinstance(unusable, UserError)
    assert "--output" in str(unusable)
