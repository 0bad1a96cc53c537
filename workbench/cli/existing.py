"""Commands on existing clusters."""

import os
from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer
import yaml

from components.contract.environments import ClusterKind
from workbench.cli.console import PLAIN, errors, out
from workbench.engine.live_objects import LiveObject
from workbench.existing import identify as identity_of
from workbench.existing.cluster import api_of
from workbench.existing.live import nodes

app = typer.Typer(help="Identify existing clusters.", no_args_is_help=True)

_SHOWN_MAX: Final = 20
"""Most labels of nodes to show."""


@app.callback()
def _group() -> None:
    """Keep `identify` a subcommand although it is the only one."""


@app.command()
def identify(
    context: Annotated[
        str, typer.Argument(help="A context that `kubectl config get-contexts -o name` lists.", metavar="CONTEXT")
    ],
    *,
    kubeconfig: Annotated[
        str | None,
        typer.Option(help="Default: the file in KUBECONFIG, else ~/.kube/config.", metavar="FILE"),
    ] = None,
) -> None:
    """Print the stack file's entry for the cluster of a context.

    Also prints the node labels that differ between nodes, for the pools' selectors. Reads only, changes nothing.
    """
    api = api_of(context, kubeconfig, os.environ)
    identity = identity_of(api)
    found = {"kind": ClusterKind.EXISTING.value, "context": context, "clusterId": identity.id}
    if kubeconfig:
        found["kubeconfig"] = _portable(Path(kubeconfig).expanduser().absolute())
    out.print(yaml.safe_dump({"cluster": found}, sort_keys=False), end="", **PLAIN)
    if identity.stack:
        errors.print(f"note: this cluster belongs to the stack '{identity.stack}'.", **PLAIN)
    listed = nodes(api)
    differing = _differing(listed)[:_SHOWN_MAX]
    errors.print(_heading(len(listed), is_followed=bool(differing)), **PLAIN)
    for label, number in differing:
        errors.print(f"  {label}  ({number} of {len(listed)})", **PLAIN)


def _heading(count: int, *, is_followed: bool) -> str:
    if count < 2:  # noqa: PLR2004
        return "1 node." if count else "No nodes: a stack needs nodes, selected by their labels."
    return f"{count} nodes. {'Labels that only some of them have:' if is_followed else 'All have the same labels.'}"


def _portable(path: Path) -> str:
    """Return a path for a shared stack file: with ~ in place of the user's home."""
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)


def _differing(listed: list[LiveObject]) -> list[tuple[str, int]]:
    """Return the labels that some but not all nodes have, the most common first."""
    counted = Counter(f"{key}: {value}" for node in listed for key, value in node.labels.items() if value != node.name)
    return [(label, number) for label, number in counted.most_common() if number < len(listed)]
