"""Renders outcomes as one self-contained HTML page: style, script and data are inside, nothing is loaded."""

from collections.abc import Sequence
from html import escape
from typing import Final

from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.duel.table import LEAD, Cell, Duel
from workbench.rehearsal.outcome import Outcome, deciding
from workbench.rehearsal.report import sections
from workbench.rehearsal.report.comparison import Comparison
from workbench.rehearsal.report.figures import brief, headline, lasting, standing
from workbench.rehearsal.report.markup import Html, clean, element, joined, table
from workbench.rehearsal.report.page_assets import asset, digest, style
from workbench.rehearsal.report.page_data import embedded
from workbench.rehearsal.report.proposals import proposal
from workbench.report.words import count

_SCRIPTS: Final = ("model.js", "chart.js", "lanes.js", "moment.js", "page.js")

_ORIGIN: Final = (
    "Made by igz-clusters rehearse: nodes and pods are simulated, the API server, scheduler and autoscaler are real. "
    "All verdicts come from what the API server reported."
)


def render(
    outcomes: Sequence[Outcome],
    comparisons: Sequence[Comparison] = (),
    advice: Sequence[Advice] = (),
    duels: Sequence[Duel] = (),
) -> str:
    """Return the page.

    Parameters
    ----------
    outcomes
        At least one. If there are several, the page shows one at a time, and a matrix to choose from.
    comparisons
        Shown above the outcomes.
    advice
        Shown with the outcomes that it is about.
    duels
        Shown above the outcomes.
    """
    look = style()
    script = f"(() => {{\n{''.join(map(asset, _SCRIPTS))}}})();\n"
    above = (*map(_comparison, comparisons), *map(_duel, duels))
    body = joined((_header(outcomes), *above, _outcomes(outcomes, advice), element("footer", _ORIGIN)))
    values = {
        "title": escape(clean(f"{_subject(outcomes)}: {headline(deciding(outcomes))}")),
        "policy": f"default-src 'none'; img-src data:; style-src '{digest(look)}'; script-src '{digest(script)}'",
        "style": look,
        "body": body,
        "data": embedded(outcomes),
        "script": script,
    }
    page = asset("page.html")
    parts = page.split("@@")  # text, name, text, name, ...: values are never searched for names
    return "".join(values[part] if index % 2 else part for index, part in enumerate(parts))


def _subject(outcomes: Sequence[Outcome]) -> str:
    """Return what was rehearsed, in words."""
    if len(outcomes) == 1:
        return f"{outcomes[0].scenario} on {outcomes[0].stack}"
    stacks = list(dict.fromkeys(each.stack for each in outcomes))
    scenarios = dict.fromkeys(each.scenario for each in outcomes)
    return f"{count(len(scenarios), 'scenario')} on {', '.join(stacks)}"


def _colour(outcomes: Sequence[Outcome]) -> str:
    if all(outcome.skipped for outcome in outcomes):
        return "neutral"
    return "good" if all(outcome.is_met for outcome in outcomes) else "bad"


def _header(outcomes: Sequence[Outcome]) -> Html:
    parts = [element("p.eyebrow", f"Rehearsal: {_subject(outcomes)}"), element("h1", headline(deciding(outcomes)))]
    if len(outcomes) == 1:
        lasts = outcomes[0].record.lasts if outcomes[0].record else 0.0
        parts.append(element("p.subtitle", outcomes[0].description))
        if lasts:
            parts.append(element("p.dim", f"The scenario lasts {lasting(lasts)}."))
    else:
        parts.append(_matrix(outcomes))
    return element(f"header.page.{_colour(deciding(outcomes))}", *parts)


def _matrix(outcomes: Sequence[Outcome]) -> Html:
    """Return scenarios as rows and stacks as columns; each cell leads to its outcome."""
    stacks = list(dict.fromkeys(each.stack for each in outcomes))
    cells = {(each.scenario, each.stack): (index, each) for index, each in enumerate(outcomes)}

    def cell(scenario: str, stack: str) -> Html:
        index, outcome = cells.get((scenario, stack), (0, None))
        if outcome is None:
            return element("span.dim", "-")
        sign = {"good": "✓ ", "bad": "✕ ", "neutral": ""}[_colour([outcome])]
        link = f"#outcome-{index}"
        return element(f"a.verdict.{_colour([outcome])}", sign + brief(outcome), href=link, data_pick=str(index))

    rows = [
        (element("strong", scenario), *(cell(scenario, stack) for stack in stacks))
        for scenario in dict.fromkeys(each.scenario for each in outcomes)
    ]
    return element("div.matrix", table(("scenario", *stacks), rows, name="Scenarios and stacks"))


_CHANGES: Final = {True: "span.good", False: "span.bad", None: "span"}
"""Elements of changes, by whether they are better."""


def _comparison(comparison: Comparison) -> Html:
    rows = [
        (row.name, row.before, row.after, element(_CHANGES[row.is_better], row.change or "-"))
        for row in comparison.rows
        if row.is_shown
    ]
    headings = ("", comparison.before, comparison.after, "change")
    return sections.section(
        f"{comparison.scenario}: {comparison.before} compared with {comparison.after}",
        element("div.comparison", table(headings, rows, numbers=(3,), name="Comparison", is_prose=True)),
        lead=f"{comparison.summary[:1].upper()}{comparison.summary[1:]}. Figures that do not change are left out.",
    )


def _duel(duel: Duel) -> Html:
    def cell(shown: Cell) -> Html:
        change = [" ", element(_CHANGES[shown.is_better], f"({shown.change})")] if shown.change else []
        return element("span", shown.text, *change)

    rows = [(row.name, row.first, *map(cell, row.others)) for row in duel.rows]
    return sections.section(
        f"{duel.scenario} on {duel.stack}: {' or '.join(duel.names)}",
        element("div.comparison", table(("", *duel.scalers), rows, name="Duel", is_prose=True)),
        element("ul.plain", *(element("li", fact) for fact in duel.facts)),
        lead=LEAD,
    )


def _outcomes(outcomes: Sequence[Outcome], advice: Sequence[Advice]) -> Html:
    picker = Html("")
    if len(outcomes) > 1:
        options = (
            element("option", f"{each.stack}: {each.scenario} ({brief(each)})", value=str(index))
            for index, each in enumerate(outcomes)
        )
        picker = element("label.picker", "Shown below ", element("select", *options, id="picker"), hidden=True)
    shown = (_outcome(each, index, advice, is_only=len(outcomes) == 1) for index, each in enumerate(outcomes))
    return joined((picker, *shown))


def _outcome(outcome: Outcome, index: int, advice: Sequence[Advice], *, is_only: bool) -> Html:
    parts = []
    if not is_only:
        title = element("h2", f"{outcome.stack}: {outcome.scenario}")
        parts += [
            title,
            element(f"p.standing.{_colour([outcome])}", standing(outcome)),
            element("p.dim", outcome.description),
        ]
    elif outcome.record is None:
        parts.append(element("p", standing(outcome)))
    record = outcome.record
    if record is not None:
        parts += [
            sections.tiles(outcome),
            sections.expectations(outcome),
            *(
                proposal(each)
                for each in advice
                if (each.before.stack, each.before.scenario) == (outcome.stack, outcome.scenario)
            ),
            _timeline(outcome, index),
            sections.waits(record),
            sections.pending(outcome),
            sections.losses(record),
            sections.refusals(record),
            sections.costs(outcome),
        ]
    parts.append(sections.remarks(outcome))
    return element("article", *parts, id=f"outcome-{index}", data_outcome=str(index))


def _timeline(outcome: Outcome, index: int) -> Html:
    slider = f"moment-{index}"
    controls = element(
        "div.controls",
        element("label", "Moment", for_=slider),
        Html(f'<input type="range" id="{slider}" min="0" step="1" value="0">'),
        element("output", "", for_=slider),
    )
    events = [
        element("li", element("button", lasting(each.at), type="button", data_at=str(each.at)), " ", each.text)
        for each in (outcome.record.happenings if outcome.record else ())
    ]
    listed = [element("h4", "Events"), element("ol.events", *events)] if events else []
    return element(
        "section.timeline",
        element("h3", "Nodes and pods over time"),
        element("noscript", element("p.note", "This part needs JavaScript; all tables do not.")),
        controls,
        element("div.legend", ""),
        element("div.chart", ""),
        element("div.moment", "", aria_live="off"),
        *listed,
    )
