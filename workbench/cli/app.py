"""All commands, and the one place where a user's mistake becomes a message."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from workbench.cli.commands import SETTINGS, LazyGroup
from workbench.system.copying import discard, is_lost_terminal, unwritable
from workbench.system.errors import AskedToEnd, HungUp, UserError
from workbench.system.paths import APP, FOLDER_VARIABLE, problem_of

app = typer.Typer(
    name="igz-clusters",
    help="Build and guard the Kubernetes clusters that Iguazio and MLRun run on.",
    epilog="Start with `igz-clusters up`: it creates a cluster on this machine and needs no cloud account. "
    "`igz-clusters init DIR` creates a repository for clusters of your own. "
    "Exit codes: 0 success, 1 failed or refused, 2 wrong usage, 3 no verdict or nothing to look at, 130 interrupted; "
    "docs/exit-codes.md has the details.",
    no_args_is_help=True,
    cls=LazyGroup,
    **SETTINGS,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_asked: bool) -> None:  # noqa: FBT001 the shape of a callback
    if is_asked:
        from importlib.metadata import version as version_of  # noqa: PLC0415 - no other command needs it

        from workbench.cli.console import PLAIN, out  # noqa: PLC0415 - nor rich, as long as nothing is printed

        out.print(f"{APP} {version_of(APP)}", **PLAIN)
        raise typer.Exit


@app.callback()
def choose_folder(
    *,
    directory: Annotated[
        Path | None,
        typer.Option(
            "-C",
            "--directory",
            metavar="DIR",
            envvar=FOLDER_VARIABLE,
            help="Folder of the stack files. Default: the current one if it holds any, else this checkout.",
        ),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Pass the folder on to everything that looks for stack files."""
    if directory:
        os.environ[FOLDER_VARIABLE] = str(directory.resolve())


def main() -> None:
    """Run the command line; a user's mistake ends without a traceback."""
    os.umask(0o077)  # only the owner may read keys, state and logs, whatever the shell's default is
    raise_when_asked_to_end()
    if not sys.stdin:  # closed by the caller; programs that inherit it expect one too
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 open until the end
    try:
        _require_folders()
        _flush()  # refuses a closed one before the command does anything
        try:
            app()
        finally:
            _flush()
    except UserError as error:
        _refuse(error)
    except OSError as error:
        if not (problem := problem_of(error)):
            raise
        _refuse(problem)


def raise_when_asked_to_end() -> None:
    """Let signals that ask this process to end raise ``AskedToEnd``, except those that its caller let it ignore."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
            signal.signal(number, _end)


def _require_folders() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        raise UserError("The working folder no longer exists.", "Change to an existing folder: `cd`.") from None
    if (place := os.environ.get("TMPDIR")) and not os.access(place, os.W_OK | os.X_OK):
        raise UserError(f"TMPDIR: {place} is not a folder in which you can write.", "Create it, or run: unset TMPDIR")


def _flush() -> None:
    """Flush standard output; the interpreter would do so at exit, but ignore a failure."""
    if not sys.stdout:  # closed by the caller
        raise UserError("Cannot write to standard output: it is closed.", "Write to a file or to /dev/null.")
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
        raise KeyboardInterrupt from None
    except OSError as error:
        if not is_lost_terminal(sys.stdout, error):
            raise unwritable(error) from None


def _end(number: int, _frame: object) -> NoReturn:
    if number == signal.SIGHUP:
        # The end of a terminal sends it twice, by the shell and by the kernel; the second must not disturb the end.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        raise HungUp
    raise AskedToEnd


def _refuse(error: UserError) -> NoReturn:
    # Imported here: the list of commands needs neither.
    from infra.config.problems import printable  # noqa: PLC0415
    from workbench.cli.console import errors  # noqa: PLC0415

    errors.print("error:", style="bold red", end=" ")
    # The message may quote untrusted text: a file of a change, a server's answer.
    shown = "\n".join(printable(line, len(line)) for line in str(error).split("\n"))
    errors.print(shown, markup=False, highlight=False, soft_wrap=True)
    sys.exit(error.exit_code)
