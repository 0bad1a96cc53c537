"""Words that several renderings say alike."""

from collections.abc import Iterable
from typing import Final

from workbench.report.model import Change, FindingStatus, Operation, Outcome, Report, Source, StackReport

_VERDICTS: Final = {
    Outcome.PASSED: "Passed",
    Outcome.REVIEW: "Owners must review",
    Outcome.BLOCKED: "Blocked",
    Outcome.UNJUDGED: "Could not be judged",
}

_MEANINGS: Final = {
    Outcome.PASSED: "Nothing speaks against it.",
    Outcome.REVIEW: "It passes only by what the same change alters in its judge.",
    Outcome.BLOCKED: "A mandatory rule, the guard or the engine refuses it.",
    Outcome.UNJUDGED: "Something is missing, cut or broken, so nobody can say.",
}

_DRIFT_VERDICTS: Final = {**_VERDICTS, Outcome.PASSED: "No drift", Outcome.BLOCKED: "Drift"}
_DRIFT_MEANINGS: Final = {
    **_MEANINGS,
    Outcome.PASSED: "What is live is as it was declared.",
    Outcome.BLOCKED: "What is live is not as it was declared.",
}

SOURCES: Final = {
    Source.RENDERED: "Not compared with the live stack: planned without an account, on an empty or pretended state. "
    "What really runs may differ.",
    Source.COMPARED: "",
    Source.DONE: "These changes were made.",
    Source.DRIFT: "The recorded state, compared with what is live: the program did not run. What is listed was "
    "done behind its back.",
}
"""What a reader must know about where a report comes from, before anything else."""

STANDINGS: Final = {
    FindingStatus.VIOLATED: "violated",
    FindingStatus.UNJUDGED: "could not be judged",
    FindingStatus.EXCUSED: "excused only by a row that this change adds or alters",
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
    """Return the verdict in words."""
    return (_DRIFT_VERDICTS if _is_drift(about) else _VERDICTS)[about.outcome]


def meaning(report: Report) -> str:
    """Return what the verdict means, a sentence."""
    return (_DRIFT_MEANINGS if _is_drift(report) else _MEANINGS)[report.outcome]


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
    """Return what a URN says of the resource itself; empty where it is no URN."""
    parts = urn.split("::", 3)
    return (
        (parts[2].rpartition("$")[2], parts[3])
        if len(parts) == len(("stack", "project", "type", "name"))
        else ("", urn)
    )
