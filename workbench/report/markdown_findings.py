"""Renders findings as Markdown, grouped by rule, since a rule's fix is the same for all resources."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from workbench.report.folding import Folding
from workbench.report.markup import code, folded, names, prose
from workbench.report.model import Finding, FindingStatus, Judge, StackReport
from workbench.report.words import STANDINGS, type_and_name

_QUIET: Final = (FindingStatus.WAIVED, FindingStatus.ADVISED)
"""Statuses that need no action before a merge."""

_LINES_OPEN: Final = 6

_JUDGES: Final = {
    Judge.BOTH: "",
    Judge.BASE: ", by the base branch's rules only: **this change removes or weakens the rule**",
    Judge.OWN: "",
}


def findings(stack: StackReport, step: Folding) -> Iterator[str]:
    """Return the findings; long lists of waived and advisory ones are collapsed."""
    loud = [finding for finding in stack.findings if finding.standing not in _QUIET]
    quiet = [finding for finding in stack.findings if finding.standing in _QUIET]
    if stack.findings:
        yield "#### Findings"
    if loud:
        yield "\n".join(_rules(loud, step))
    if quiet:
        lines = list(_rules(quiet, step))
        numbers = Counter(finding.standing for finding in quiet)
        summary = ", ".join(f"{STANDINGS[each].capitalize()} {numbers[each]:,}" for each in _QUIET if numbers[each])
        yield folded(summary, "\n".join(lines), is_open=len(lines) <= _LINES_OPEN)


def _rules(some: list[Finding], step: Folding) -> Iterator[str]:
    by_rule: dict[tuple[FindingStatus, Judge, str, str, str], list[Finding]] = defaultdict(list)
    for finding in some:
        by_rule[finding.standing, finding.judge, finding.rule, finding.fix, finding.reference].append(finding)
    if step >= Folding.FINDINGS:
        numbers = Counter((finding.standing, finding.judge, finding.rule) for finding in some)
        for (standing, judge, rule), number in numbers.items():
            yield f"- **{prose(rule)}** {STANDINGS[standing]}{_JUDGES[judge]}: {number:,}"
        return
    for (standing, judge, rule, fix, reference), same in by_rule.items():
        yield f"- **{prose(rule)}** {STANDINGS[standing]}{_JUDGES[judge]}"
        by_message: dict[tuple[str, str], list[Finding]] = defaultdict(list)
        for finding in same:
            by_message[finding.message, finding.waiver].append(finding)
        for (message, waiver), alike in by_message.items():
            row = f" *The row:* {prose(waiver)}" if waiver else ""
            yield f"  - {_resources(alike)}: {prose(message)}{row}"
        if step < Folding.FIXES and (fix or reference):
            where = f" ({code(reference)})" if reference else ""
            yield f"  - *Fix:* {prose(fix)}{where}"


def _resources(some: list[Finding]) -> str:
    """Return the distinct names of the findings' resources."""
    urns = dict.fromkeys(finding.urn for finding in some)
    return ", ".join(filter(None, ["the stack" if "" in urns else "", names(type_and_name(u)[1] for u in urns if u)]))
