"""From the packs' messages to findings, and from the findings of two judges to one list.

A change is judged twice: by its own rules and rows, and by those of the branch that it goes to. What only the latter
says is what the change tried not to hear.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from policies import diagnostics
from workbench.report.events import PolicyMessage, Remediation, Stream, plain
from workbench.report.model import Finding, FindingStatus, Judge
from workbench.report.values import safe

TEXT_LENGTH: Final = 1_000
"""Characters of a message or a fix that are shown."""

FAILING: Final = (FindingStatus.VIOLATED, FindingStatus.UNJUDGED)
"""What stops a run."""

_ADVISORY: Final = "advisory"
_RANK: Final = {standing: rank for rank, standing in enumerate(FindingStatus)}
_JUDGES: Final = {judge: rank for rank, judge in enumerate(Judge)}


def own_findings(stream: Stream) -> list[Finding]:
    """Return what the rules of a stream's run say, the gravest first."""
    return findings_of(stream.said, stream.remediations)


def findings_of(said: Iterable[PolicyMessage], remediations: Iterable[Remediation]) -> list[Finding]:
    """Return what rules say and what they changed as findings, the gravest first."""
    found = [_finding(message) for message in said]
    mended = [
        Finding(safe(each.policy_name), FindingStatus.ADVISED, Judge.OWN, safe(each.resource_urn), "the rule mended it")
        for each in remediations
    ]
    return _sorted([*found, *mended])


def merged(own: Iterable[Finding], base: Iterable[Finding]) -> list[Finding]:
    """Return the findings of both judges as one list, the gravest first.

    What the rows of the base branch themselves are blamed for is left out: the change may have mended them.

    Parameters
    ----------
    own
        By the rules and rows of the change.
    base
        By those of the branch that it goes to, about the same program.
    """
    ours, theirs = _grouped(own), _grouped(each for each in base if each.urn or not _is_about_a_waiver(each))
    keys = dict.fromkeys([*ours, *theirs])
    return _sorted(each for key in keys for each in _merged(ours.get(key, []), theirs.get(key, [])))


def _finding(said: PolicyMessage) -> Finding:
    # Whatever an unknown level means, it is no advice.
    is_advice = said.enforcement_level == _ADVISORY
    message = plain(said.message)
    found = diagnostics.read(message)
    urn = safe(said.resource_urn)
    if found is None:
        standing = FindingStatus.ADVISED if is_advice else FindingStatus.VIOLATED
        return Finding(safe(said.policy_name), standing, Judge.OWN, urn, safe(message.strip(), TEXT_LENGTH))
    if is_advice:
        standing = FindingStatus.WAIVED if found.waiver else FindingStatus.ADVISED
    else:
        standing = FindingStatus.UNJUDGED if found.is_unjudged else FindingStatus.VIOLATED
    return Finding(
        rule=found.rule,
        standing=standing,
        judge=Judge.OWN,
        urn=urn,
        message=safe(found.message, TEXT_LENGTH),
        fix=safe(found.fix, TEXT_LENGTH),
        reference=safe(found.reference),
        waiver=safe(found.waiver, TEXT_LENGTH) if standing is FindingStatus.WAIVED else "",
    )


def _is_about_a_waiver(finding: Finding) -> bool:
    return finding.reference == diagnostics.ABOUT_WAIVERS


def _grouped(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    groups = defaultdict[tuple[str, str], list[Finding]](list)
    for finding in findings:
        groups[finding.rule, finding.urn].append(finding)
    return groups


def _merged(own: Sequence[Finding], base: Sequence[Finding]) -> Iterator[Finding]:
    """Merge what both say about one rule and one resource; a rule that only changed its words is the same rule."""
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
        # A row of the change covers the resource, whatever its rules still find there.
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
    # The same words twice about the same resource say no more than once.
    return sorted(
        dict.fromkeys(findings), key=lambda f: (_RANK[f.standing], f.rule, f.urn, f.message, _JUDGES[f.judge])
    )
