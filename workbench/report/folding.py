"""Steps in which a long report is shortened; each step omits what earlier steps omit, and more."""

from enum import IntEnum
from typing import Final


class Folding(IntEnum):
    """A step. No step omits a replacement, a deletion or a danger."""

    NOTHING = 0

    VALUES = 1
    """Values of properties, before and after; the changed properties are still listed."""

    UPDATES = 2
    """Names and properties of created and updated resources; the number per type is shown."""

    FIXES = 3
    """Fixes of findings and links to the documentation."""

    FINDINGS = 4
    """Messages per resource; the number of findings per rule is shown. Pools are counted."""

    NAMES = 5
    """Everything but names: causes of replacements, types, further reasons, ends of long names."""


WORDS: Final = {
    Folding.VALUES: "values of properties",
    Folding.UPDATES: "names of created and updated resources",
    Folding.FIXES: "fixes of findings",
    Folding.FINDINGS: "messages of findings, and the pools",
    Folding.NAMES: "causes of replacements, further reasons, and ends of long names",
}


def left_out(step: Folding) -> str:
    """Return a description of what ``step`` omits; empty if nothing."""
    return "; ".join(words for each, words in WORDS.items() if each <= step)
