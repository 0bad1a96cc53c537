"""Commands on a stack."""

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from components.contract.labels import LabelKey
from infra.config import StackConfig
from workbench import stacks, summary
from workbench.cli.console import errors, out
from workbench.control_plane import Instance
from workbench.engine import Session, open_session, render
from workbench.errors import UserError
from workbench.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure
from workbench.toolchain.console import progress

StackName = Annotated[
    str,
    typer.Argument(help="Stack file Pulumi.STACK.yaml, at the top level or in examples/STACK.", metavar="STACK"),
]
Hermetic = Annotated[bool, typer.Option("--hermetic", help="Use the pinned engine even if `pulumi` is on PATH.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, and nothing else, to standard output.")]


@dataclass(frozen=True)
class _Ready:
    """A stack whose tools are built and whose cluster is up."""

    stack: stacks.Stack
    instance: Instance
    toolchain: Toolchain
    session: Session

    @property
    def looking(self) -> tuple[StackConfig, Path, Path]:
        """What it takes to ask the cluster about its pools."""
        return self.stack.config, self.toolchain.path("kubectl"), self.instance.kubeconfig


def _prepare(name: str, *, hermetic: bool = False) -> _Ready:
    stack = stacks.find(name)  # first: a mistake in the stack file must not cost a build
    with progress(errors) as report:
        toolchain = ensure(hermetic=hermetic, progress=report)
    instance = Instance(stack.name)
    if instance.start(toolchain):
        errors.print(f"Local control plane '{instance.name}' started.")
    return _Ready(stack, instance, toolchain, open_session(stack, toolchain, instance.kubeconfig))


def up(stack: StackName = "local", *, hermetic: Hermetic = False) -> None:
    """Create or update a stack, with the policy packs attached.

    Builds the tools if they are missing, starts the local control plane, and shows the pools at the end. Running it
    again changes nothing.
    """
    ready = _prepare(stack, hermetic=hermetic)
    if code := ready.session.run("up", "--yes", "--suppress-outputs"):
        raise typer.Exit(code)
    summary.show(summary.settled_rows(*ready.looking), as_json=False, console=out)
    _next_steps(ready)


def preview(
    stack: StackName = "local",
    *,
    hermetic: Hermetic = False,
    as_json: AsJson = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show every changed property.")] = False,
    offline: Annotated[
        bool, typer.Option("--render", help="Plan from nothing: no account, cluster, state or network is needed.")
    ] = False,
) -> None:
    """Show what `up` would change, with the policy packs attached; change nothing."""
    options = [*(["--json"] if as_json else []), *(["--diff"] if diff else [])]
    if offline:
        raise typer.Exit(_render(stack, options, hermetic=hermetic))
    ready = _prepare(stack, hermetic=hermetic)
    raise typer.Exit(ready.session.run("preview", *options))


def _render(name: str, options: list[str], *, hermetic: bool) -> int:
    stack = stacks.find(name)  # first: a mistake in the stack file must not cost a build
    with progress(errors) as report:
        toolchain = ensure(render.TOOLS, hermetic=hermetic, progress=report)
    errors.print(render.LABEL, highlight=False, soft_wrap=True)
    with render.rendering(stack, toolchain) as session:
        code = session.run("preview", *options)
        tally = session.tally
    for line in tally.lines:
        errors.print(line, markup=False, highlight=False, soft_wrap=True)
    return code or (1 if tally.refused else 0)


def destroy(
    stack: StackName = "local",
    *,
    hermetic: Hermetic = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete everything that a stack made. The local control plane keeps running."""
    ready = _prepare(stack, hermetic=hermetic)
    raise typer.Exit(ready.session.run("destroy", *(["--yes"] if yes else [])))


def status(stack: StackName = "local", *, as_json: AsJson = False) -> None:
    """Show the pools of a stack with their sizes now."""
    found = stacks.find(stack)
    instance = Instance(found.name)
    if not instance.status().running:
        raise UserError(f"The control plane '{instance.name}' is not running.", f"`igz-clusters up {stack}` starts it.")
    rows = summary.pool_rows(found.config, ensure(["kubectl"]).path("kubectl"), instance.kubeconfig)
    summary.show(rows, as_json=as_json, console=out)


def env(stack: StackName = "local", *, hermetic: Hermetic = False) -> None:
    """Print the exports with which plain `pulumi` and `kubectl` work on a stack: eval "$(igz-clusters env)".

    Run it again after you edited the stack file.
    """
    ready = _prepare(stack, hermetic=hermetic)
    exports = {**ready.session.environment, "KUBECONFIG": str(ready.instance.kubeconfig)}
    for name, value in exports.items():
        out.print(f"export {name}={shlex.quote(value)}", markup=False, highlight=False, soft_wrap=True)


def _next_steps(ready: _Ready) -> None:
    name = "" if ready.stack.name == "local" else f" {ready.stack.name}"
    file = ready.stack.file.relative_to(PROJECT_ROOT)
    kubectl, command = _shell(ready.toolchain.path("kubectl")), _own_command()
    out.print(
        f"""
  look    {kubectl} --kubeconfig={_shell(ready.instance.kubeconfig)} get nodes -L {LabelKey.POOL}
          {command} status{name}
  change  edit {file}, then {command} preview{name}, {command} up{name}
  stop    {command} local stop {ready.instance.name}   (the data stays; up brings the same cluster back)
  remove  {command} destroy{name}""",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _own_command() -> str:
    """Return this command as it can be typed in the shell that started it."""
    return "igz-clusters" if shutil.which("igz-clusters") else _shell(Path(os.path.relpath(sys.argv[0])))


def _shell(path: Path) -> str:
    return shlex.quote(str(path))
