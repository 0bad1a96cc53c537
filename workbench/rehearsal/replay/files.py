"""Reads a file of what happened on another cluster as a scenario."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from workbench.rehearsal.replay import audit, events, pods, runs
from workbench.rehearsal.replay.envelopes import unwrap
from workbench.rehearsal.replay.mapping import scenario_of
from workbench.rehearsal.replay.observed import History
from workbench.rehearsal.replay.part import Part
from workbench.rehearsal.replay.problems import ReplayError, UnfitError
from workbench.rehearsal.replay.stream import Source
from workbench.rehearsal.scenario.model import Scenario

FORMATS: Final = (
    "Give an audit log of Kubernetes, events or pods as JSON of kubectl, or runs of MLRun as JSON or CSV; "
    "docs/rehearsal.md shows how to export each."
)
_LOOK: Final = 1000
"""Entries that are read to recognise a format: logs of clouds mix those of several components."""

_NAME_MAX: Final = 60
_Reader = Callable[[Source, History], None]


@dataclass(frozen=True)
class Replayed:
    """A scenario of what happened elsewhere.

    Parameters
    ----------
    name
        Name of the scenario, from that of the file.
    scenario
        The scenario.
    notes
        What its user must know, as sentences: what is left out, assumed and derived.
    """

    name: str
    scenario: Scenario
    notes: tuple[str, ...]


def read(path: Path, part: Part | None = None) -> Replayed:
    """Return the scenario of a file in any of the formats, compressed with gzip or not.

    Parameters
    ----------
    path
        The file.
    part
        The part of its time that is replayed. Default: all of it.

    Raises
    ------
    ReplayError
        It cannot be read, is of no known format, is damaged, or is too large for a scenario.
    UserError
        The part is outside of the file.
    """
    source, history = Source(path), History(part or Part())
    reader = _reader(source)
    source.notes.clear()
    name = _name(path)
    try:
        reader(source, history)
        history.notes[:0] = source.notes
        scenario, notes = scenario_of(history, name)
    except UnfitError as error:
        raise ReplayError(path, error.problem, error.hint) from None
    except (AttributeError, KeyError, TypeError):
        raise ReplayError(
            path, "an entry has a value of another type than its format says.", "Export it again.", line=source.line
        ) from None
    return Replayed(name, scenario, notes)


def require_known_format(path: Path) -> None:
    """Raise ``ReplayError`` if a file cannot be read or is of no known format; reads its beginning only."""
    _reader(Source(path))


def _reader(source: Source) -> _Reader:
    """Return the reader of the file's format.

    Raises
    ------
    ReplayError
        The format is unknown.
    """
    head = source.head()
    if not head.lstrip("\ufeff \t\r\n").startswith(("{", "[")) and not re.match(r"\s*\d{4}-\d\d-\d\dT\S+\s+\{", head):
        if runs.is_csv(head):
            return runs.read_csv
        columns = runs.columns_of(head)
        missing = [name for name in runs.COLUMNS if name not in columns]
        if len(missing) < len(runs.COLUMNS):
            raise ReplayError(
                source.path, f"the table lacks the columns {', '.join(missing)}.",
                "Export runs with mlrun.get_run_db().list_runs().to_df().to_csv().", line=1)  # fmt: skip
        raise ReplayError(source.path, "is neither JSON nor a table of MLRun's runs.", FORMATS)
    found = 0
    for entry in islice(source.entries(), _LOOK):
        for value in unwrap(entry.value):
            found += 1
            for is_of_format, reader in (
                (audit.is_audit, audit.read),
                (events.is_event, events.read),
                (runs.is_run, runs.read),
                (pods.is_pod, pods.read),
            ):
                if is_of_format(value):
                    return reader
    if not found:
        raise ReplayError(source.path, "has no entries that can be read.", FORMATS)
    raise ReplayError(source.path, "has JSON, but no audit events, events, pods or runs.", FORMATS)


def _name(path: Path) -> str:
    """Return the file's name without its endings, as names of scenarios are written."""
    stem = re.sub(r"(\.(json|jsonl|ndjson|log|csv|txt|gz))+$", "", path.name)
    return re.sub(r"[^a-z0-9]+", "-", stem.lower())[:_NAME_MAX].strip("-") or "replay"
