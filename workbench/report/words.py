"""Texts shared by several renderings."""

from collections.abc import Iterable
from typing import Final

from workbench.report.model import Change, FindingStatus, Operation, Outcome, Report, Source, StackReport

_VERDICTS: Final = {
    Outcome.PASSED: "Passed",
    Outcome.REVIEW: "Owners must review",
    Outcome.BLOCKED: "Blocked",
    Outcome.UNJUDGED: "Evaluation incomplete",
}

_MEANINGS: Final = {
    Outcome.PASSED: "No objections.",
    Outcome.REVIEW: "It passes only with the approval of its owners: it changes rules, waivers, approvals or code.",
    Outcome.BLOCKED: "A mandatory rule, the guard or the engine rejects it.",
    Outcome.UNJUDGED: "The evaluation is incomplete.",
}

_DRIFT_VERDICTS: Final = {**_VERDICTS, Outcome.PASSED: "No drift", Outcome.BLOCKED: "Drift"}
_DRIFT_MEANINGS: Final = {
    **_MEANINGS,
    Outcome.PASSED: "The live resources match the declared state.",
    Outcome.BLOCKED: "The live resources differ from the declared state.",
}
_PARTIAL_VERDICTS: Final = {**_DRIFT_VERDICTS, Outcome.PASSED: "No drift in what was compared"}
_PARTIAL_MEANINGS: Final = {
    **_DRIFT_MEANINGS,
    Outcome.PASSED: "The live resources that were compared match the declared state. Others were left out and may "
    "differ.",
}

FOR_OWNERS: Final = "For the owners to review"
"""Heading of what a change alters besides documents and stack files."""

SOURCES: Final = {
    Source.RENDERED: "Not compared with the live stack: planned without an account, on an empty or simulated state. "
    "The live resources may differ.",
    Source.COMPARED: "",
    Source.DONE: "These changes were made.",
    Source.DRIFT: "The recorded state, compared with the live resources; the program did not run. Each change "
    "listed was made outside Pulumi.",
}
"""Note on the origin of a report, shown first."""

STANDINGS: Final = {
    FindingStatus.VIOLATED: "violated",
    FindingStatus.UNJUDGED: "could not be judged",
    FindingStatus.EXCUSED: "waived only by a row that this change adds or alters",
    FindingStatus.WAIVED: "waived",
    FindingStatus.ADVISED: "advised",
}

OPERATIONS: Final = {
    Operation.REPLACE: "Replace",
    Operation.DELETE: "Delete",
    Operation.CREATE: "Create",
    Operation.UPDATE: "Update",
}

DESTRUCTIVE: Final = (Operation.REPLACE, Operation.DELETE)


def verdict(about: Report | StackReport) -> str:
    """Return the verdict as text."""
    if not _is_drift(about):
        return _VERDICTS[about.outcome]
    is_partial = about.is_partial if isinstance(about, Report) else about.notes
    return (_PARTIAL_VERDICTS if is_partial else _DRIFT_VERDICTS)[about.outcome]


def meaning(report: Report) -> str:
    """Return what the verdict means, a sentence."""
    if not _is_drift(report):
        return _MEANINGS[report.outcome]
    return (_PARTIAL_MEANINGS if report.is_partial else _DRIFT_MEANINGS)[report.outcome]


def _is_drift(about: Report | StackReport) -> bool:
    stacks = about.stacks if isinstance(about, Report) else (about,)
    return {stack.source for stack in stacks} == {Source.DRIFT}


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 finding``, ``3,000 findings``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def counts(changes: Iterable[Change]) -> dict[Operation, int]:
    """Return how many resources each operation concerns."""
    operations = [change.operation for change in changes]
    return {operation: operations.count(operation) for operation in Operation}


def about(stack: StackReport) -> str:
    """Return environment and kind of a stack, as far as they are known."""
    return ", ".join(filter(None, (stack.environment, stack.kind)))


def difference(before: int, after: int) -> str:
    """Return by how much a number changes, with its sign."""
    return f"{after - before:+,}" if after != before else "none"


def type_and_name(urn: str) -> tuple[str, str]:
    """Return the type and name in a URN; an empty type if it is not a URN."""
    parts = urn.split("::", 3)
    return (
        (parts[2].rpartition("$")[2], parts[3])
        if len(parts) == len(("stack", "project", "type", "name"))
        else ("", urn)
    )
