"""Names the mistake behind a missed expectation: cause, action, and the field to change.

A finder recognises one mistake. Finders run in the order of ``FINDERS``: what was refused explains more than
what waited, a wrong selector more than a full pool.
"""

from typing import Final

from workbench.rehearsal.verdicts import (
    hints_capacity,
    hints_devices,
    hints_losses,
    hints_nodes,
    hints_placement,
    hints_refusals,
    hints_traffic,
    hints_volumes,
    hints_waits,
)
from workbench.rehearsal.verdicts.miss import Finders, Miss
from workbench.rehearsal.verdicts.verdict import Hint

__all__ = ["FINDERS", "HINTS_MAX", "Miss", "hints_for"]

HINTS_MAX: Final = 6
"""Hints of one verdict; further ones are rarely the cause."""

FINDERS: Final[Finders] = (
    *hints_refusals.FINDERS,
    *hints_devices.FINDERS,
    *hints_placement.FINDERS,
    *hints_volumes.FINDERS,
    *hints_capacity.FINDERS,
    *hints_traffic.FINDERS,
    *hints_losses.FINDERS,
    *hints_waits.FINDERS,
    *hints_nodes.FINDERS,
)


def hints_for(miss: Miss) -> tuple[Hint, ...]:
    """Return what explains a missed expectation, most likely first; each field and cause once."""
    found: dict[tuple[str, str], Hint] = {}
    for finder in FINDERS:
        for hint in finder(miss):
            found.setdefault((hint.path, hint.cause), hint)
    return tuple(found.values())[:HINTS_MAX]
