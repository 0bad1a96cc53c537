"""All commands, and the one place where a user's mistake becomes a message."""

import errno
import os
import signal
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from infra.config.problems import printable
from workbench import stacks
from workbench.cli import config, existing, github, local, policy, stack, toolchain
from workbench.cli.check import check
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.doctor import doctor
from workbench.cli.drift import drift
from workbench.cli.init import init
from workbench.cli.recover import recover
from workbench.cli.report import report
from workbench.cli.review import review
from workbench.system.errors import AskedToEnd, UserError
from workbench.system.paths import APP, unusable

app = typer.Typer(
    name="igz-clusters",
    help="Build and guard the Kubernetes clusters that Iguazio and MLRun run on.",
    epilog="Start with `igz-clusters up`: it creates a cluster on this machine and needs no cloud account. "
    "`igz-clusters init DIR` creates a repository for clusters of your own. "
    "Exit codes: 0 success, 1 failed or refused, 2 wrong usage, 3 no verdict or nothing to look at, 130 interrupted; "
    "docs/exit-codes.md has the details.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # wraps every paragraph once and shows flags without a type
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(init)
app.command()(check)
app.command()(stack.up)
app.command()(stack.preview)
app.command()(stack.destroy)
app.command()(drift)
app.command()(stack.status)
app.command()(stack.env)
app.command()(review)
app.command()(report)
app.command()(recover)
app.command()(doctor)
app.command()(github.comment)
app.command("drift-issue")(github.drift_issue)
app.add_typer(config.app, name="config")
app.add_typer(existing.app, name="existing")
app.add_typer(local.app, name="local")
app.add_typer(policy.app, name="policy")
app.add_typer(toolchain.app, name="toolchain")


def _show_version(is_asked: bool) -> None:  # noqa: FBT001 the shape of a callback
    if is_asked:
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
            envvar=stacks.FOLDER_VARIABLE,
            help="Folder of the stack files. Default: the current one if it holds any, else this checkout.",
        ),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Pass the folder on to everything that looks for stack files."""
    if directory:
        os.environ[stacks.FOLDER_VARIABLE] = str(directory.resolve())


def main() -> None:
    """Run the command line; a user's mistake ends with exit code 1 and without a traceback."""
    os.umask(0o077)  # only the owner may read keys, state and logs, whatever the shell's default is
    for asked_to_end in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(asked_to_end, _end)
    try:
        app()
    except UserError as error:
        _refuse(error)
    except OSError as error:
        if not error.filename and error.errno != errno.ENOSPC:
            raise
        _refuse(unusable(error))


def _end(_number: int, _frame: object) -> NoReturn:
    raise AskedToEnd


def _refuse(error: UserError) -> NoReturn:
    errors.print("error:", style="bold red", end=" ")
    # The message may quote untrusted text: a file of a change, a server's answer.
    shown = "\n".join(printable(line, len(line)) for line in str(error).split("\n"))
    errors.print(shown, markup=False, highlight=False, soft_wrap=True)
    sys.exit(1)
