"""Format of the packs' diagnostics, and its parser.

``policies.sdk`` writes these texts into the engine's diagnostics, and reports receive only the text, so both directions
are implemented here.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from policies.rule import Pack, Rule
from policies.waivers import Waiver

REFERENCE: Final = "docs/policies.md"
"""Reference page of all rules, with one anchor per rule."""

ABOUT_WAIVERS: Final = f"{REFERENCE}#waivers"
"""Reference for texts about a row of ``policies/overrides.yaml``."""
ALL_PACKS: Final = "igz-clusters"
"""The engine's name for all packs served by one process; a finding has the name of its rule's own pack."""

_ABOUT_DOUBT: Final = f"{REFERENCE}#could-not-be-judged"
_UNJUDGED: Final = "could not be judged: "
_CRASHED: Final = "the rule crashed: "
_SAID: Final = re.compile(
    r"\[(?P<rule>[A-Z]{2}-\d\d)\] "
    r"(?:waived (?P<waiver>until \d{4}-\d\d-\d\d by .*?\))\. )?"
    r"(?P<text>.*?)(?: See (?P<reference>\S+))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Said:
    """The parts of a diagnostic of the packs."""

    rule: str
    """Id."""
    message: str
    """What is wrong, or why it is unknown."""
    fix: str = ""
    """How to fix it; empty if the text has no such part."""
    reference: str = ""
    """Where to read on."""
    waiver: str = ""
    """Until when, by whom and why it is waived; empty if it is not.

    Only advisory findings have one, so check the level too.
    """

    @property
    def is_unjudged(self) -> bool:
        """Whether it is an unjudged rule or a crash instead of a violation."""
        return self.message.startswith((_UNJUDGED, _CRASHED))


def pack_name(pack: Pack) -> str:
    """Return the engine's name for a pack."""
    return f"igz-clusters-{pack.replace('_', '-')}"


def violation(rule: Rule[Any], message: str) -> str:
    """Return the text of a rule's finding."""
    return f"{message} Fix: {rule.fix} See {REFERENCE}#{rule.anchor}"


def doubt(reasons: list[str]) -> str:
    """Return the text of a rule that could not be judged."""
    return f"{_UNJUDGED}{'; '.join(reasons)}. See {_ABOUT_DOUBT}"


def crash(rule: Rule[Any], place: str) -> str:
    """Return the text of a rule that crashed."""
    return f"{_CRASHED}{place}. See {REFERENCE}#{rule.anchor}"


def notice(message: str) -> str:
    """Return the text about an invalid, expired or unused waiver."""
    return f"{message} See {ABOUT_WAIVERS}"


def waived(waiver: Waiver, text: str) -> str:
    """Return a text preceded by the waiver that accepts it."""
    return f"waived until {waiver.expires} by {waiver.owner} ({waiver.ticket}: {waiver.reason}). {text}"


def said_by(rule: Rule[Any], text: str) -> str:
    """Return a text preceded by the id of its rule."""
    return f"[{rule.id}] {text}"


def read(message: str) -> Said | None:
    """Return the parts of a diagnostic's message; None if it is not of these packs.

    Parameters
    ----------
    message
        The engine's form: the rule's title on a line of its own, then the text.
    """
    found = _SAID.fullmatch(message.partition("\n")[2].strip())
    if not found:
        return None
    # The last "Fix:" counts: the part before may quote any text, the fix is the rule's own.
    before, mark, after = found["text"].rpartition(" Fix: ")
    text, fix = (before, after) if mark else (after, "")
    return Said(found["rule"], text, fix, found["reference"] or "", found["waiver"] or "")
