"""What a report leaves out where room is short, in steps; each leaves out what those before it do."""

from enum import IntEnum
from typing import Final


class Folding(IntEnum):
    """A step. No step leaves out a replacement, a deletion or a danger."""

    NOTHING = 0

    VALUES = 1
    """Values of properties, before and after; which properties change is still said."""

    UPDATES = 2
    """Names and properties of what is created or updated: how many of a kind is said."""

    FIXES = 3
    """How findings are mended, and where to read on."""

    FINDINGS = 4
    """What is wrong with each resource: which rules speak, and how often, is said. Pools are counted."""

    NAMES = 5
    """All but names: what forces replacements, types, all but the first reasons, and ends of long names."""


WORDS: Final = {
    Folding.VALUES: "values of properties",
    Folding.UPDATES: "names of what is created or updated",
    Folding.FIXES: "how to mend findings",
    Folding.FINDINGS: "what findings say, and the pools",
    Folding.NAMES: "why resources are replaced, all but the first reasons, and ends of long names",
}


def left_out(step: Folding) -> str:
    """Return what ``step`` leaves out, in words; nothing if it is nothing."""
    return "; ".join(words for each, words in WORDS.items() if each <= step)
