"""The part of a report's model about money."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_NAMED_MAX: Final = 5
"""Groups without a price, and rehearsals, that are named; the rest are counted."""


@dataclass(frozen=True)
class Rehearsed:
    """Monthly cost of all nodes and the control plane, at the mean number of nodes of a rehearsal.

    Parameters
    ----------
    scenario
        What was rehearsed.
    before, after
        In whole USD; before is None if it was not rehearsed, after is None if other node groups were rehearsed.
    """

    scenario: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class Cost:
    """Monthly cost of all nodes and the control plane at list prices, in whole USD.

    Parameters
    ----------
    least_before, most_before, least_after, most_after
        At the pools' smallest and largest sizes; the first two are None if there is nothing to compare with.
    dates
        Months of the oldest and the newest price, such as ``2026-07``; one if they are the same.
    lifecycles
        ``on-demand``, ``spot``, or both.
    regions
        The regions whose prices apply.
    assumed
        Whether the regions stand in for unknown ones, or a share of spot is assumed.
    unpriced
        Node groups without a known price or on reserved capacity, which are left out.
    rehearsed
        The same at the sizes of rehearsals.
    """

    least_before: int | None
    most_before: int | None
    least_after: int
    most_after: int
    dates: tuple[str, ...]
    lifecycles: tuple[str, ...]
    regions: tuple[str, ...]
    assumed: bool = False
    unpriced: tuple[str, ...] = ()
    rehearsed: tuple[Rehearsed, ...] = ()


def amounts(cost: Cost) -> str:
    """Return the sums in words."""
    least = _change(cost.least_before, cost.least_after)
    most = _change(cost.most_before, cost.most_after)
    small, large = (
        " (unchanged)" if before == after else ""
        for before, after in ((cost.least_before, cost.least_after), (cost.most_before, cost.most_after))
    )
    return f"{least} USD a month at the smallest size{small}, {most} at the largest{large}"


def rehearsed_amounts(cost: Cost) -> list[str]:
    """Return sentences about the costs at the sizes of rehearsals."""
    priced = [(each.scenario, each.before, each.after) for each in cost.rehearsed if each.after is not None]
    fit = [f"{_change(before, after)} USD ({scenario})" for scenario, before, after in priced]
    other = [each.scenario for each in cost.rehearsed if each.after is None]
    said = f"A month with the mean number of nodes of a rehearsal: {', '.join(_first(fit))}."
    stale = f"Rehearsed with other node groups than those of this change: {', '.join(_first(other))}. Rehearse again."
    return [*([said] if fit else []), *([stale] if other else [])]


def basis(cost: Cost) -> str:
    """Return the basis of the sums, in words."""
    regions = " and ".join(cost.regions)
    assumed = " (assumed)" if cost.assumed else ""
    return f"prices of {' to '.join(cost.dates)}, {' and '.join(cost.lifecycles)}, {regions}{assumed}, before discounts"


def left_out(cost: Cost) -> list[str]:
    """Return the first names of groups without a price, and a count of the rest."""
    return _first(cost.unpriced)


def _first(texts: Sequence[str]) -> list[str]:
    rest = len(texts) - _NAMED_MAX
    return [*texts[:_NAMED_MAX], *([f"{rest} more"] if rest > 0 else [])]


def _change(before: int | None, after: int) -> str:
    return f"{after:,}" if before is None or before == after else f"{before:,} → {after:,}"
