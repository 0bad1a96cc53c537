"""All commands, and the one place where a user's mistake becomes a message."""

import os
import sys

import typer

from workbench.cli import config, local, stack, toolchain
from workbench.cli.console import errors
from workbench.cli.doctor import doctor
from workbench.errors import UserError

app = typer.Typer(
    name="igz-clusters",
    help="Build and guard the Kubernetes clusters that Iguazio and MLRun run on.",
    epilog="Start with `igz-clusters up`: it makes a cluster on this machine, with no cloud account.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(stack.up)
app.command()(stack.preview)
app.command()(stack.destroy)
app.command()(stack.status)
app.command()(stack.env)
app.command()(doctor)
app.add_typer(config.app, name="config")
app.add_typer(local.app, name="local")
app.add_typer(toolchain.app, name="toolchain")


def main() -> None:
    """Run the command line; mistakes of the user end with exit code 1 and no traceback."""
    os.umask(0o077)  # keys, state and logs are their owner's alone, whatever the shell's default
    try:
        app()
    except UserError as error:
        errors.print("error:", style="bold red", end=" ")
        errors.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
