"""From the streams of a stack to what is to be said about it, and to the verdict.

Nothing passes by silence: a stream must be whole, must end well, and every resource in it must have been judged by
every pack.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from components.contract.policy_guard import PolicyGuard
from infra.config import CONFIG_KEY, ConfigurationError, parse
from policies.diagnostics import ALL_PACKS, pack_name
from policies.rule import Pack
from policies.waivers import WHOLE_STACK, Approval, Waiver
from workbench.report import pools
from workbench.report.approvals import approval_of, expired_approval_of
from workbench.report.changes import Changed, changes_of, unchanged
from workbench.report.events import Stream, Summary
from workbench.report.findings import FAILING, TEXT_LENGTH, merged, own_findings
from workbench.report.model import Change, Danger, Finding, FindingStatus, Judge, Outcome, Source, StackReport, gravest
from workbench.report.values import safe

PACKS: Final = frozenset(map(pack_name, Pack))

PROBLEMS_MAX: Final = 20
"""Problems of a stack that are named; more are counted."""

_SUCCEEDED: Final = "succeeded"
_JUDGED_OPS: Final = frozenset({"create", "update", "same", "replace", "create-replacement", "import"})
"""Steps of resources that the program declares: the engine shows them to the packs. Others it only takes away."""

_SAYS_NOTHING: Final = frozenset({"preview failed", "update failed", "destroy failed"})
"""What the engine ends with after everything that it has explained."""


@dataclass(frozen=True)
class Approvals:
    """The rows that approve dangers.

    Parameters
    ----------
    standing
        Those of the branch that a change goes to; in a working copy all there are.
    new
        Those of the change.
    """

    standing: Sequence[Approval] = ()
    new: Sequence[Approval] = ()


@dataclass(frozen=True)
class Case:
    """What is judged.

    Parameters
    ----------
    stack, environment, kind
        As in ``StackReport``; the latter two by the stream if they are empty.
    source
        As there.
    own
        The run with the change's own rules and rows.
    base
        The run with those of the branch that it goes to; None where there is no other judge.
    guard
        What happens to a danger without an approval. Default: what the stream says, in doubt that it is refused.
    approvals
        The rows that may approve it.
    new_waivers
        The waivers that the change adds or alters.
    """

    stack: str
    source: Source
    own: Stream
    base: Stream | None = None
    environment: str = ""
    kind: str = ""
    guard: PolicyGuard | None = None
    approvals: Approvals = field(default_factory=Approvals)
    new_waivers: Sequence[Waiver] = ()


def judge(case: Case) -> StackReport:
    """Return what is to be said about a stack."""
    environment, kind, guard = _choices(case.own)
    changes = changes_of(case.own)
    findings = own_findings(case.own)
    gaps = list(_gaps(case, case.own, findings))
    if case.base is not None:
        theirs = own_findings(case.base)
        gaps += [f"judged by the base branch: {gap}" for gap in _gaps(case, case.base, theirs)]
        gaps += _disagreement(case, case.base)
        findings = [_with_its_row(case, finding) for finding in merged(findings, theirs)]
    is_drift = case.source is Source.DRIFT
    before = after = None
    try:
        if not is_drift:  # what the program wants of pools is what it wanted
            before, after = pools.before_and_after(case.own)
    except pools.UnreadableError:
        gaps.append("the stack's output 'pools' is not a map of node groups by name")
    dangers, errors = tuple(_dangers(case, changes)), list(_errors(case.own))
    against = [
        *_failed(case, gaps, errors),
        *_against(findings),
        *_endangered(case, dangers, case.guard or guard),
        *_drifted(case, changes),
    ]
    return StackReport(
        stack=safe(case.stack),
        environment=case.environment or environment,
        kind=case.kind or kind,
        source=case.source,
        outcome=gravest(outcome for outcome, _ in against),
        reasons=tuple(safe(reason, TEXT_LENGTH) for _, reason in sorted(against, key=_gravest_first)),
        dangers=dangers,
        # What the engine protects, others can delete.
        changes=tuple(replace(each.change, protected=each.change.protected and not is_drift) for each in changes),
        findings=tuple(findings),
        pools=() if after is None else pools.differences(before, after),
        node_hours=None if after is None else pools.node_hours(before, after),
        resource_hours=() if after is None else pools.resource_hours(before, after),
        problems=_bounded([*gaps, *errors]),
        rules=len(
            {rule for each in (*case.own.judged, *case.own.judged_stack) for rule in (*each.passed, *each.failed)}
        ),
        unchanged=unchanged(case.own),
    )


def broken(stack: str, source: Source, problems: Iterable[str], environment: str = "", kind: str = "") -> StackReport:
    """Return what is to be said about a stack whose file is wrong."""
    found = _bounded([safe(each, TEXT_LENGTH) for each in problems])
    return StackReport(safe(stack), environment, kind, source, Outcome.BLOCKED, (_WRONG_FILE,), problems=found)


def unreadable(stack: str, source: Source, problem: str, environment: str = "", kind: str = "") -> StackReport:
    """Return what is to be said about a stack of which there is no stream."""
    found = (safe(problem, TEXT_LENGTH),)
    reason = _NOT_COMPARED if source is Source.DRIFT else _NOT_WHOLE
    return StackReport(safe(stack), environment, kind, source, Outcome.UNJUDGED, (reason,), problems=found)


_WRONG_FILE: Final = "the stack file is wrong"
_NOT_WHOLE: Final = "what the engine planned is not known whole"
_NOT_COMPARED: Final = "the state could not be compared with what is live"
_REFUSED: Final = "the engine or the program refuses it"


def _gravest_first(against: tuple[Outcome, str]) -> int:
    return -list(Outcome).index(against[0])


def _choices(stream: Stream) -> tuple[str, str, PolicyGuard]:
    """Return environment, kind and guard of the stack as its program was told them."""
    try:
        config = parse(json.loads(stream.config.get(CONFIG_KEY, "null")))
    except (ConfigurationError, ValueError, RecursionError):
        return "", "", PolicyGuard.REQUIRED
    return config.environment.value, config.cluster.kind, config.policy_guard


def _gaps(case: Case, stream: Stream, findings: Iterable[Finding]) -> Iterator[str]:
    """Return why nobody can say what is in a stream."""
    yield from stream.invalid_lines
    others = sorted({step.stack for step in (*stream.steps, *stream.results)} - {case.stack})
    if others:
        yield f"the event stream is about the stack {safe(others[0])}, wanted {safe(case.stack)}"
    summary = stream.summary
    if summary is None:
        return
    if summary.maybe_corrupt:
        yield "the engine says that a resource may be in an invalid state"
    if summary.result == _SUCCEEDED:
        yield from _unjudged(case, stream, summary)
    elif not list(_errors(stream)) and not any(each.standing in FAILING for each in findings):
        yield f"the engine's run ended as '{safe(summary.result)}', and nothing says why"


def _unjudged(case: Case, stream: Stream, summary: Summary) -> Iterator[str]:
    """Return what the packs were not asked about."""
    if not stream.steps:
        yield "the event stream has no step of a resource"
    if case.source is Source.DRIFT:
        return
    declared = {step.urn for step in stream.steps if step.op in _JUDGED_OPS}
    attached = {name.partition("|")[0] for name in summary.policy_packs}
    expected = {ALL_PACKS} if ALL_PACKS in attached else PACKS
    for pack in sorted(expected) if declared else ():
        judged = {each.resource_urn for each in stream.judged if each.policy_pack_name == pack}
        if pack not in attached:
            yield f"the policy pack {pack} was not attached"
        elif missed := declared - judged:
            yield f"the policy pack {pack} judged {len(declared) - len(missed)} of {len(declared)} resources"
        if pack in attached and pack not in {each.policy_pack_name for each in stream.judged_stack}:
            yield f"the policy pack {pack} did not judge the stack as a whole"


def _disagreement(case: Case, base: Stream) -> Iterator[str]:
    """Return why the base branch's judge says nothing about a plan that the change's own judge lets pass."""
    own = case.own
    if not (own.summary and own.summary.result == _SUCCEEDED):
        return
    # What the program refuses only under that judge has no other word against it.
    yield from (f"judged by the base branch, the run failed: {error}" for error in _errors(base))
    plans = [{(step.urn, step.op) for step in stream.steps} for stream in (own, base)]
    if plans[0] != plans[1]:
        yield "the change's own judge and that of the base branch saw different plans"
    if base.summary and base.summary.result != _SUCCEEDED:
        yield from (f"judged by the base branch: {gap}" for gap in _unjudged(case, base, base.summary))


def _errors(stream: Stream) -> Iterator[str]:
    """Return what the engine or the program refuses."""
    failed = stream.summary is None or stream.summary.result != _SUCCEEDED
    for text in stream.errors if failed else ():
        if text not in _SAYS_NOTHING:
            line = " ".join(text.split())
            yield safe(line if len(line) <= TEXT_LENGTH else f"... {line[4 - TEXT_LENGTH :]}", TEXT_LENGTH)


def _with_its_row(case: Case, finding: Finding) -> Finding:
    """Return the finding; violated, if the change's own packs say that it is waived and no row of the change does."""
    if finding.standing is not FindingStatus.EXCUSED:
        return finding
    *_, kinds, name = ["", "", *finding.urn.split("::", 3)[2:]]
    token = kinds.rpartition("$")[2]
    excusing = (
        waiver
        for waiver in case.new_waivers
        if (waiver.rule, waiver.stack) == (finding.rule, case.stack) and not waiver.has_expired
    )
    if any(each.covers(token, name) if name else each.resource == WHOLE_STACK for each in excusing):
        return finding
    return replace(finding, standing=FindingStatus.VIOLATED, judge=Judge.BASE, waiver="")


def _dangers(case: Case, changes: Iterable[Changed]) -> Iterator[Danger]:
    for change, kind in changes:
        if kind and case.source is not Source.DRIFT:  # what is gone already, nobody can stop or approve
            standing = approval_of(change, case.stack, case.approvals.standing)
            new = approval_of(change, case.stack, case.approvals.new)
            yield Danger(change, kind, safe(standing or new, TEXT_LENGTH), is_new=bool(new and not standing))


def _against(findings: Sequence[Finding]) -> Iterator[tuple[Outcome, str]]:
    """Return what rules say against a change."""
    failing = [finding for finding in findings if finding.standing in FAILING]
    rules = {
        (Outcome.BLOCKED, "violated"): [each for each in failing if each.judge is not Judge.BASE],
        (Outcome.BLOCKED, "violated, by the rules of the base branch"): [
            each for each in failing if each.judge is Judge.BASE
        ],
        (Outcome.REVIEW, "waived only by rows of the same change"): [
            each for each in findings if each.standing is FindingStatus.EXCUSED
        ],
    }
    for (outcome, what), found in rules.items():
        if found:
            yield outcome, f"{what}: {', '.join(dict.fromkeys(finding.rule for finding in found))}"


def _endangered(case: Case, dangers: Sequence[Danger], guard: PolicyGuard) -> Iterator[tuple[Outcome, str]]:
    """Return what dangers say against a change."""
    unapproved = [_named(case, danger) for danger in dangers if not danger.approval]
    if unapproved and guard is PolicyGuard.REQUIRED:
        yield Outcome.BLOCKED, f"not approved: {', '.join(unapproved)}"
    if unapproved and guard is PolicyGuard.WARN:
        yield Outcome.REVIEW, f"not approved, and only warned of: {', '.join(unapproved)}"
    if newly := [_named(case, danger) for danger in dangers if danger.is_new]:
        yield Outcome.REVIEW, f"approved only by rows of the same change: {', '.join(newly)}"


def _failed(case: Case, gaps: Sequence[str], errors: Sequence[str]) -> Iterator[tuple[Outcome, str]]:
    if case.source is Source.DRIFT:
        if gaps or errors:
            yield Outcome.UNJUDGED, _NOT_COMPARED
        return
    if gaps:
        yield Outcome.UNJUDGED, _NOT_WHOLE
    if errors:
        yield Outcome.BLOCKED, _REFUSED


def _drifted(case: Case, changes: Sequence[Changed]) -> Iterator[tuple[Outcome, str]]:
    if changes and case.source is Source.DRIFT:
        count = "1 resource is" if len(changes) == 1 else f"{len(changes)} resources are"
        yield Outcome.BLOCKED, f"drift: {count} not as declared"


def _named(case: Case, danger: Danger) -> str:
    change: Change = danger.change
    rows = (*case.approvals.standing, *case.approvals.new)
    gone = "" if danger.approval else expired_approval_of(change, case.stack, rows)
    return f"to {change.operation} the {danger.kind} {change.name}" + (f" ({gone})" if gone else "")


def _bounded(problems: Sequence[str]) -> tuple[str, ...]:
    rest = len(problems) - PROBLEMS_MAX
    return (*problems[:PROBLEMS_MAX], *([f"and {rest} more"] if rest > 0 else []))
