"""Converts policy messages to findings, and merges the findings of two evaluations.

A change is evaluated twice: with its own rules and waivers, and with those of its base branch. Violations that only
the base branch reports were removed or weakened by the change itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from policies import diagnostics
from workbench.report.event_payloads import PolicyMessage, Remediation
from workbench.report.events import Stream, plain
from workbench.report.model import Finding, FindingStatus, Judge
from workbench.report.values import safe

TEXT_LENGTH: Final = 1_000
"""Maximum number of characters shown of a message or a fix."""

FAILING: Final = (FindingStatus.VIOLATED, FindingStatus.UNJUDGED)
"""Statuses that fail a run."""

_ADVISORY: Final = "advisory"
_RANK: Final = {standing: rank for rank, standing in enumerate(FindingStatus)}
_JUDGES: Final = {judge: rank for rank, judge in enumerate(Judge)}


def own_findings(stream: Stream) -> list[Finding]:
    """Return the findings in a stream, most severe first."""
    return findings_of(stream.said, stream.remediations)


def findings_of(said: Iterable[PolicyMessage], remediations: Iterable[Remediation]) -> list[Finding]:
    """Return violations and remediations as findings, most severe first."""
    violations = [_finding(message) for message in said]
    remediated = [
        Finding(safe(each.policy_name), FindingStatus.ADVISED, Judge.OWN, safe(each.resource_urn), "remediated")
        for each in remediations
    ]
    return _sorted([*violations, *remediated])


def merged(own: Iterable[Finding], base: Iterable[Finding]) -> list[Finding]:
    """Return the merged findings of both evaluations, most severe first.

    Findings about waivers of the base branch are left out, since the change may have fixed those waivers.

    Parameters
    ----------
    own
        Findings with the rules and waivers of the change.
    base
        Findings about the same program with those of its base branch.
    """
    ours, theirs = _grouped(own), _grouped(each for each in base if each.urn or not _is_about_a_waiver(each))
    keys = dict.fromkeys([*ours, *theirs])
    return _sorted(each for key in keys for each in _merged(ours.get(key, []), theirs.get(key, [])))


def _finding(violation: PolicyMessage) -> Finding:
    # An unknown level counts as mandatory.
    is_advice = violation.enforcement_level == _ADVISORY
    message = plain(violation.message)
    diagnostic = diagnostics.read(message)
    urn = safe(violation.resource_urn)
    if diagnostic is None:
        standing = FindingStatus.ADVISED if is_advice else FindingStatus.VIOLATED
        return Finding(safe(violation.policy_name), standing, Judge.OWN, urn, safe(message.strip(), TEXT_LENGTH))
    if is_advice:
        standing = FindingStatus.WAIVED if diagnostic.waiver else FindingStatus.ADVISED
    else:
        standing = FindingStatus.UNJUDGED if diagnostic.is_unjudged else FindingStatus.VIOLATED
    return Finding(
        rule=diagnostic.rule,
        standing=standing,
        judge=Judge.OWN,
        urn=urn,
        message=safe(diagnostic.message, TEXT_LENGTH),
        fix=safe(diagnostic.fix, TEXT_LENGTH),
        reference=safe(diagnostic.reference),
        waiver=safe(diagnostic.waiver, TEXT_LENGTH) if standing is FindingStatus.WAIVED else "",
    )


def _is_about_a_waiver(finding: Finding) -> bool:
    return finding.reference == diagnostics.ABOUT_WAIVERS


def _grouped(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    groups = defaultdict[tuple[str, str], list[Finding]](list)
    for finding in findings:
        groups[finding.rule, finding.urn].append(finding)
    return groups


def _merged(own: Sequence[Finding], base: Sequence[Finding]) -> Iterator[Finding]:
    """Yield both evaluations' findings about one rule and resource, merged; a reworded message is the same finding."""
    by_message = {each.message: each for each in base}
    alone = [each for each in own if each.message not in by_message]
    pairs = [(each, by_message.pop(each.message)) for each in own if each.message in by_message]
    left = list(by_message.values())
    reworded = list(zip(alone, left, strict=False))
    for ours, theirs in [*pairs, *reworded]:
        yield _pair(ours, theirs)
    yield from alone[len(reworded) :]
    is_waived = any(each.standing is FindingStatus.WAIVED for each in own)
    for theirs in left[len(reworded) :]:
        # A waiver of the change covers the resource.
        is_excused = is_waived and theirs.standing in FAILING
        yield replace(theirs, judge=Judge.BASE, standing=FindingStatus.EXCUSED if is_excused else theirs.standing)


def _pair(own: Finding, base: Finding) -> Finding:
    if own.standing is base.standing:
        return replace(own, judge=Judge.BOTH)
    if own.standing in FAILING and base.standing in FAILING:
        return replace(min(own, base, key=lambda each: _RANK[each.standing]), judge=Judge.BOTH)
    if own.standing is FindingStatus.WAIVED and base.standing in FAILING:
        return replace(own, standing=FindingStatus.EXCUSED)
    graver = min(own, base, key=lambda each: _RANK[each.standing])
    return replace(graver, judge=Judge.OWN if graver is own else Judge.BASE)


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    # Removes duplicates.
    return sorted(
        dict.fromkeys(findings), key=lambda f: (_RANK[f.standing], f.rule, f.urn, f.message, _JUDGES[f.judge])
    )
