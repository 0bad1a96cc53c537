"""`igz-clusters init`: a repository of the user's own."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from components.contract.environments import ClusterKind
from workbench import starter
from workbench.cli.console import errors, out
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

KINDS = ", ".join(kind.value for kind in starter.SHAPES)


def init(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.", metavar="DIR")],
    *,
    cluster: Annotated[str, typer.Option(help=f"Where the clusters live: {KINDS}.")] = ClusterKind.LOCAL.value,
    name: Annotated[
        str | None, typer.Option(help="First part of the stacks' names, NAME-dev and NAME-prod. Default: the folder's.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where the repository gets this package: what `git fetch` takes. Default: this checkout's remote"
            " 'origin', else this checkout itself.",
            metavar="URL",
        ),
    ] = None,
) -> None:
    """Make a repository of your own: choices only, with this package pinned to the release that you run.

    It holds a development and a production stack file, a Makefile, workflows that judge pull requests, and a README.
    To start from another release, check that one out here first.
    """
    if cluster not in set(starter.SHAPES):
        raise UserError(
            f"--cluster: {cluster!r} is no kind of cluster that a repository can start from.",
            f"Allowed: {KINDS}. A stack file of a cluster that is there already lies beside theirs: docs/existing.md.",
        )
    kind, folder = ClusterKind(cluster), folder.resolve()
    name = name or folder.name
    stacks = starter.stack_names(name)
    pin = starter.pin_of(PROJECT_ROOT, source)
    starter.create(folder, name, kind, pin)
    for note in pin.notes:
        errors.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    yours = f'  # replace what is marked "yours"; docs/{kind.value}.md tells the rest\n'
    first = "" if kind is ClusterKind.LOCAL else yours
    out.print(
        f"""\
{folder} has the stacks {" and ".join(stacks.values())}. It uses igz-clusters {pin} from {pin.source}.
Nothing is committed yet. Next:

  cd {shlex.quote(str(folder))}
{first}  make up      # gets the package, builds its tools once, and brings {next(iter(stacks.values()))} up
  make check   # what a pull request runs: every stack is validated and previewed, with the policies""",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
