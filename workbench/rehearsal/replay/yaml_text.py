"""Writes a replayed scenario as a scenario file."""

from collections.abc import Mapping
from typing import Any, Final

import yaml

from components.stack_files import yaml_source
from workbench.rehearsal.replay.files import Replayed
from workbench.rehearsal.scenario.durations import duration_text
from workbench.system.errors import UserError

_DURATIONS: Final = frozenset({"lasts", "at", "every", "stays", "runsFor", "time", "notice"})
"""Keys whose numbers are seconds."""

_WIDTH: Final = 118


def as_yaml(replayed: Replayed) -> str:
    """Return the scenario file of a replay, with its notes as comments; reading it gives an equal scenario.

    Raises
    ------
    UserError
        It is larger than scenario files may be.
    """
    document = _plain(replayed.scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    notes = "".join(f"# {note}\n" for note in replayed.notes)
    text = notes + yaml.safe_dump(document, sort_keys=False, width=_WIDTH, allow_unicode=True)
    try:
        is_readable = len(text.encode()) <= yaml_source.BYTES_MAX and yaml_source.parse(text) is not None
    except yaml_source.SourceError:
        is_readable = False
    if not is_readable:
        arrivals = len(replayed.scenario.arrivals)
        raise UserError(
            f"The scenario of {replayed.name} is too large for a file: it has {arrivals} arrivals, "
            f"and scenario files have at most {yaml_source.VALUES_MAX} values.",
            "Choose a part of it with --from and --to, or replay it without writing it.",
        )
    return text


def _plain(value: Any) -> Any:
    """Return a value with durations as people write them."""
    if isinstance(value, Mapping):
        return {
            key: duration_text(each) if key in _DURATIONS and isinstance(each, int) else _plain(each)
            for key, each in value.items()
        }
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
