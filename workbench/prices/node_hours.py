"""The hours for which a node of a rehearsal counts: from its creation to its end, within the scenario.

Clouds bill by the second, at least a minute; the minimum is left out, because a node that lives less than a minute is
rare.
"""

from typing import Final, Protocol

HOUR: Final = 3600.0
"""Seconds."""


class Lived(Protocol):
    """A node with its moments, in seconds since the start of the scenario."""

    @property
    def created(self) -> float:
        """When it was created; negative before the start."""

    @property
    def gone(self) -> float | None:
        """When it was deleted; None if it still exists at the end."""


def life(node: Lived, lasts: float) -> tuple[float, float]:
    """Return when a node starts and stops counting in a scenario of ``lasts`` seconds; equal if it never counts."""
    begin = max(0.0, node.created)
    return begin, max(begin, lasts if node.gone is None else min(node.gone, lasts))


def node_hours(node: Lived, lasts: float) -> float:
    """Return the hours of a scenario of ``lasts`` seconds in which a node existed."""
    begin, end = life(node, lasts)
    return (end - begin) / HOUR
