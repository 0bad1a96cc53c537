"""`igz-clusters pulumi`: takes the place of `pulumi` for programs that call it."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import typer
from typing_extensions import override

from workbench import stacks
from workbench.cli import stack as commands
from workbench.cli.console import PLAIN, errors
from workbench.cli.engine_run import last_run
from workbench.engine import cloud, event_listener
from workbench.system import temporary
from workbench.system.errors import UserError
from workbench.system.paths import APP, FOLDER_VARIABLE
from workbench.toolchain import ensure, environment
from workbench.toolchain.console import progress

_CHECKED: Final = {"up": "up", "update": "up", "preview": "preview"}
"""Commands of the engine that our own take the place of."""

_UNCHANGED: Final = frozenset({"about", "config", "login", "logout", "plugin", "stack", "version", "whoami"})
"""Commands of the engine that change no resources; it runs them itself."""

_OF_STACKS: Final = frozenset({"export", "history", "init", "ls", "output", "select"})
"""Commands below ``stack`` that do not change the state of a stack."""

_HELP: Final = frozenset({"--help", "-h"})
_QUESTIONS: Final = _HELP | {"--version"}
_NON_INTERACTIVE: Final = "--non-interactive"
"""What the Automation API writes before the command; no other option may stand there."""

_STACK: Final = "stack"
_INSTALL: Final = "install"
_ORGANISATION: Final = "organization"
"""The only organisation of backends that have none: https://www.pulumi.com/docs/iac/concepts/state-and-backends/."""

_SWITCHES: Final = ("--diff", "--skip-preview", "--suppress-outputs", "--suppress-progress")
_VALUES: Final = ("--color", "--exec-agent", "--exec-kind", "--message", "--parallel", "--user-agent")
"""Options that make no difference to what our commands do: those of the Automation API of v3.253.0."""


class _Parser(argparse.ArgumentParser):
    """Raises an error for people instead of printing a usage that is not ours."""

    @override
    def error(self, message: str) -> NoReturn:
        raise UserError(f"`pulumi`: {message}.")


def pulumi(context: typer.Context) -> None:
    """Take the place of `pulumi` for programs that call it, with all checks of `up`.

    For the Pulumi Kubernetes Operator and programs of the Automation API: put a script with that name, which runs
    `igz-clusters pulumi "$@"`, first on their PATH. `up` and `preview` run as those of igz-clusters, on the stack files
    of the current folder. Whatever policyGuard says, losses of protected resources need an approval. The engine
    itself runs commands that change nothing. Everything else is refused.
    """
    command, *rest = [each for each in context.args if each != _NON_INTERACTIVE] or ["version"]
    is_question = command in _QUESTIONS or (len(rest) == 1 and rest[0] in _HELP)
    if is_question or (command in _UNCHANGED and not _changes_a_stack(command, rest)):
        _engine(context.args or [command])
    elif mine := _CHECKED.get(command):
        _run(mine, _parsed(command, rest))
    elif command == _INSTALL:
        errors.print("igz-clusters has its plug-ins and packages already; nothing to install.", **PLAIN)
    else:
        what = " ".join([command, *([rest[0]] if command == _STACK else [])])
        raise UserError(
            f"`pulumi {what}` is not supported here: it could change a stack without the checks of {APP}.",
            f"Use {APP} itself on a machine of yours; `{APP} --help` lists its commands.",
        )


def _changes_a_stack(command: str, rest: Sequence[str]) -> bool:
    return command == _STACK and bool(rest) and rest[0] not in _OF_STACKS


def _parsed(command: str, given: Sequence[str]) -> argparse.Namespace:
    """Return the options of `up` or `preview`; raises ``UserError`` for those that would change what it does."""
    parser = _Parser(prog="pulumi", add_help=False, allow_abbrev=False)
    for switch in _SWITCHES:
        parser.add_argument(switch, action="store_true")
    for value in _VALUES:
        parser.add_argument(value)
    parser.add_argument("--yes", "-y", action="store_true")
    parser.add_argument("--refresh", "-r", nargs="?")  # `up` always compares with the live resources
    parser.add_argument("--json", "-j", action="store_true", dest="as_json")
    parser.add_argument("--stack", "-s")
    parser.add_argument("--event-log", dest="listener")
    options, unknown = parser.parse_known_args(list(given))
    if unknown:
        raise UserError(
            f"`pulumi {command}`: not supported here: {', '.join(unknown)}.",
            f"A change is always the whole stack file. For anything else use {APP} on a machine of yours.",
        )
    return options


def _run(command: str, options: argparse.Namespace) -> None:
    """Run our command on the stack files of the current folder, and send its events to the program that called."""
    os.environ[FOLDER_VARIABLE] = str(Path.cwd())
    name = _name(options.stack or os.environ.get("PULUMI_STACK", ""))
    if stacks.find(name).is_local:
        raise UserError(f"{name!r} is a local stack; its state is on one machine.", f"Run `{APP} {command} {name}`.")
    with temporary.folder("pulumi") as (folder, _):
        events = folder / "events.jsonl"
        try:
            if command == "up":
                commands.up(name, hermetic=True, yes=True, require_approvals=True, events=events)
            else:
                commands.preview(name, hermetic=True, require_approvals=True, as_json=options.as_json, events=events)
        finally:
            if options.listener and events.exists():
                _send(events, options.listener)


def _send(events: Path, listener: str) -> None:
    """Send the events of the last run; a failure must not hide how the run ended."""
    try:
        event_listener.send(last_run(events.read_bytes()), listener)
    except (UserError, OSError) as error:
        errors.print(f"note: {error}", **PLAIN)


def _name(given: str) -> str:
    """Return a stack's name without its organisation and project.

    Raises
    ------
    UserError
        There is none, or it names an organisation, which our commands leave to the backend's default.
    """
    *before, name = given.split("/")
    if not name:
        raise UserError("`pulumi`: which stack? Use --stack NAME, or set PULUMI_STACK.")
    if before and before[0] not in (_ORGANISATION, APP):
        raise UserError(
            f"--stack: {given!r} names an organization; use {name!r}.",
            f"Set the organization once: `pulumi org set-default {before[0]}`.",
        )
    return name


def _engine(arguments: Sequence[str]) -> NoReturn:
    """Become the engine."""
    with progress(errors) as report:
        toolchain = ensure(cloud.TOOLS, hermetic=True, progress=report)
    variables = {**os.environ, **environment(toolchain, local=False)}
    os.execve(toolchain.pulumi, [str(toolchain.pulumi), *arguments], variables)  # noqa: S606 no shell between the two
