"""Renders a report as a pull-request comment in GitHub's Markdown.

GitHub limits the length of a comment. Less urgent content is omitted step by step until the report fits, and the
comment says so. Destroyed resources are named in every step.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from workbench.report.folding import Folding, left_out
from workbench.report.markdown_changes import SHORT_NAME, dangers, gains, losses
from workbench.report.markdown_findings import findings
from workbench.report.markup import code, prose, table
from workbench.report.model import FindingStatus, Hours, Operation, Outcome, Report, Source, StackReport
from workbench.report.money import amounts, basis, rehearsed_amounts
from workbench.report.money import left_out as left_out_of
from workbench.report.words import (
    DESTRUCTIVE,
    FOR_OWNERS,
    OPERATIONS,
    SOURCES,
    about,
    count,
    counts,
    difference,
    meaning,
    verdict,
)

COMMENT_MAX: Final = 65_536
"""Maximum characters of a comment. GitHub's error is *Body is too long (maximum is 65536 characters)*,
<https://github.com/telia-oss/github-pr-resource/issues/259>; that is at most the 262,144 bytes that others measured:
<https://github.com/objectstack-ai/objectstack/issues/18826>."""

_WHOLE: Final = "The full report is in the run's summary and artifact."
_SIGNS: Final = {Outcome.PASSED: "✅", Outcome.REVIEW: "👀", Outcome.BLOCKED: "⛔", Outcome.UNJUDGED: "❔"}
_ROWS_MAX: Final = 10
_REASON_MAX: Final = 200


def render(report: Report, limit: int = COMMENT_MAX) -> str:
    """Return the comment, identical for identical reports.

    Parameters
    ----------
    report
        The report. Its texts are untrusted.
    limit
        Maximum number of characters. If even the names of destroyed resources exceed it, the most severe are listed
        and the others counted; that page has at least some 2,000 characters.
    """
    pages = (_page(report, step) for step in Folding)
    return next((page for page in pages if len(page) <= limit), None) or _overfull(report, limit)


def _page(report: Report, step: Folding) -> str:
    blocks = [*_head(report, step), *(block for stack in report.stacks for block in _stack(stack, step))]
    if report.skipped:
        blocks.append(f"Not affected: {', '.join(_first([code(name) for name in report.skipped], step))}.")
    return "\n\n".join(blocks) + "\n"


def _head(report: Report, step: Folding) -> Iterator[str]:
    yield f"## {_SIGNS[report.outcome]} {verdict(report)}"
    commits = f" Commit {code(report.head)} against {code(report.base)}." if report.head and report.base else ""
    yield f"{meaning(report)}{commits}"
    if report.problems:
        yield _list([prose(text) for text in report.problems], step)
    for source in dict.fromkeys(stack.source for stack in report.stacks):
        if SOURCES[source]:
            yield f"> **{_which(report, source)}{SOURCES[source]}**"
    if report.judge:
        yield f"### {FOR_OWNERS}"
        yield _list([f"{code(row.file)}: {prose(row.what, _REASON_MAX)}" for row in report.judge], step)
    if step:
        yield f"*Omitted because of its length: {left_out(step)}. {_WHOLE}*"
    if report.stacks:
        header = ("stack", "verdict", "replace", "delete", "create", "update", "violated")
        yield table(header, map(_row, report.stacks))


def _which(report: Report, source: Source) -> str:
    """Return the names of the stacks with ``source``; empty if all have it."""
    those = [stack.stack for stack in report.stacks if stack.source is source]
    return "" if len(those) == len(report.stacks) else f"{', '.join(code(name, SHORT_NAME) for name in those)}: "


def _row(stack: StackReport) -> tuple[str, ...]:
    numbers = [f"{number:,}" if number else "" for number in counts(stack.changes).values()]
    violated = sum(finding.standing is FindingStatus.VIOLATED for finding in stack.findings)
    return (
        code(stack.stack, SHORT_NAME),
        verdict(stack),
        *_strong(numbers),
        f"{violated:,}" if violated else "",
    )


def _strong(numbers: list[str]) -> list[str]:
    """Return the counts per ``Operation``, with destructive ones in bold."""
    return [
        f"**{text}**" if text and each in DESTRUCTIVE else text for each, text in zip(Operation, numbers, strict=True)
    ]


def _stack(stack: StackReport, step: Folding) -> Iterator[str]:
    described = f" ({prose(about(stack))})" if about(stack) else ""
    yield f"### {_SIGNS[stack.outcome]} {code(stack.stack)}{described}: {verdict(stack)}"
    texts = (*stack.notes, *stack.problems, *(reason for reason in stack.reasons if reason not in stack.problems))
    if texts:
        yield _list([prose(text) for text in texts], step)
    yield from dangers(stack, step)
    yield from losses(stack, step)
    yield from _pools(stack, step)
    yield from findings(stack, step)
    yield from gains(stack, step)
    unchanged = f"Unchanged: {count(stack.unchanged, 'resource')}. " if stack.unchanged else ""
    judged = f"Judged by {count(stack.rules, 'rule')}." if stack.rules else ""
    if unchanged or judged:
        yield f"{unchanged}{judged}"


def _pools(stack: StackReport, step: Folding) -> Iterator[str]:
    if not stack.pools and not stack.node_hours:
        return
    yield "#### Pools"
    if step >= Folding.FINDINGS:
        pools = {change.pool for change in stack.pools}
        yield f"{count(len(pools), 'pool')} change." if pools else "No pool changes."
    elif stack.pools:
        rows = [(code(each.pool), prose(each.what), _value(each.before), _value(each.after)) for each in stack.pools]
        yield table(("pool", "what", "before", "after"), rows)
    if stack.node_hours:
        yield _hours({"node": stack.node_hours, **{each.resource: each.hours for each in stack.resource_hours}})
    if stack.cost:
        names = ", ".join(prose(name) for name in left_out_of(stack.cost))
        without = f" No price is known for {names}." if names else ""
        yield f"**Cost**: {amounts(stack.cost)}; {prose(basis(stack.cost))}.{without}"
        yield from rehearsed_amounts(stack.cost)


def _hours(found: Mapping[str, Hours]) -> str:
    is_compared = any(hours.least_before is not None for hours in found.values())
    rows = []
    for name, hours in found.items():
        least = (hours.least_before, hours.least_after, "smallest")
        for old, new, size in (least, (hours.most_before, hours.most_after, "largest")):
            compared = (_number(old), f"{new:,}", "unknown" if old is None else difference(old, new))
            what = f"{prose(name)}-hours, all pools at their {size}"
            rows.append((what, *compared) if is_compared else (what, f"{new:,}"))
    return table(("a month", "before", "after", "difference") if is_compared else ("a month", "after"), rows)


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _value(text: str) -> str:
    return prose(text) if text else "(none)"


def _list(rows: list[str], step: Folding) -> str:
    return "\n".join(f"- {row}" for row in _first(rows, step))


def _first(rows: list[str], step: Folding) -> list[str]:
    """Return the rows; in a late step only the first ones and a count of the rest."""
    rest = len(rows) - _ROWS_MAX
    return [*rows[:_ROWS_MAX], f"and {rest:,} more"] if step >= Folding.NAMES and rest > 0 else rows


def _overfull(report: Report, limit: int) -> str:
    """Return a page with the most severe destroyed resources by name, and a count of the rest."""
    total = counts(change for stack in report.stacks for change in stack.changes)
    numbers = ", ".join(f"{OPERATIONS[operation].lower()} {number:,}" for operation, number in total.items())
    blocks = [
        f"## {_SIGNS[report.outcome]} {verdict(report)}",
        f"{meaning(report)} {count(len(report.stacks), 'stack')}: {numbers}.",
        _list([prose(text, _REASON_MAX) for text in report.problems], Folding.NAMES),
        *(f"> **{source}**" for source in sorted({SOURCES[stack.source] for stack in report.stacks} - {""})),
        _list([f"{code(each.stack)}: {prose(note)}" for each in report.stacks for note in each.notes], Folding.NAMES),
        f"**{FOR_OWNERS}**: {count(len(report.judge), 'change')}." if report.judge else "",
        f"**This report is too long for a comment.** Only replaced and deleted resources are listed. {_WHOLE}",
    ]
    head = "\n\n".join(filter(None, blocks))
    lines = list(_destroyed(report))
    room = limit - len(head) - len(f"\n\n- **and {len(lines):,} more**\n")
    listed = 0
    while listed < len(lines) and len(lines[listed]) < room:
        room -= len(lines[listed]) + len("\n")
        listed += 1
    rest = [f"- **and {len(lines) - listed:,} more**"] if listed < len(lines) else []
    return "\n\n".join([head, "\n".join(lines[:listed] + rest)]) + "\n"


def _destroyed(report: Report) -> Iterator[str]:
    """Return a line for each replaced or deleted resource, most severe first."""
    dangerous = {danger.change.urn for stack in report.stacks for danger in stack.dangers}
    changes = [(stack, change) for stack in report.stacks for change in stack.changes]
    for stack, change in sorted(changes, key=lambda row: (row[1].urn not in dangerous, not row[1].carries_state)):
        if change.operation in DESTRUCTIVE:
            name, place = code(change.name, SHORT_NAME), code(stack.stack, SHORT_NAME)
            yield f"- **{OPERATIONS[change.operation]}** {name} in {place}"
