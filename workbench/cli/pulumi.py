"""`igz-clusters pulumi`: takes the place of `pulumi` for programs that call it."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import typer
from typing_extensions import override

from infra.config.problems import shown
from workbench import stacks
from workbench.cli.console import FAILED, PLAIN, errors
from workbench.engine import cloud, event_listener
from workbench.engine.inputs import SECRETS_AS_IN_THE_STATE
from workbench.engine.variables import callers
from workbench.system import temporary
from workbench.system.errors import UserError
from workbench.system.paths import APP, FOLDER_VARIABLE
from workbench.toolchain import ensure, environment
from workbench.toolchain.console import progress

_CHECKED: Final = {"up": "up", "update": "up", "preview": "preview"}
"""Commands of the engine that our own take the place of."""

_ALWAYS: Final = frozenset({"about", "login", "logout", "version", "whoami"})
"""Commands that the engine runs itself, with any arguments: they change no stack."""

_BY_SUBCOMMAND: Final = {
    "config": {"", "get"},
    "plugin": {"ls"},
    "stack": {"", "export", "history", "init", "ls", "output", "select"},
}
"""Subcommands that the engine runs itself: they change no resource and no setting of a stack that is there."""

_STACK: Final = ("--stack", "-s")
_HIDE_NOTHING: Final = frozenset(
    {*_STACK, "--json", "-j", "--show-ids", "-i", "--show-name", "--show-secrets", "--show-urns", "-u"}
)
"""Options of `stack` and `config` of which it is known whether they take the next word: only those in ``_STACK`` do."""

_HELP: Final = frozenset({"--help", "-h"})
_QUESTIONS: Final = _HELP | {"--version"}
_NON_INTERACTIVE: Final = "--non-interactive"
"""What the Automation API writes before the command; no other option may stand there."""

_INSTALL: Final = "install"
_ORGANISATION: Final = "organization"
"""The only organisation of backends that have none: https://www.pulumi.com/docs/iac/concepts/state-and-backends/."""

_SWITCHES: Final = (
    *("--debug", "--diff", "--logflow", "--logtostderr"),
    *("--suppress-outputs", "--suppress-progress"),
)
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
    itself runs `stack select`, `stack output` and others that change no resource. Everything else is refused.
    """
    command, *rest = [each for each in context.args if each != _NON_INTERACTIVE] or ["version"]
    subcommand = _subcommand(rest)
    if (command in _QUESTIONS and not rest) or (len(rest) == 1 and rest[0] in _HELP):
        _engine([command, *rest])
    elif mine := _CHECKED.get(command):
        _run(mine, _parsed(command, rest))
    elif command == _INSTALL:
        errors.print("Nothing to install here: `up` fetches the plug-ins that are missing.", **PLAIN)
    elif command in _ALWAYS or subcommand in _BY_SUBCOMMAND.get(command, ()):
        _engine([_NON_INTERACTIVE, command, *rest])
    else:
        what = f"{command} {subcommand}" if command in _BY_SUBCOMMAND and subcommand else command
        raise UserError(
            f"`pulumi {what}` is not supported here: only `up`, `preview` and commands that change no stack are.",
            f"Use {APP} itself on a machine of yours; `{APP} --help` lists its commands.",
        )


def _subcommand(rest: Sequence[str]) -> str:
    """Return the first word after a command, empty if only options follow that are known to hide none.

    Any other option before it is returned in its place: the engine may take the next word as its value.
    """
    left = iter(rest)
    for each in left:
        if each in _STACK:
            next(left, None)
        elif each.partition("=")[0] not in _HIDE_NOTHING:
            return each
    return ""


def _parsed(command: str, given: Sequence[str]) -> argparse.Namespace:
    """Return the options of `up` or `preview`; raises ``UserError`` for those that would change what it does."""
    parser = _Parser(prog="pulumi", add_help=False, allow_abbrev=False)
    for switch in _SWITCHES:
        parser.add_argument(switch, action="store_true")
    for value in _VALUES:
        parser.add_argument(value)
    parser.add_argument("--yes", "-y", "--skip-preview", "-f", action="store_true")
    parser.add_argument("--refresh", "-r", nargs="?")  # `up` always compares with the live resources
    parser.add_argument("--verbose", "-v")
    if command == "preview":
        parser.add_argument("--json", "-j", action="store_true", dest="as_json")
    parser.add_argument(*_STACK)
    parser.add_argument("--event-log", dest="listener")
    options, unknown = parser.parse_known_args(list(given))
    if unknown:  # a value may be a secret
        names = dict.fromkeys(each.partition("=")[0] if each.startswith("-") else "arguments" for each in unknown)
        raise UserError(
            f"`pulumi {command}`: not supported here: {', '.join(names)}.",
            f"A change is always the whole stack file. For anything else use {APP} on a machine of yours.",
        )
    if command != "preview" and not options.yes:
        raise UserError(f"`pulumi {command}` changes the stack without a question: add --yes.")
    return options


def _run(command: str, options: argparse.Namespace) -> None:
    """Run our command on the stack files of the current folder, and send its events to the program that called."""
    # Imported here: a caller asks the engine for many small things around an update.
    from workbench.cli import stack as commands  # noqa: PLC0415

    os.environ[FOLDER_VARIABLE] = str(Path.cwd())
    name = _name(options.stack or os.environ.get("PULUMI_STACK", ""))
    if stacks.find(name).is_local:
        raise UserError(f"{name!r} is a local stack; its state is on one machine.", f"Run `{APP} {command} {name}`.")
    with temporary.folder("pulumi") as (folder, _):
        events, code = folder / "events.jsonl", FAILED
        try:
            if command == "up":
                commands.up(name, hermetic=True, yes=True, require_approvals=True, events=events)
            else:
                commands.preview(name, hermetic=True, require_approvals=True, as_json=options.as_json, events=events)
            code = 0
        except typer.Exit as ended:
            code = ended.exit_code
            raise
        finally:
            if options.listener:
                _send(events, options.listener, is_awaited=command == "preview" and not code)


def _send(events: Path, listener: str, *, is_awaited: bool) -> None:
    """Send the events of the last run.

    Parameters
    ----------
    is_awaited
        Whether the listener waits for them, as for those of a preview that succeeded: then a failure to send is one of
        the run. Else it must not hide how the run ended.
    """
    from workbench.cli.engine_run import last_run  # noqa: PLC0415

    try:
        event_listener.send(last_run(events.read_bytes()) if events.exists() else b"", listener)
    except (UserError, OSError) as error:
        if is_awaited:
            raise UserError(str(error)) from None
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
    if before not in ([], [APP], [_ORGANISATION, APP]):
        raise UserError(
            f"--stack: {shown(given)}: use {name!r}, the project is always {APP}.",
            "For an organization of Pulumi Cloud set PULUMI_DEFAULT_ORGANIZATION.",
        )
    return name


def _engine(arguments: Sequence[str]) -> NoReturn:
    """Become the engine."""
    with progress(errors) as report:
        toolchain = ensure(cloud.TOOLS, hermetic=True, progress=report)
    # A stack file without the engine's settings stays as it is: `stack history` would write a new salt into it.
    variables = {**callers(), **environment(toolchain, local=False), **SECRETS_AS_IN_THE_STATE}
    os.execve(toolchain.pulumi, [str(toolchain.pulumi), *arguments], variables)  # noqa: S606 no shell between the two
