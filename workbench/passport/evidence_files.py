"""Claims from files that other commands wrote: the report of a rehearsal, the record of an acceptance run, restores."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from workbench.acceptance.record import FROM_ZERO, PODS, Record, StepRecord
from workbench.acceptance.record import Result as StepResult
from workbench.passport.model import Claim, Covers, Evidence, Result, unverified
from workbench.stacks import Stack
from workbench.system.errors import UserError

REHEARSAL: Final = "rehearsal"
ACCEPTANCE: Final = "acceptance"
GPUS_FROM_ZERO: Final = f"{ACCEPTANCE}/gpus-from-zero"
RESTORE: Final = "restore"

_STEPS: Final = {StepResult.PASSED: Result.PASSED, StepResult.FAILED: Result.FAILED}
"""Steps that were skipped or interrupted show nothing."""


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class _Verdict(_Shape):
    expectation: str
    is_met: bool


class _Outcome(_Shape):
    stack: str
    scenario: str
    description: str
    skipped: str
    lost: str
    is_reference: bool
    is_met: bool
    verdicts: list[_Verdict]
    stack_digest: str = ""


class _Report(_Shape):
    """The needed parts of the JSON that ``igz-clusters rehearse`` writes."""

    schema_version: Literal[1]
    release: str = ""
    made: AwareDatetime | None = None
    outcomes: list[_Outcome]


class _Restore(_Shape):
    of: str
    ended: AwareDatetime | None
    state: str
    is_restored: bool


class _Backups(_Shape):
    """The needed parts of the JSON that ``igz-clusters backup list`` writes."""

    stack: str
    stack_digest: str
    release: str
    made: AwareDatetime
    restores: list[_Restore]


def rehearsal_claims(file: Path | None, stack: Stack, release: str) -> Iterator[Claim]:
    """Yield a claim for each scenario of a report; without a report, the claim that nothing is verified.

    Raises
    ------
    UserError
        The file is not such a report, or is about another stack file or release.
    """
    if file is None:
        yield unverified(REHEARSAL, "Rehearsed work meets its expectations", "No report of a rehearsal was given.")
        return
    hint = f"Write it with: igz-clusters rehearse {stack.name} --json > rehearsal.json"
    content = _content(file, "--rehearsal", hint)
    try:
        report = _Report.model_validate_json(content)
    except ValidationError:
        raise UserError(f"--rehearsal: {file} is not the JSON of a rehearsal.", hint) from None
    outcomes = [each for each in report.outcomes if each.stack == stack.name and not each.is_reference]
    if not outcomes:
        about = ", ".join(dict.fromkeys(each.stack for each in report.outcomes)) or "no stack"
        raise UserError(f"--rehearsal: {file} is about {about}, not about '{stack.name}'.", hint)
    digests = {each.stack_digest for each in outcomes}
    _require_same(f"--rehearsal: {file}", stack, (report.release, release), digests, hint)
    evidence = (_evidence(file, content, report.made),)
    for each in outcomes:
        why = each.skipped or each.lost
        missed = [verdict.expectation for verdict in each.verdicts if not verdict.is_met]
        result = (
            Result.NOT_VERIFIED
            if why or not each.verdicts
            else Result.FAILED
            if missed or not each.is_met
            else Result.PASSED
        )
        yield Claim(
            id=f"{REHEARSAL}/{each.scenario}",
            subject=f"Rehearsed on simulated nodes: {each.description}",
            result=result,
            covers=Covers.WHOLE,
            detail=why or (f"missed: {'; '.join(missed)}" if missed else f"{len(each.verdicts)} expectations"),
            rests_on=(),
            evidence=evidence,
        )


def acceptance_claims(file: Path | None, stack: Stack, release: str) -> Iterator[Claim]:
    """Yield a claim for each step of a record; without a record, the claim that nothing is verified.

    Raises
    ------
    UserError
        The file is not such a record, or is about another stack file or release.
    """
    if file is None:
        yield unverified(ACCEPTANCE, "The life cycle works in a copy of the stack", "No record of `accept` was given.")
        return
    hint = f"Write it with: igz-clusters accept {stack.name}"
    content = _content(file, "--acceptance", hint)
    try:
        record = TypeAdapter(Record).validate_json(content)
        started = TypeAdapter(AwareDatetime).validate_python(record.started)
    except ValueError:
        raise UserError(f"--acceptance: {file} is not a record of `accept`.", hint) from None
    if record.stack != stack.name:
        raise UserError(f"--acceptance: {file} is about '{record.stack}', not about '{stack.name}'.", hint)
    _require_same(f"--acceptance: {file}", stack, (record.release, release), {record.digest}, hint)
    evidence = (_evidence(file, content, started),)
    for each in record.steps:
        yield _step(each, record.left_out, evidence)
    yield _gpus_from_zero(record, stack, evidence)


def _gpus_from_zero(record: Record, stack: Stack, evidence: tuple[Evidence, ...]) -> Claim:
    """Return the claim that a GPU pool grew from zero: the step passes also if every pool had nodes."""
    landed = any(each.name == PODS and each.result is StepResult.PASSED for each in record.steps)
    gpus = {each.pool for each in stack.config.groups if each.gpu_resource and not each.reservation}
    empty = record.seen.get(FROM_ZERO)
    grown = sorted(gpus.intersection(map(str, empty))) if landed and isinstance(empty, list) else []
    return Claim(
        id=GPUS_FROM_ZERO,
        subject="In a copy of the stack: a GPU pool without nodes grows for a pod",
        result=Result.PASSED if grown else Result.NOT_VERIFIED,
        covers=Covers.PART,
        detail=", ".join(grown)
        or ("No GPU pool was without nodes." if landed else f"The step `{PODS}` has not passed."),
        rests_on=(),
        evidence=evidence if grown else (),
    )


def _step(step: StepRecord, left_out: Sequence[str], evidence: tuple[Evidence, ...]) -> Claim:
    said = f"{step.result}: {step.detail}" if step.result not in _STEPS else step.detail
    return Claim(
        id=f"{ACCEPTANCE}/{step.name.replace(' ', '-')}",
        subject=f"In a copy of the stack: {step.why}",
        result=_STEPS.get(step.result, Result.NOT_VERIFIED),
        covers=Covers.PART if left_out else Covers.WHOLE,
        detail=" ".join((said, *(f"Not in the copy: {each}" for each in left_out))),
        rests_on=(),
        evidence=evidence,
    )


def restore_claim(file: Path | None, stack: Stack, release: str) -> Claim:
    """Return the claim about restores; the restore that ended last decides.

    Raises
    ------
    UserError
        The file is not a list of backups, or is about another stack file or release.
    """
    subject = "The cloud restored a backup of the cluster, or of a volume in one"
    if file is None:
        return unverified(RESTORE, subject, "No list of `backup list` was given.")
    hint = f"Write it with: igz-clusters backup list {stack.name} --json > backups.json"
    content = _content(file, "--backups", hint)
    try:
        listed = _Backups.model_validate_json(content)
    except ValidationError:
        raise UserError(f"--backups: {file} is not the JSON of `backup list`.", hint) from None
    if listed.stack != stack.name:
        raise UserError(f"--backups: {file} is about '{listed.stack}', not about '{stack.name}'.", hint)
    _require_same(f"--backups: {file}", stack, (listed.release, release), {listed.stack_digest}, hint)
    ended = [(each.ended, each) for each in listed.restores if each.ended]
    if not ended:
        return unverified(RESTORE, subject, "The cloud records no restore that has ended.")
    at, last = max(ended, key=lambda each: each[0])
    return Claim(
        id=RESTORE,
        subject=subject,
        result=Result.PASSED if last.is_restored else Result.FAILED,
        covers=Covers.PART,
        detail=f"{last.of}: {last.state} on {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC. Restored data was not checked.",
        rests_on=(),
        evidence=(_evidence(file, content, at),),
    )


def _content(file: Path, option: str, hint: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(f"{option}: {file} cannot be read: {error.strerror}.", hint) from None


def _evidence(file: Path, content: bytes, at: datetime | None) -> Evidence:
    return Evidence(source=file.name, digest=hashlib.sha256(content).hexdigest(), at=at)


def _require_same(option: str, stack: Stack, releases: tuple[str, str], digests: set[str], hint: str) -> None:
    """Refuse evidence about another stack file or of another release; ``releases``: the evidence's, and this one."""
    its, ours = releases
    if its != ours:
        made = f"release {its}" if its else "an earlier release"
        raise UserError(f"{option} was written by {made}; this one is {ours}.", hint)
    if digests != {stack.digest}:
        raise UserError(f"{option} is about other settings of '{stack.name}' than its stack file has.", hint)
