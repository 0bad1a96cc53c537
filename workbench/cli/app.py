"""All commands, and the one place where a user's mistake becomes a message."""

import errno
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from infra.config.problems import printable
from workbench import stacks
from workbench.cli import config, existing, github, local, policy, stack, toolchain
from workbench.cli.console import errors
from workbench.cli.doctor import doctor
from workbench.cli.drift import drift
from workbench.cli.init import init
from workbench.cli.recover import recover
from workbench.cli.report import report
from workbench.cli.review import review
from workbench.system.errors import AskedToEnd, UserError
from workbench.system.paths import unusable

app = typer.Typer(
    name="igz-clusters",
    help="Build and guard the Kubernetes clusters that Iguazio and MLRun run on.",
    epilog="Start with `igz-clusters up`: it makes a cluster on this machine, with no cloud account. "
    "For clusters of your own, `igz-clusters init DIR` makes a repository.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(init)
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


@app.callback()
def choose_folder(
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
) -> None:
    """Hand the folder on to everything that looks for stack files."""
    if directory:
        os.environ[stacks.FOLDER_VARIABLE] = str(directory.resolve())


def main() -> None:
    """Run the command line; mistakes of the user end with exit code 1 and no traceback."""
    os.umask(0o077)  # keys, state and logs are their owner's alone, whatever the shell's default
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
    # What it quotes may be anybody's: a file of a change, the answer of a server.
    shown = "\n".join(printable(line, len(line)) for line in str(error).split("\n"))
    errors.print(shown, markup=False, highlight=False, soft_wrap=True)
    sys.exit(1)
