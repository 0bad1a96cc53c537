"""Words that several renderings say alike."""

from collections.abc import Iterable
from typing import Final

from workbench.report.model import Change, Operation, Outcome, Source, StackReport, Standing

VERDICTS: Final = {
    Outcome.PASSED: "Passed",
    Outcome.REVIEW: "Owners must review",
    Outcome.BLOCKED: "Blocked",
    Outcome.UNJUDGED: "Could not be judged",
}

MEANINGS: Final = {
    Outcome.PASSED: "Nothing speaks against it.",
    Outcome.REVIEW: "It passes only by what the same change alters in its judge.",
    Outcome.BLOCKED: "A mandatory rule, the guard or the engine refuses it.",
    Outcome.UNJUDGED: "Something is missing, cut or broken, so nobody can say.",
}

SOURCES: Final = {
    Source.RENDERED: "Not compared with the live stack: planned without an account, on an empty or pretended state. "
    "What really runs may differ.",
    Source.COMPARED: "",
    Source.DONE: "These changes were made.",
    Source.DRIFT: "The recorded state, compared with what is live: the program did not run.",
}
"""What a reader must know about where a report comes from, before anything else."""

STANDINGS: Final = {
    Standing.VIOLATED: "violated",
    Standing.UNJUDGED: "could not be judged",
    Standing.EXCUSED: "excused only by a row that this change adds or alters",
    Standing.WAIVED: "waived",
    Standing.ADVISED: "advised",
}

OPERATIONS: Final = {
    Operation.REPLACE: "Replace",
    Operation.DELETE: "Delete",
    Operation.CREATE: "Create",
    Operation.UPDATE: "Update",
}

DESTRUCTIVE: Final = (Operation.REPLACE, Operation.DELETE)


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
