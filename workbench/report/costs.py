"""Compares the cost of the pools before and after, from the stack's outputs and the known prices.

The event stream is untrusted: its texts are only looked up, never shown, except the names of groups.
"""

from collections.abc import Iterable
from typing import Final

from components.contract.environments import ClusterKind, Environment
from components.contract.lifecycle import Lifecycle
from workbench import stacks
from workbench.prices.book import PriceBook
from workbench.prices.fees import Fee, fee_of
from workbench.prices.stack_cost import Sized, StackCost, cost_of
from workbench.report.event_payloads import State
from workbench.report.events import STACK_TYPE, Stream
from workbench.report.money import Cost
from workbench.report.pools import Group, Groups
from workbench.report.rehearsed import Rehearsal, rehearsed
from workbench.report.values import safe
from workbench.system.errors import UserError

_OUTPUT: Final = "cluster"
"""Name of the output, written by ``infra.outputs``; its facts contain the region."""


def cost(
    stream: Stream,
    groups: tuple[Groups | None, Groups],
    kind: str,
    environment: str,
    rehearsals: Iterable[Rehearsal] = (),
) -> Cost | None:
    """Return the cost before and after a change; None if no price is known.

    Parameters
    ----------
    stream
        The event stream, which names the cluster's region.
    groups
        The node groups before and after.
    kind, environment
        Of the cluster; they decide the control plane's fee.
    rehearsals
        What was rehearsed on the stack.
    """
    try:
        book = PriceBook.load(stacks.folder())
    except UserError:  # the account's own price file is invalid; `prices show` reports it
        return None
    fee, regions = _fee(kind, environment), _regions(stream)
    before, after = (
        None if each is None else cost_of(_sized(each), region, fee if each else None, book)
        for each, region in zip(groups, regions, strict=True)
    )
    known = [each for each in (before, after) if each and each.prices]
    if after is None or not known:
        return None
    prices = [price for each in known for price in each.prices]
    least_before, most_before = _whole(before) if before else (None, None)
    least, most = _whole(after)
    return Cost(
        least_before,
        most_before,
        least,
        most,
        dates=tuple(sorted({f"{day:%Y-%m}" for day in (min(p.date for p in prices), max(p.date for p in prices))})),
        lifecycles=tuple(
            sorted({group.group.lifecycle.value for each in known for group in each.groups if group.price})
        ),
        regions=tuple(sorted({price.region for price in prices})),
        assumed=any(price.is_assumed for price in prices),
        unpriced=tuple(
            sorted({safe(name) for each in (before, after) if each for name in (*each.unpriced, *each.reserved)})
        ),
        rehearsed=tuple(rehearsed(rehearsals, groups, (before, after))),
    )


def _whole(found: StackCost) -> tuple[int, int]:
    return round(found.monthly.least), round(found.monthly.most)


def _sized(groups: Groups) -> Iterable[Sized]:
    return (
        Sized(name, tuple(group.instance_types), lifecycle, group.min, group.max)
        for name, group in groups.items()
        if (lifecycle := _lifecycle(group))
    )


def _lifecycle(group: Group) -> Lifecycle | None:
    return next((each for each in Lifecycle if each == group.lifecycle), None)


def _fee(kind: str, environment: str) -> Fee | None:
    try:
        return fee_of(ClusterKind(kind), Environment(environment))
    except ValueError:
        return None


def _regions(stream: Stream) -> tuple[str | None, str | None]:
    """Return the region before and after; each stands in for the other if only one is known."""
    results = [step for step in stream.results if step.token == STACK_TYPE]
    before = next((region for step in results if (region := _region(step.old))), None)
    after = next((region for step in reversed(results) if (region := _region(step.new))), None)
    return before or after, after or before


def _region(state: State | None) -> str | None:
    facts = state.outputs.get(_OUTPUT) if state else None
    found = (facts.get("region") or facts.get("location")) if isinstance(facts, dict) else None
    return found if isinstance(found, str) else None
