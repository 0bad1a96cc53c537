"""`igz-clusters accept`: what it asks and says before and after a run."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from infra.config import CONFIG_KEY
from support.acceptance import LOCAL
from workbench import stacks
from workbench.acceptance import run as acceptance
from workbench.acceptance.copied_stack import CopiedStack
from workbench.acceptance.step import Context, StepError
from workbench.cli.accept import Commands, _changes
from workbench.cli.app import app
from workbench.engine.backend import StateFiles
from workbench.system import locks
from workbench.system.errors import UserError


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.dev.yaml").write_text(json.dumps({"config": {CONFIG_KEY: LOCAL}}))
    return tmp_path / "data" / "acceptance" / "dev-accept"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["accept", *arguments])


def refused(*arguments: str) -> tuple[str, str]:
    """Return the message of a refusal, and what was printed before it."""
    done = run(*arguments)
    assert isinstance(done.exception, UserError), done.exception
    return str(done.exception), done.stderr


def refusal(*arguments: str) -> str:
    return refused(*arguments)[0]


def passes(context: Context) -> None:
    context.record.state = "passed"


def fails(_: Context) -> None:
    raise StepError("a pod did not land")


def test_it_says_what_it_makes_and_asks_first(data: Path) -> None:
    message, said = refused("dev")
    assert "Run the command again with --yes" in message
    assert "a copy of 'dev', named 'dev-accept'" in said
    assert "a control plane on this machine" in said
    assert not (data / "Pulumi.dev-accept.yaml").exists(), "nothing has begun"


def test_the_result_is_json_on_standard_output_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance, "run", passes)
    done = run("dev", "--yes", "--json")
    assert json.loads(done.stdout)["state"] == "passed"


def test_a_failure_says_how_to_continue_and_how_to_clean_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance, "run", fails)
    message, said = refused("dev", "--yes", "--name", "trial")
    assert message == "a pod did not land"
    assert "  continue   igz-clusters accept dev --name trial\n" in said
    assert "  clean up   igz-clusters accept dev --name trial --clean-up\n" in said


def test_ctrl_c_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: Context) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(acceptance, "run", stopped)
    done = run("dev", "--yes")
    assert done.exit_code == 130
    assert "igz-clusters accept dev --clean-up" in done.stderr


@pytest.mark.parametrize("option", [(), ("--clean-up",)])
def test_declining_keeps_a_copy_that_a_killed_run_left(
    data: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    def killed(context: Context) -> None:
        context.record.save(data)
        raise KeyboardInterrupt

    monkeypatch.setattr(acceptance, "run", killed)
    run("dev", "--yes")
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(data.parents[2]))  # another process is started by a shell
    assert "Run the command again with --yes" in refusal("dev", *option)
    assert (data / "Pulumi.dev-accept.yaml").exists()


def test_a_failed_run_prints_its_record_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance, "run", fails)
    assert json.loads(run("dev", "--yes", "--json").stdout)["copy"] == "dev-accept"


def test_without_a_copy_there_is_nothing_to_clean_up() -> None:
    assert "no copy 'dev-accept' to clean up" in refusal("dev", "--clean-up", "--yes")


def test_two_runs_on_one_copy_are_refused(data: Path) -> None:
    data.mkdir(parents=True, mode=0o700)
    (data.parent.parent).chmod(0o700)
    assert locks.take(data / "lock") is not None
    assert "Another run of `accept` is working on 'dev-accept'" in refusal("dev", "--yes")


@pytest.mark.parametrize(("resources", "exists"), [([{"urn": "u"}], True), ([], False)], ids=["in use", "destroyed"])
def test_a_local_stack_whose_state_records_something_exists(*, resources: list[object], exists: bool) -> None:
    copied = CopiedStack("dev-accept", "dev")
    copied.make(stacks.find("dev"))
    product = Commands(copied, hermetic=True)
    assert not product.exists()
    state = StateFiles(copied.name).current
    state.parent.mkdir(parents=True)
    state.write_text(json.dumps({"version": 3, "checkpoint": {"stack": "s", "latest": {"resources": resources}}}))
    assert product.exists() is exists
    state.write_text("{")
    assert product.exists()


@pytest.mark.parametrize(
    ("op", "planning", "is_change"), [("update", False, True), ("update", True, False), ("same", False, False)]
)
def test_a_run_is_killed_once_it_changes_something(tmp_path: Path, op: str, *, planning: bool, is_change: bool) -> None:
    event = {"metadata": {"op": op, "provider": "urn:p::id"}, **({"planning": True} if planning else {})}
    (tmp_path / "events").write_text(json.dumps({"resourcePreEvent": event}) + '\n{"resourcePreEvent')
    assert _changes(tmp_path / "events") is is_change
