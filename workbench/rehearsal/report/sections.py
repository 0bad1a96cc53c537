"""Sections of the page that need no script: verdicts, tables of waits, losses and costs, assumptions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from workbench.rehearsal.outcome import Cost, Outcome
from workbench.rehearsal.record import PodRecord, Record
from workbench.rehearsal.report import figures
from workbench.rehearsal.report.figures import hours, lasting, money
from workbench.rehearsal.report.markup import Html, element, joined, table
from workbench.rehearsal.verdicts.nodes import peak
from workbench.rehearsal.verdicts.verdict import Hint, Verdict
from workbench.rehearsal.verdicts.waits import wait_of
from workbench.report.words import count

ROWS_MAX: Final = 100
"""Maximum number of rows of a table of pods; the rest are counted."""

NAMES_SHOWN: Final = 3
"""Maximum number of pods named in a row."""

NO_TEAM: Final = "unused, or of no team"
"""Share of the nodes that no pod requested, or whose pods have no team."""

_NUMBER: Final = re.compile("[0-9]+")


def tiles(outcome: Outcome) -> Html:
    """Return the main figures of an outcome."""
    record, costs = outcome.record, outcome.costs
    if record is None:
        return Html("")
    met = sum(verdict.is_met for verdict in outcome.verdicts)
    slowest = max(figures.works(record), key=lambda each: each.longest, default=None)
    pods = [pod for pod in record.pods if pod.work]
    never = sum(pod.started is None for pod in record.pods)
    shown = [("Expectations met", f"{met} of {len(outcome.verdicts)}", "")]
    if costs:
        dollars = f"{money(costs.total)} USD" if costs.total.is_priced else "no price"
        shown.append(("Cost", dollars, f"{hours(costs.total)} node-hours"))
    most = sum(each.most for each in figures.pools(outcome))
    shown.append(("Most nodes", str(peak(record.nodes, record.lasts)), f"of {most} that the pools allow"))
    if slowest:
        shown.append(
            ("Longest wait", lasting(slowest.longest), f"{slowest.work}; its median {lasting(slowest.median)}")
        )
    shown += [
        ("Pods lost", str(len(figures.lost(record))), f"of {count(len(pods), 'pod')}"),
        ("Never ran", str(never), "waited until the end" if never else "every pod ran"),
    ]
    return element("dl.tiles", *(_tile(*each) for each in shown))


def _tile(name: str, value: str, more: str) -> Html:
    return element("div", element("dt", name), element("dd", element("b", value), element("small", more)))


def expectations(outcome: Outcome) -> Html:
    """Return the expectations: missed ones with reasons and hints, then those that are met."""
    missed = [_missed(verdict) for verdict in outcome.verdicts if not verdict.is_met]
    met = [_met(verdict) for verdict in outcome.verdicts if verdict.is_met]
    return section(
        "Expectations",
        element("ul.missed", *missed) if missed else Html(""),
        element("ul.met", *met) if met else Html(""),
    )


def section(title: str, *children: str, lead: str = "") -> Html:
    """Return a section with its heading; nothing without children."""
    if not any(children):
        return Html("")
    return element("section", element("h3", title), element("p.lead", lead) if lead else Html(""), *children)


def _mark(*, is_met: bool) -> Html:
    return element("span.mark.good" if is_met else "span.mark.bad", "✓" if is_met else "✕", aria_hidden="true")


def _met(verdict: Verdict) -> Html:
    texts = [element("strong", verdict.expectation), " ", element("span.dim", verdict.measured)]
    vary = [" ", element("span.vary", verdict.may_vary)] if verdict.may_vary else []
    spoken = element("span.spoken", "Met: ")
    return element("li", _mark(is_met=True), element("div", spoken, *texts, *vary))


def _missed(verdict: Verdict) -> Html:
    parts = [
        element("p.claim", element("span.spoken", "Missed: "), element("strong", verdict.expectation)),
        element("p.measured", verdict.measured),
    ]
    if verdict.hints:
        parts.append(element("ul.hints", *map(_hint, verdict.hints)))
    facts = []
    if verdict.reason:
        facts.append(element("div", element("dt", "Reason given"), element("dd", element("q", verdict.reason))))
    if verdict.pods:
        names = joined(_spaced(element("code", name) for name in verdict.pods))
        facts.append(element("div", element("dt", "Pods"), element("dd", names)))
    if verdict.may_vary:
        facts.append(element("div", element("dt", "May vary"), element("dd", verdict.may_vary)))
    parts += [element("dl.facts", *facts)] if facts else []
    return element("li", _mark(is_met=False), element("div", *parts))


def _spaced(parts: Iterable[Html]) -> Iterator[str]:
    for index, part in enumerate(parts):
        yield from (" ", part) if index else (part,)


def _hint(hint: Hint) -> Html:
    field = [element("p.field", f"{hint.file} file ", element("code", hint.path))] if hint.path else []
    return element("li", element("p", hint.cause), element("p.action", hint.action), *field)


def waits(record: Record) -> Html:
    """Return the waits of each work."""
    rows = [
        (
            element("strong", each.work),
            each.kind,
            each.team or "-",
            f"{each.pods:,}",
            lasting(each.median),
            lasting(each.p95),
            lasting(each.longest),
            str(each.waiting or "-"),
            str(each.lost or "-"),
        )
        for each in figures.works(record)
    ]
    headings = ("work", "kind", "team", "pods", "median", "95 %", "longest", "never ran", "lost")
    lead = "From the creation of a pod until its containers run."
    name = "Waits by work"
    return section("Waits", table(headings, rows, numbers=range(3, 9), name=name) if rows else "", lead=lead)


def pending(outcome: Outcome) -> Html:
    """Return the pods that never ran or waited long, with the last reason given and our hint."""
    record = outcome.record
    if record is None:
        return Html("")
    groups: dict[tuple[str, bool, str], list[PodRecord]] = {}
    for pod in figures.pending(record):
        reason = pod.reasons[-1] if pod.reasons else None
        said = f"{reason.component} {reason.text}" if reason else ""
        # Texts that differ only in their numbers of nodes have the same meaning.
        groups.setdefault((pod.work or pod.kind, pod.started is None, _NUMBER.sub("0", said)), []).append(pod)
    rows = [_pending(pods, outcome, record) for pods in list(groups.values())[:ROWS_MAX]]
    headings = ("pods", "work", "waited", "reason given", "hint")
    lead = f"Pods that never ran, or waited longer than {lasting(figures.LONG_WAIT)}."
    return section(
        "Waiting pods",
        table(headings, rows, name="Waiting pods", is_prose=True) if rows else "",
        _rest(len(groups) - ROWS_MAX, "group"),
        lead=lead,
    )


def _pending(pods: Sequence[PodRecord], outcome: Outcome, record: Record) -> Iterator[Html]:
    reason = pods[0].reasons[-1] if pods[0].reasons else None
    spans = sorted(wait_of(pod, record.lasts) for pod in pods)
    span = lasting(spans[0]) if len(spans) == 1 else f"{lasting(spans[0])} to {lasting(spans[-1])}"
    yield _names(pods)
    yield element("span", pods[0].work or pods[0].kind)
    yield element(
        "span", element("span.nowrap", span), element("small.bad", "never ran") if pods[0].started is None else ""
    )
    yield element("span.said", f"{reason.component}: {reason.text}" if reason else "-")
    verdict = figures.explanation(pods[0], outcome)
    hint = verdict.hints[0] if verdict else None
    field = element("code", hint.path) if hint and hint.path else Html("")
    yield element("span.said", f"{hint.action} " if hint else "-", field)


def _names(pods: Sequence[PodRecord]) -> Html:
    names = _spaced(element("code", pod.name) for pod in pods[:NAMES_SHOWN])
    more = len(pods) - NAMES_SHOWN
    return element("span", *names, element("small", f"and {more:,} more") if more > 0 else "")


def _rest(number: int, noun: str) -> Html:
    return element("p.dim", f"and {count(number, noun)} more") if number > 0 else Html("")


def losses(record: Record) -> Html:
    """Return the pods that were lost or preempted, by cause."""
    groups: dict[tuple[str, str, str], list[PodRecord]] = {}
    for pod in figures.lost(record):
        groups.setdefault((pod.work, pod.end.value, pod.end_cause), []).append(pod)
    replaced = {pod.replaces for pod in record.pods if pod.replaces}
    rows = [
        (
            _names(pods),
            work,
            lasting(pods[0].ended or 0.0),
            f"{end}: {cause}" if cause else end,
            f"{sum(pod.uid in replaced for pod in pods)} of {len(pods)}",
        )
        for (work, end, cause), pods in list(groups.items())[:ROWS_MAX]
    ]
    headings = ("pods", "work", "at", "cause", "replaced")
    shown = table(headings, rows, numbers=(2, 4), name="Lost pods", is_prose=True) if rows else ""
    return section("Lost pods", shown, _rest(len(groups) - ROWS_MAX, "group"))


def refusals(record: Record) -> Html:
    """Return what the API server refused."""
    rows = [
        (lasting(each.at), f"{each.kind} {each.name}", each.work, element("span.said", each.message))
        for each in record.refusals[:ROWS_MAX]
    ]
    headings = ("at", "object", "work", "message")
    shown = table(headings, rows, name="Refused objects", is_prose=True) if rows else ""
    return section("Refused by the API server", shown, _rest(len(record.refusals) - ROWS_MAX, "object"))


def costs(outcome: Outcome) -> Html:
    """Return nodes and money by pool, lifecycle and team."""
    pools = figures.pools(outcome)
    largest = max((each.cost.node_hours for each in pools if each.cost), default=0.0)
    rows: list[tuple[str, ...]] = [
        (
            element("strong", each.pool),
            ", ".join(each.machines),
            joined(_spaced(element(f"span.lifecycle.{_slug(name)}", name) for name in each.lifecycles)),
            each.sizes,
            element("span", hours(each.cost), bar(each.cost.node_hours if each.cost else 0.0, largest)),
            money(each.cost),
        )
        for each in pools
    ]
    if outcome.costs:
        total = outcome.costs.total
        if fee := outcome.costs.control_plane:
            rows.append((element("strong", "control plane"), "", "", "", "", f"{fee:,.2f}"))
        rows.append((element("strong", "all"), "", "", "", *(element("strong", f(total)) for f in (hours, money))))
    headings = ("pool", "machine type", "lifecycle", "nodes (min..peak..max)", "node-hours", "USD")
    parts = [table(headings, rows, numbers=(3, 4, 5), name="Pools")] if rows else []
    of = outcome.costs
    if of:
        small = [_shares("By lifecycle", "lifecycle", of.by_lifecycle), _shares("By team", "team", of.by_team)]
        parts.append(element("div.pair", *small))
        if of.total.unpriced:
            parts.append(element("p.note", f"No price is known for {', '.join(of.total.unpriced)}; sums leave it out."))
        if of.prices:
            parts.append(element("p.dim", of.prices))
    return section("Nodes and money", *parts)


def _slug(lifecycle: str) -> str:
    return "spot" if lifecycle == "spot" else "on-demand"


def _shares(title: str, heading: str, parts: Mapping[str, Cost]) -> Html:
    largest = max((cost.node_hours for cost in parts.values()), default=0.0)
    rows = [
        (name or NO_TEAM, element("span", hours(cost), bar(cost.node_hours, largest)), money(cost))
        for name, cost in parts.items()
    ]
    if not rows:
        return Html("")
    shown = table((heading, "node-hours", "USD"), rows, numbers=(1, 2), name=title)
    return element("div", element("h4", title), shown)


def bar(value: float, largest: float) -> Html:
    """Return a small bar for a value in a table."""
    length = f"{100 * value / largest:.1f}" if largest > 0 else "0"
    fill = element("rect", width=length, height="4", rx="1")
    return element("svg.bar", fill, viewBox="0 0 100 4", preserveAspectRatio="none", aria_hidden="true")


def remarks(outcome: Outcome) -> Html:
    """Return assumptions and notes."""
    record = outcome.record
    speed = [f"Simulated at {record.speed:g} times real time; moments are of the scenario."] if record else []
    lines = [*outcome.notes, *(record.assumptions if record else ()), *speed]
    return section("Assumptions and limits", element("ul.plain", *(element("li", line) for line in lines)))
