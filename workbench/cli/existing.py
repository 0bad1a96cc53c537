"""Commands on clusters that somebody else built."""

import os
from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer
import yaml

from components.contract.environments import ClusterKind
from workbench.cli.console import PLAIN, errors, out
from workbench.existing import identify as identity_of
from workbench.existing.cluster import api_of
from workbench.existing.live import nodes
from workbench.existing.objects import LiveObject

app = typer.Typer(help="Clusters that somebody else built.", no_args_is_help=True)

_SHOWN_MAX: Final = 20
"""Labels that are shown of a cluster's nodes."""


@app.callback()
def _group() -> None:
    """Keep `identify` a command of its own though it is the only one."""


@app.command()
def identify(
    context: Annotated[
        str, typer.Argument(help="As `kubectl config get-contexts -o name` prints it.", metavar="CONTEXT")
    ],
    *,
    kubeconfig: Annotated[
        str | None, typer.Option(help="Path. Default: that of KUBECONFIG, else ~/.kube/config.", metavar="FILE")
    ] = None,
) -> None:
    """Print what a stack file says about the cluster of CONTEXT, and the labels that tell its nodes apart.

    It reads, and changes nothing.
    """
    api = api_of(context, kubeconfig, os.environ)
    identity = identity_of(api)
    found = {"kind": ClusterKind.EXISTING.value, "context": context, "clusterId": identity.id}
    if kubeconfig:
        found["kubeconfig"] = _portable(Path(kubeconfig).expanduser().absolute())
    out.print(yaml.safe_dump({"cluster": found}, sort_keys=False), end="", **PLAIN)
    if identity.stack:
        errors.print(f"note: the stack '{identity.stack}' works in this cluster.", **PLAIN)
    listed = nodes(api)
    telling = _telling(listed)[:_SHOWN_MAX]
    errors.print(_heading(len(listed), is_followed=bool(telling)), **PLAIN)
    for label, number in telling:
        errors.print(f"  {label}  ({number} of {len(listed)})", **PLAIN)


def _heading(count: int, *, is_followed: bool) -> str:
    if count < 2:  # noqa: PLR2004
        return "1 node." if count else "No nodes yet: a stack needs some, chosen by their labels."
    return f"{count} nodes. {'Labels that some have and others lack:' if is_followed else 'No label tells them apart.'}"


def _portable(path: Path) -> str:
    """Return a path as a stack file should have it, which colleagues share: without whose home it is in."""
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)


def _telling(listed: list[LiveObject]) -> list[tuple[str, int]]:
    """Return the labels that more than one node has and not all have, or one of several; the most common first."""
    counted = Counter(f"{key}: {value}" for node in listed for key, value in node.labels.items() if value != node.name)
    return [(label, number) for label, number in counted.most_common() if number < len(listed)]
