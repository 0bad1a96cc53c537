"""`igz-clusters init`: create a repository for the user's own clusters."""

import shlex
from importlib.metadata import distribution
from pathlib import Path
from typing import Annotated, Final

import typer

from components.contract.environments import ClusterKind
from workbench import starter
from workbench.cli.console import PLAIN, errors, out
from workbench.system.errors import UserError
from workbench.system.installation import is_from_wheel
from workbench.system.paths import APP, PROJECT_ROOT

KINDS = ", ".join(kind.value for kind in starter.SHAPES)


def init(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.", metavar="DIR")],
    *,
    cluster: Annotated[str, typer.Option(help=f"Kind of the clusters: {KINDS}.")] = ClusterKind.LOCAL.value,
    name: Annotated[
        str | None,
        typer.Option(help="First part of the stack names NAME-dev and NAME-prod. Default: the name of DIR."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Git address or folder from which the repository fetches this package. Default: this checkout's remote"
            " 'origin', else this checkout; the address from which pip or uv built this package.",
            metavar="URL",
        ),
    ] = None,
) -> None:
    """Create a repository for clusters of your own.

    It holds choices only, and pins this package to the release that you run: a development and a production stack
    file, a Makefile, workflows that review pull requests, and a README. To start from another release, check out that
    release of the package first.
    """
    if cluster not in set(starter.SHAPES):
        raise UserError(f"--cluster: unsupported cluster kind {cluster!r}.", f"Allowed: {KINDS}.")
    kind, folder = ClusterKind(cluster), folder.resolve()
    name = name or folder.name
    stacks = starter.stack_names(name)
    pin = starter.pin_of_wheel(distribution(APP), source) if is_from_wheel() else starter.pin_of(PROJECT_ROOT, source)
    starter.create(folder, name, kind, pin)
    notes = [*pin.notes]
    if outer := starter.outer_repository(folder):
        notes.append(f"{folder} is inside the Git repository {outer}: list it in that repository's .gitignore.")
    for note in notes:
        errors.print(f"note: {note}", **PLAIN)
    first, _ = stacks.values()
    out.print(
        f"""\
{folder} has the stacks {" and ".join(stacks.values())}. It uses igz-clusters {pin} from {pin.source}.
Nothing is committed yet. Next:

  cd {shlex.quote(str(folder))}
{_steps(kind, first)}""",
        **PLAIN,
    )


_REVIEW_STEPS: Final = (
    "  make check   # checks every stack file by all policies, in seconds; needs no account, starts nothing",
    '  git add --all && git commit --quiet --message "Start"',
    "  make ci      # what a pull request runs: reviews the last commit against main",
)
_LAST_STEPS: Final = (
    "  # then log in and create the stack, as .igz-clusters/docs/{kind}.md explains",
    "  make up      # creates {stack}",
)


def _steps(kind: ClusterKind, stack: str) -> str:
    """Return the commands that follow, one line each."""
    local = kind is ClusterKind.LOCAL
    first = "  make up      # fetches the package, builds its tools once, creates {stack}"
    lines = (
        [first, *_REVIEW_STEPS] if local else ['  # replace the values marked "yours"', *_REVIEW_STEPS, *_LAST_STEPS]
    )
    return "\n".join(lines).format(stack=stack, kind=kind.value)
