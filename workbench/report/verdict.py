"""Computes a stack's report and verdict from its event streams.

A change passes only if its stream is complete, its run succeeded, and every pack evaluated every resource.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from components.contract.policy_guard import PolicyGuard
from components.stack_files.base import BASE_KEY
from infra.config import CONFIG_KEY, ConfigurationError
from infra.config.inheritance import resolve
from policies.diagnostics import ALL_PACKS, pack_name
from policies.rule import Pack
from policies.waivers import WHOLE_STACK, Approval, Waiver
from workbench import stacks
from workbench.report import costs, pools
from workbench.report.approvals import approval_of, expired_approval_of
from workbench.report.changes import Changed, changes_of, unchanged
from workbench.report.event_payloads import Summary
from workbench.report.events import NOT_COMPARED, Stream
from workbench.report.findings import FAILING, TEXT_LENGTH, merged, own_findings
from workbench.report.model import (
    Change,
    Danger,
    Finding,
    FindingStatus,
    Judge,
    Outcome,
    Source,
    StackReport,
    most_severe,
)
from workbench.report.rehearsed import Rehearsal
from workbench.report.values import safe
from workbench.system.paths import PROJECT_ROOT

PACKS: Final = frozenset(map(pack_name, Pack))

PROBLEMS_MAX: Final = 20
"""Maximum number of problems listed per stack; the rest are counted."""

_SUCCEEDED: Final = "succeeded"
_JUDGED_OPS: Final = frozenset({"create", "update", "same", "replace", "create-replacement", "import"})
"""Steps of declared resources, which the engine passes to the packs."""

_UNINFORMATIVE: Final = frozenset({"preview failed", "update failed", "destroy failed"})
"""Final engine messages that only repeat earlier errors."""


@dataclass(frozen=True)
class Approvals:
    """Approvals of dangerous changes.

    Parameters
    ----------
    standing
        Approvals in the base branch; in a working copy, all.
    new
        Approvals added or altered by the change.
    """

    standing: Sequence[Approval] = ()
    new: Sequence[Approval] = ()


@dataclass(frozen=True)
class Case:
    """Input of a verdict.

    Parameters
    ----------
    stack, environment, kind
        As in ``StackReport``; the last two are read from the stream if empty.
    source
        As in ``StackReport``.
    own
        The run with the change's own rules and waivers.
    base
        The run with those of the base branch; None if there is none.
    guard
        What happens to a danger without an approval. Default: as in the stream, or blocked if that is unknown.
    approvals
        Approvals of dangerous changes.
    new_waivers
        Waivers that the change adds or alters.
    rehearsals
        What was rehearsed on the stack.
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
    rehearsals: Sequence[Rehearsal] = ()


def judge(case: Case) -> StackReport:
    """Return the report on a stack."""
    environment, kind, guard = _choices(case)
    changes = changes_of(case.own)
    findings = own_findings(case.own)
    gaps = list(_gaps(case, case.own, findings))
    if case.base is not None:
        theirs = own_findings(case.base)
        gaps += [f"with the base branch's rules: {gap}" for gap in _gaps(case, case.base, theirs)]
        gaps += _disagreement(case, case.base)
        findings = [_checked_waiver(case, finding) for finding in merged(findings, theirs)]
    is_drift = case.source is Source.DRIFT
    before = after = None
    try:
        if not is_drift:  # without a program run the outputs cannot change
            before, after = pools.before_and_after(case.own)
    except pools.UnreadableError:
        gaps.append("the stack's output 'pools' is not a map of node groups by name")
    dangers, errors = tuple(_dangers(case, changes)), list(_errors(case.own))
    against = [
        *_from_errors(case, gaps, errors),
        *_from_findings(findings),
        *_from_dangers(case, dangers, case.guard or guard),
        *_from_drift(case, changes),
    ]
    environment, kind = case.environment or environment, case.kind or kind
    changed_pools = () if after is None else pools.differences(before, after)
    money = None
    if changed_pools and after is not None:
        money = costs.cost(case.own, (before, after), kind, environment, case.rehearsals)
    return StackReport(
        stack=safe(case.stack),
        environment=environment,
        kind=kind,
        source=case.source,
        outcome=most_severe(outcome for outcome, _ in against),
        reasons=tuple(safe(reason, TEXT_LENGTH) for _, reason in sorted(against, key=_gravest_first)),
        dangers=dangers,
        # Drift may include protected resources that others deleted.
        changes=tuple(replace(each.change, protected=each.change.protected and not is_drift) for each in changes),
        findings=tuple(findings),
        pools=changed_pools,
        node_hours=None if after is None else pools.node_hours(before, after),
        resource_hours=() if after is None else pools.resource_hours(before, after),
        cost=money,
        problems=_bounded([*gaps, *errors]),
        notes=tuple(safe(note, TEXT_LENGTH) for note in [case.own.config.get(NOT_COMPARED)] if note and is_drift),
        rules=len(
            {rule for each in (*case.own.judged, *case.own.judged_stack) for rule in (*each.passed, *each.failed)}
        ),
        unchanged=unchanged(case.own),
    )


def broken(stack: str, source: Source, problems: Iterable[str], environment: str = "", kind: str = "") -> StackReport:
    """Return the report on a stack with an invalid file."""
    bounded = _bounded([safe(each, TEXT_LENGTH) for each in problems])
    return StackReport(safe(stack), environment, kind, source, Outcome.BLOCKED, (_WRONG_FILE,), problems=bounded)


def unreadable(stack: str, source: Source, problem: str, environment: str = "", kind: str = "") -> StackReport:
    """Return the report on a stack without an event stream."""
    problems = (safe(problem, TEXT_LENGTH),)
    reason = _NOT_COMPARED if source is Source.DRIFT else _INCOMPLETE
    return StackReport(safe(stack), environment, kind, source, Outcome.UNJUDGED, (reason,), problems=problems)


_WRONG_FILE: Final = "the stack file is invalid"
_INCOMPLETE: Final = "the plan is incomplete"
_NOT_COMPARED: Final = "the state could not be compared with the live resources"
_FAILED: Final = "the engine or the program reports an error"


def _gravest_first(against: tuple[Outcome, str]) -> int:
    return -list(Outcome).index(against[0])


def _choices(case: Case) -> tuple[str, str, PolicyGuard]:
    """Return environment, kind and guard from the stack's configuration in the stream, and from its base."""
    try:
        settings = json.loads(case.own.config.get(CONFIG_KEY, "null"))
        is_refining = isinstance(settings, dict) and BASE_KEY in settings
        file = stacks.stack_files().get(case.stack) if is_refining else None
        config = resolve(settings, file.parent if file else PROJECT_ROOT)
    except (ConfigurationError, ValueError, RecursionError):
        return "", "", PolicyGuard.REQUIRED
    return config.environment.value, config.cluster.kind, config.policy_guard


def _gaps(case: Case, stream: Stream, findings: Iterable[Finding]) -> Iterator[str]:
    """Return why a stream is incomplete."""
    yield from stream.invalid_lines
    others = sorted({step.stack for step in (*stream.steps, *stream.results)} - {case.stack})
    if others:
        yield f"the event stream is about the stack {safe(others[0])}, expected {safe(case.stack)}"
    summary = stream.summary
    if summary is None:
        return
    if summary.maybe_corrupt:
        yield "the engine reports that a resource may be in an invalid state"
    if summary.result == _SUCCEEDED:
        yield from _unjudged(case, stream, summary)
    elif not list(_errors(stream)) and not any(each.standing in FAILING for each in findings):
        yield f"the engine's run ended as '{safe(summary.result)}' without an error message"


def _unjudged(case: Case, stream: Stream, summary: Summary) -> Iterator[str]:
    """Return which evaluations by the packs are missing."""
    if not stream.steps:
        yield "the event stream contains no resource steps"
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
            yield f"the policy pack {pack} evaluated {len(declared) - len(missed)} of {len(declared)} resources"
        if pack in attached and pack not in {each.policy_pack_name for each in stream.judged_stack}:
            yield f"the policy pack {pack} did not evaluate the stack as a whole"


def _disagreement(case: Case, base: Stream) -> Iterator[str]:
    """Return why the base branch's evaluation does not confirm a plan that passed the change's own."""
    own = case.own
    if not (own.summary and own.summary.result == _SUCCEEDED):
        return
    # Errors that occur only in the base branch's evaluation would otherwise go unreported.
    yield from (f"with the base branch's rules, the run failed: {error}" for error in _errors(base))
    plans = [{(step.urn, step.op) for step in stream.steps} for stream in (own, base)]
    if plans[0] != plans[1]:
        yield "the change's own rules and those of the base branch evaluated different plans"
    if base.summary and base.summary.result != _SUCCEEDED:
        yield from (f"with the base branch's rules: {gap}" for gap in _unjudged(case, base, base.summary))


def _errors(stream: Stream) -> Iterator[str]:
    """Return the errors of the engine and the program."""
    failed = stream.summary is None or stream.summary.result != _SUCCEEDED
    for text in stream.errors if failed else ():
        if text not in _UNINFORMATIVE:
            line = " ".join(text.split())
            yield safe(line if len(line) <= TEXT_LENGTH else f"... {line[4 - TEXT_LENGTH :]}", TEXT_LENGTH)


def _checked_waiver(case: Case, finding: Finding) -> Finding:
    """Return the finding; violated if the change's packs report a waiver that is not in the change's file."""
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
        if kind and case.source is not Source.DRIFT:  # drift has already happened and cannot be approved
            standing = approval_of(change, case.stack, case.approvals.standing)
            new = approval_of(change, case.stack, case.approvals.new)
            yield Danger(change, kind, safe(standing or new, TEXT_LENGTH), is_new=bool(new and not standing))


def _from_findings(findings: Sequence[Finding]) -> Iterator[tuple[Outcome, str]]:
    """Return the outcomes that follow from findings."""
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
    for (outcome, what), matching in rules.items():
        if matching:
            yield outcome, f"{what}: {', '.join(dict.fromkeys(finding.rule for finding in matching))}"


def _from_dangers(case: Case, dangers: Sequence[Danger], guard: PolicyGuard) -> Iterator[tuple[Outcome, str]]:
    """Return the outcomes that follow from dangers."""
    unapproved = [_named(case, danger) for danger in dangers if not danger.approval]
    if unapproved and guard is PolicyGuard.REQUIRED:
        yield Outcome.BLOCKED, f"not approved: {', '.join(unapproved)}"
    if unapproved and guard is PolicyGuard.WARN:
        yield Outcome.REVIEW, f"not approved (warning only): {', '.join(unapproved)}"
    if newly := [_named(case, danger) for danger in dangers if danger.is_new]:
        yield Outcome.REVIEW, f"approved only by rows of the same change: {', '.join(newly)}"


def _from_errors(case: Case, gaps: Sequence[str], errors: Sequence[str]) -> Iterator[tuple[Outcome, str]]:
    if case.source is Source.DRIFT:
        if gaps or errors:
            yield Outcome.UNJUDGED, _NOT_COMPARED
        return
    if gaps:
        yield Outcome.UNJUDGED, _INCOMPLETE
    if errors:
        yield Outcome.BLOCKED, _FAILED


def _from_drift(case: Case, changes: Sequence[Changed]) -> Iterator[tuple[Outcome, str]]:
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
