"""`igz-clusters pulumi`: which command of the engine becomes which of ours, and which are refused."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from infra.config import CONFIG_KEY
from support.acceptance import LOCAL
from support.eks import DOCUMENT
from workbench import stacks
from workbench.cli import pulumi, stack
from workbench.cli.app import app
from workbench.engine.inputs import SECRETS_AS_IN_THE_STATE
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

EVENT = b'{"sequence":0,"summaryEvent":{}}\n{"sequence":1,"cancelEvent":{}}\n'
AUTOMATION = ("--yes", "--skip-preview", "--suppress-progress", "--diff", "--exec-kind=auto.local")
"""What the Automation API adds to `up`; it writes ``--non-interactive`` before the command."""


@dataclass
class Ran:
    """What ran in place of `pulumi`."""

    ours: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    engine: list[list[str]] = field(default_factory=list)
    error: Exception | None = None
    """What our command raises after its events."""


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ran]:
    for name, choices in (("acme-dev", DOCUMENT), ("local", LOCAL)):
        (tmp_path / f"Pulumi.{name}.yaml").write_text(json.dumps({"config": {CONFIG_KEY: choices}}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, "/elsewhere")
    monkeypatch.delenv("PULUMI_STACK", raising=False)
    found = Ran()

    def ours(command: str) -> Any:
        def run(name: str, **options: Any) -> None:
            found.ours.append((command, name, {key: value for key, value in options.items() if key != "events"}))
            assert os.environ[stacks.FOLDER_VARIABLE] == str(tmp_path), "the stack files of the current folder"
            options["events"].write_bytes(EVENT)
            if found.error:
                raise found.error

        return run

    def engine(arguments: list[str]) -> None:
        found.engine.append(list(arguments))
        raise SystemExit

    monkeypatch.setattr(stack, "up", ours("up"))
    monkeypatch.setattr(stack, "preview", ours("preview"))
    monkeypatch.setattr(pulumi, "_engine", engine)
    yield found
    monkeypatch.undo()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["pulumi", *arguments])


def refused(*arguments: str) -> str:
    error = run(*arguments).exception
    assert isinstance(error, UserError), error
    return str(error)


@pytest.mark.parametrize("command", ["up", "update"])
@pytest.mark.parametrize("name", ["acme-dev", "organization/igz-clusters/acme-dev", "igz-clusters/acme-dev"])
def test_up_is_ours_with_approvals_required(ran: Ran, command: str, name: str) -> None:
    done = run("--non-interactive", command, *AUTOMATION, "--refresh", "--message", "Update", "--stack", name)
    assert done.exit_code == 0, done.exception
    assert ran.ours == [("up", "acme-dev", {"hermetic": True, "yes": True, "require_approvals": True})]


def test_preview_is_ours_too(ran: Ran) -> None:
    assert run("preview", "--json", "--diff", "--stack", "acme-dev").exit_code == 0
    assert ran.ours == [("preview", "acme-dev", {"hermetic": True, "require_approvals": True, "as_json": True})]


def test_the_stack_may_be_named_by_the_environment(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "which stack? Use --stack NAME, or set PULUMI_STACK" in refused("up", "--yes")
    monkeypatch.setenv("PULUMI_STACK", "acme-dev")
    assert run("up", "--yes").exit_code == 0
    assert ran.ours[0][:2] == ("up", "acme-dev")


@pytest.mark.parametrize("fails", [False, True])
def test_the_listener_gets_the_events_also_of_a_failed_run(ran: Ran, tmp_path: Path, fails: bool) -> None:
    listener = tmp_path / "events"
    ran.error = UserError("refused") if fails else None
    done = run("up", "--yes", "--stack", "acme-dev", "--event-log", str(listener))
    assert done.exit_code == int(fails)
    assert listener.read_bytes() == EVENT


def test_a_preview_that_succeeded_fails_if_its_events_are_lost(ran: Ran) -> None:
    ran.error = typer.Exit(0)  # type: ignore[assignment] # as every preview ends
    assert "took no events: UNAVAILABLE" in refused(
        "preview", "--stack", "acme-dev", "--event-log", "tcp://127.0.0.1:1"
    )
    ran.error = typer.Exit(1)  # type: ignore[assignment]
    failed = run("preview", "--stack", "acme-dev", "--event-log", "tcp://127.0.0.1:1")
    assert (failed.exit_code, "note: --event-log" in failed.stderr) == (1, True)


def test_a_listener_that_takes_no_events_does_not_hide_the_result(ran: Ran) -> None:
    ran.error = UserError("refused")
    done = run("up", "--yes", "--stack", "acme-dev", "--event-log", "tcp://127.0.0.1:1")
    assert done.exception is ran.error
    assert "note: --event-log: tcp://127.0.0.1:1 took no events: UNAVAILABLE." in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["version"],
        ["whoami", "--json"],
        ["stack"],
        ["stack", "select", "--stack", "acme-dev"],
        ["stack", "init", "acme-dev", "--secrets-provider", "passphrase"],
        ["stack", "output", "--json", "--show-secrets", "--stack", "acme-dev"],
        ["stack", "history", "--json"],
        ["config", "--json"],
        ["config", "--show-secrets", "--json", "--stack", "acme-dev"],
        ["stack", "--show-ids", "--stack=acme-dev"],
        ["config", "get", "a"],
        ["login", "s3://acme-state"],
        ["about", "--json"],
        ["stack", "--stack", "acme-dev"],
        ["up", "--help"],
        ["destroy", "-h"],
    ],
    ids=" ".join,
)
def test_the_engine_runs_what_changes_nothing(ran: Ran, arguments: list[str]) -> None:
    run("--non-interactive", *arguments)
    found = [[each for each in call if each != "--non-interactive"] for call in ran.engine]
    assert (found, ran.ours) == ([arguments], [])


def test_without_a_command_it_is_the_version(ran: Ran) -> None:
    run()
    assert ran.engine == [["--non-interactive", "version"]]


def test_the_engine_leaves_the_stack_file_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_OPTION_SHOW_SECRETS", "true")
    became = list[Any]()
    toolchain = Toolchain({"pulumi": Path("/tools/pulumi")})
    monkeypatch.setattr(pulumi, "ensure", lambda *_, **__: toolchain)
    monkeypatch.setattr(os, "execve", lambda *given: became.append(given))
    pulumi._engine(["version"])
    ((program, arguments, variables),) = became
    assert (program, arguments) == (Path("/tools/pulumi"), ["/tools/pulumi", "version"])
    assert variables.items() >= SECRETS_AS_IN_THE_STATE.items()
    assert variables["PATH"].startswith("/tools:")
    assert "PULUMI_OPTION_SHOW_SECRETS" not in variables, "outputs would be in the status of a Stack in clear"


@pytest.mark.parametrize(
    "arguments",
    [
        ["destroy", "--yes"],
        ["refresh", "--yes"],
        ["import", "aws:s3/bucket:Bucket", "a", "b"],
        ["state", "delete", "urn"],
        ["stack", "rm", "--yes"],
        ["stack", "--yes", "rm"],
        ["stack", "import"],
        ["stack", "rename", "other"],
        ["cancel"],
        ["watch"],
        ["--cwd", "/elsewhere", "up"],
        ["--color=never", "up"],
        ["stack", "-s", "select", "rm"],
        ["destroy", "--message", "--help"],
        ["--", "-h", "destroy", "--help=false"],
        ["--", "-h", "--non-interactive", "destroy", "--help=false"],
        ["--version", "up"],
        ["stack", "--stack", "acme-dev", "rm"],
        ["stack", "--show-urns", "rm"],
        ["stack", "--stack", "-s", "rm", "--stack", "acme-dev", "--yes", "--force"],
        ["stack", "-s", "--stack", "import", "--file=x"],
        ["stack", "--profiling", "--stack", "rm", "--stack=acme-dev", "--yes", "--force"],
        ["stack", "--tracing", "-s", "rm", "--stack=acme-dev"],
        ["config", "--config-file", "--stack", "refresh", "--force", "--stack=acme-dev"],
        ["config", "--stack", "-s", "refresh", "--force", "--stack=acme-dev"],
        ["config", "set", "a", "b"],
        ["config", "set-all", "--plaintext", "a=b"],
        ["plugin", "rm", "--all"],
        ["policy", "disable", "a"],
    ],
    ids=" ".join,
)
def test_what_changes_a_stack_without_the_checks_is_refused(ran: Ran, arguments: list[str]) -> None:
    assert "is not supported here: only `up`, `preview` and commands that change no stack are." in refused(*arguments)
    assert (ran.engine, ran.ours) == ([], [])


@pytest.mark.parametrize(
    "options",
    [
        ["--target", "urn"],
        ["--replace=urn"],
        ["--policy-pack", "p"],
        ["--plan", "p"],
        ["--config-file", "f"],
        ["--config", "password=secret"],
        ["--json"],
        ["--tar"],
    ],
    ids=" ".join,
)
def test_options_that_would_change_what_up_does_are_refused(ran: Ran, options: list[str]) -> None:
    names = [options[0].partition("=")[0], *["arguments"][: len(options) - 1]]
    said = refused("up", "--yes", "--stack", "acme-dev", *options)
    assert f"`pulumi up`: not supported here: {', '.join(names)}." in said
    assert "secret" not in said
    assert ran.ours == []


def test_a_change_needs_yes(ran: Ran) -> None:
    assert refused("up", "--stack", "acme-dev") == "`pulumi up` changes the stack without a question: add --yes."
    assert ran.ours == []


def test_the_operators_log_level_is_accepted(ran: Ran) -> None:
    assert run("up", "--yes", "--stack", "acme-dev", "--logtostderr", "-v=9").exit_code == 0
    assert [name for name, *_ in ran.ours] == ["up"]


def test_other_organizations_local_stacks_and_unknown_ones_are_refused(ran: Ran) -> None:
    for name in ("acme/acme-dev", "organization/other/acme-dev", "acme/igz-clusters/acme-dev"):
        assert f"--stack: '{name}': use 'acme-dev', the project is always igz-clusters" in refused(
            "up", "--yes", "--stack", name
        )
    assert "'local' is a local stack" in refused("up", "--yes", "--stack", "local")
    assert "Stack 'other'" in refused("up", "--yes", "--stack", "other")
    assert "expected one argument" in refused("up", "--stack")
    assert ran.ours == []


def test_nothing_is_installed(ran: Ran) -> None:
    assert run("install").exit_code == 0
    assert (ran.engine, ran.ours) == ([], [])
