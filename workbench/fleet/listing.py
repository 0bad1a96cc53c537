"""The stacks of a folder and of a backend, one row each."""

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

from workbench.fleet.backend import Known
from workbench.fleet.file import Plan
from workbench.fleet.record import Run
from workbench.fleet.verb import Result, Verb, words
from workbench.stacks import Stack


def rows(
    plan: Plan, found: Mapping[str, Stack], runs: Iterable[Run], known: Mapping[str, Known] | None
) -> list[dict[str, Any]]:
    """Return a row for each stack, in alphabetical order.

    Parameters
    ----------
    plan
        The waves.
    found
        The stacks that have a file.
    runs
        The runs on this machine, in any order.
    known
        What backends know; added to the rows, with rows for stacks without a file. Default: None, nothing is added.
    """
    waves = {name: wave.name for wave in plan.waves for name in wave.stacks}
    last, releases = _last_results(runs)
    return [
        _row(name, found.get(name))
        | {"wave": waves.get(name), "last": last.get(name), "release": releases.get(name)}
        | _recorded(name, known)
        for name in sorted(found.keys() | (known or {}).keys())
    ]


def _row(name: str, stack: Stack | None) -> dict[str, Any]:
    cluster = stack.config.cluster if stack else None
    return {
        "stack": name,
        "file": str(stack.file) if stack else None,
        "kind": cluster.kind if cluster else None,
        "environment": stack.config.environment.value if stack else None,
        "version": getattr(cluster, "version", None),
    }


def _recorded(name: str, known: Mapping[str, Known] | None) -> dict[str, Any]:
    if known is None:
        return {}
    each = known.get(name) or Known(name)
    return {
        "updated": each.updated.isoformat(timespec="seconds") if each.updated else None,
        "resources": each.resources,
        "isChanging": each.is_changing,
    }


def _last_results(runs: Iterable[Run]) -> tuple[dict[str, str], dict[str, str]]:
    """Return by stack how its last command in a run ended, and the release that last updated it."""
    last, releases = dict[str, str](), dict[str, str]()
    ended = [(entry.ended, run.release, entry) for run in runs for entry in run.entries if entry.ended]
    for _, release, entry in sorted(ended, key=itemgetter(0)):
        last[entry.stack] = f"{entry.verb}: {words(entry.verb, entry.result)}"
        if (entry.verb, entry.result) == (Verb.UP, Result.OK):
            releases[entry.stack] = release
    return last, releases
