"""Sections of ``CHANGELOG.md``: https://keepachangelog.com/en/1.1.0/."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

UNRELEASED: Final = "Unreleased"

_HEADING: Final = re.compile(r"^## \[([^\]]+)\](?: - (\S+))?\n", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """One version of the changelog, or what is unreleased."""

    name: str
    date: str
    """As given; empty if there is none."""
    text: str


def sections(text: str) -> dict[str, Section]:
    """Return the sections of a changelog by version, newest first."""
    parts = _HEADING.split(text)[1:]
    found = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {name: Section(name, day or "", body.strip()) for name, day, body in found}


def problems(text: str, version: str) -> Iterator[str]:
    """Yield what keeps a changelog from describing the release of a version."""
    found = sections(text)
    if UNRELEASED in found and found[UNRELEASED].text:
        yield f"CHANGELOG.md: [{UNRELEASED}] is not empty: move it below `## [{version}] - YYYY-MM-DD`"
    if not (section := found.get(version)):
        yield f"CHANGELOG.md: no section `## [{version}] - YYYY-MM-DD`"
        return
    if next(name for name in found if name != UNRELEASED) != version:
        yield f"CHANGELOG.md: [{version}] is not the newest version"
    if not section.text:
        yield f"CHANGELOG.md: [{version}] is empty"
    try:
        date.fromisoformat(section.date)
    except ValueError:
        yield f"CHANGELOG.md: [{version}] needs its date, as in `## [{version}] - 2026-01-31` (given: {section.date!r})"
