"""Commands on local control planes."""

import json
from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer
from rich.table import Table

from workbench import stacks
from workbench.cli.console import PLAIN, agree, errors, out, row_of_fields
from workbench.engine.lock import stack_lock
from workbench.local import Instance, instances
from workbench.system.errors import UserError, all_of
from workbench.toolchain import ensure
from workbench.toolchain.console import progress

app = typer.Typer(
    help="Start, stop and show the control planes on this machine.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(help="Name of the control plane; the same as its stack's name.", metavar="NAME")]


_LOCAL = "`igz-clusters local list` lists the control planes, `igz-clusters up` creates one for a local stack."


def _existing(name: str) -> Instance:
    if name not in instances():
        known = ", ".join(instances()) or "none"
        raise UserError(f"There is no control plane '{name}'.", f"Known control planes: {known}.")
    return Instance(name)


@app.command()
def start(
    name: Name = "local",
    *,
    bare: Annotated[bool, typer.Option("--bare", help="Create a control plane that belongs to no stack.")] = False,
) -> None:
    """Start the control plane of a local stack.

    Does nothing if it runs already.
    """
    if not bare and name not in instances() and not (found := stacks.find(name)).is_local:
        kind = found.config.cluster.kind
        raise UserError(f"'{name}' is a stack on {kind}: it has no control plane on this machine.", _LOCAL)
    with progress(errors) as report:
        toolchain = ensure(progress=report)
    started = Instance(name).start(toolchain, alone=partial(stack_lock, name, "local start"))
    out.print(f"'{name}' {'started' if started else 'is already running'}.")


@app.command()
def stop(
    name: Name = "local",
    *,
    all_: Annotated[bool, typer.Option("--all", help="Stop every control plane of this user.")] = False,
    in_folder: Annotated[
        bool, typer.Option("--stacks", help="Stop the control planes of all stacks in the folder of the stack files.")
    ] = False,
) -> None:
    """Stop a control plane and keep its data.

    Refused while a run changes its stack.
    """
    of_the_folder = [each for each in instances() if each in stacks.stack_files()]
    names = instances() if all_ else of_the_folder if in_folder else [name]
    all_of(*(partial(_stop, each) for each in names))
    if not names:
        out.print("No control plane to stop.")


def _stop(name: str) -> None:
    instance = _existing(name)
    with stack_lock(name, "local stop"):
        stopped = instance.stop()
    out.print(f"'{name}' {'stopped; its data is kept' if stopped else 'was not running'}.", **PLAIN)


@app.command()
def status(
    name: Name = "local", *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False
) -> None:
    """Show whether a control plane and its parts run.

    Exit code 3 if it does not run.
    """
    state = _existing(name).status()
    if as_json:
        out.print_json(json.dumps(asdict(state), default=str))
    else:
        table = Table(title=f"{name}: {'ready' if state.ready else 'running' if state.running else 'stopped'}")
        for heading in ("part", "state", "pid", "restarts"):
            table.add_column(heading)
        for part in state.components:
            table.add_row(part.name, part.state, str(part.pid or ""), str(part.restarts))
        out.print(table)
        for each in state.suspended:
            out.print(f"Suspended by a signal: {each}. `kill -CONT {each.split()[0]}` continues it.", **PLAIN)
    raise typer.Exit(0 if state.running else 3)


@app.command(name="list")
def list_() -> None:
    """List all control planes of this user."""
    for name in instances():
        row_of_fields([name, "running" if Instance(name).status().running else "stopped"])


@app.command()
def kubeconfig(name: Name = "local") -> None:
    """Print the path of a control plane's kubeconfig.

    For example: export KUBECONFIG=$(igz-clusters local kubeconfig)
    """
    out.print(str(_existing(name).kubeconfig), soft_wrap=True, highlight=False)


@app.command()
def logs(
    component: Annotated[str, typer.Argument(help="A component such as kube-apiserver or cluster-autoscaler.")],
    name: Annotated[str, typer.Option("--name", help="Name of the control plane.")] = "local",
) -> None:
    """Print a part's log."""
    out.print(_existing(name).logs(component).read_text(), markup=False, highlight=False, soft_wrap=True)


@app.command()
def delete(name: Name = "local", *, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Stop a control plane and delete its data.

    Refused while a run changes its stack.
    """
    instance = _existing(name)
    if not yes:
        agree(f"Delete '{name}' and everything in it?")
    with stack_lock(name, "local delete"):
        instance.delete()
    out.print(f"'{name}' deleted.")
