"""Section of the page with advice: the change that was found, its effect, its price and its patch."""

from html import escape
from typing import Final

from infra.config.problems import printable
from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.report.markup import Html, element
from workbench.rehearsal.report.sections import section

PATCH_MAX: Final = 20_000
"""Maximum number of characters of a patch."""


def proposal(advice: Advice) -> Html:
    """Return what the search found for an outcome."""
    parts = [element("p.action", advice.summary)]
    if advice.edits:
        parts.append(element("ul.plain", *map(_effect, _changed(advice))))
        if advice.usd is not None:
            less = "less" if advice.usd < 0 else "more"
            parts.append(element("p", f"The scenario costs {abs(advice.usd):,.2f} USD {less}."))
    if advice.patch:
        parts.append(_patch(advice.patch))
    if advice.unpatched:
        parts.append(element("p", f"Not in the patch: {advice.unpatched}."))
    if advice.refused:
        refused = element("ul.plain", *(element("li", each) for each in advice.refused))
        parts += [element("p.dim", "Not possible, by the checks of the stack file:"), refused]
    return section("Advice", element("div.advice", *parts))


def _changed(advice: Advice) -> list[str]:
    return [
        f"{'Now met' if new.is_met else 'Now missed'}: {new.expectation} ({new.measured})"
        for old, new in advice.verdicts
        if old.is_met != new.is_met
    ]


def _effect(text: str) -> Html:
    return element("li", text)


def _patch(patch: str) -> Html:
    """Return a patch with its lines as they are; only invisible characters are escaped."""
    lines = (escape(printable(line, PATCH_MAX)) for line in patch[:PATCH_MAX].splitlines())
    return element("pre", Html("\n".join(lines)), tabindex="0", aria_label="Patch")
