"""Texts of stack files for tests, and bad files as they lie on the disk.

A file ``tests/workbench/stacks/stack_files/<subject>.yaml`` maps names, which are the tests' ids, to bad files::

    two-colons-in-one-line:
      lines: {4: '    environment: dev: true'}
      problems:
      - "4: no valid YAML: a second ': ' in one line; quote the text, or fix the indentation"

``lines`` replaces lines of ``VALID`` by their number, with several lines if the text has some; ``null`` drops one.
``after`` is appended to ``VALID``, so its first line is line 11. ``text`` is a whole file instead. ``encoding`` is how
the text becomes bytes, UTF-8 by default. ``problems`` lists every message in full, with its line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from support.stack_cases import CaseFileError, entries_of

FOLDER: Final = Path(__file__).parent.parent / "workbench" / "stacks" / "stack_files"

VALID = """\
config:
  igz-clusters:stack:
    schemaVersion: 1
    environment: dev
    cluster: { kind: local }
    pools:
      initial:
        role: initial
        size: { min: 2, max: 2 }
        instanceTypes: [m6i.2xlarge]
"""
"""The smallest stack file; its last mapping is ``pools``, so that rows of pools can be appended."""

_WHOLE: Final = {"text", "encoding", "problems"}
_CHANGED: Final = {"lines", "after", "encoding", "problems"}


@dataclass(frozen=True)
class BadFile:
    """A stack file, and the messages that answer it."""

    name: str
    content: bytes
    problems: tuple[str, ...]


def bad_files(folder: Path = FOLDER) -> list[BadFile]:
    """Return the bad files of all subjects; raise ``CaseFileError`` for the first mistake in them."""
    return [
        _bad_file(f"{file.name}: {name}", name, entry)
        for file in sorted(folder.glob("*.yaml"))
        for name, entry in entries_of(file).items()
    ]


def _bad_file(where: str, name: str, entry: Mapping[str, Any]) -> BadFile:
    if not (set(entry) <= _WHOLE or set(entry) <= _CHANGED):
        raise CaseFileError(f"{where}: has the keys {', '.join(entry)}; needs 'text', or 'lines' and 'after'")
    if not entry.get("problems"):
        raise CaseFileError(f"{where}: 'problems' must list at least one message")
    text = entry["text"] if "text" in entry else _changed(entry.get("lines", {})) + entry.get("after", "")
    return BadFile(name, text.encode(entry.get("encoding", "utf-8")), tuple(entry["problems"]))


def _changed(lines: Mapping[int, str | None]) -> str:
    numbered: dict[int, str | None] = {**dict(enumerate(VALID.splitlines(), 1)), **lines}
    return "".join(f"{line}\n" for _, line in sorted(numbered.items()) if line is not None)
