"""The model of a report: all that its renderings show, and nothing that only one of them needs.

Values in it are free of secrets and in a stable order, so that equal input yields equal text. Every text is one
printable line of bounded length, with control characters escaped, so that no terminal obeys it. Markdown and HTML may
be in it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

HOURS_A_MONTH: Final = 730
"""365 days of 24 hours, a twelfth of them."""


class Source(StrEnum):
    """What the engine compared the program with."""

    RENDERED = "rendered"
    """With a state that was pretended or empty: no account, no network, no credentials."""

    COMPARED = "compared"
    """With the state and the live resources of the stack."""

    DONE = "done"
    """Nothing: it made the changes."""

    DRIFT = "drift"
    """The state with the live resources; the program did not run."""


class Outcome(StrEnum):
    """The verdict, the best first."""

    PASSED = "passed"
    """Nothing speaks against it."""

    REVIEW = "review"
    """It passes only by what the same change altered in its judge: a waiver, an approval. Owners must look."""

    BLOCKED = "blocked"
    """A mandatory rule, the guard or the engine refuses it."""

    UNJUDGED = "unjudged"
    """Something is missing, cut or broken, so nobody can say."""

    @property
    def exit_code(self) -> int:
        """What a command returns: 0, or 1 if it is refused, or 3 if it could not be judged."""
        return {Outcome.PASSED: 0, Outcome.REVIEW: 0, Outcome.BLOCKED: 1, Outcome.UNJUDGED: 3}[self]


def gravest(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the gravest of some outcomes, ``passed`` if there is none."""
    return max(outcomes, key=list(Outcome).index, default=Outcome.PASSED)


class Operation(StrEnum):
    """What happens to a resource, the gravest first."""

    REPLACE = "replace"
    DELETE = "delete"
    CREATE = "create"
    UPDATE = "update"


@dataclass(frozen=True, order=True)
class PropertyChange:
    """One property that changes.

    Parameters
    ----------
    path
        Dotted, as the engine has it: ``scalingConfig.maxSize``.
    before, after
        Short texts; ``[secret]`` and ``[unknown]`` in place of such values, ``[not shown]`` where secrets are common,
        such as in environment variables; None where there is none.
    forces_replacement
        Whether it cannot be changed in place.
    """

    path: str
    before: str | None
    after: str | None
    forces_replacement: bool = False


@dataclass(frozen=True)
class Change:
    """What happens to one resource.

    Parameters
    ----------
    operation
        The gravest of the steps that the engine plans for it.
    urn, type, name
        Which resource: the whole URN, its type token, its logical name.
    properties
        What changes; sorted, what forces a replacement first.
    carries_state
        What would be lost with it, such as ``the cluster with all that runs on it``; empty if nothing is.
    protected
        Whether the engine refuses to replace or delete it.
    """

    operation: Operation
    urn: str
    type: str
    name: str
    properties: tuple[PropertyChange, ...] = ()
    carries_state: str = ""
    protected: bool = False


class FindingStatus(StrEnum):
    """How a finding of a rule counts, the gravest first."""

    VIOLATED = "violated"
    """A mandatory rule is violated."""

    UNJUDGED = "unjudged"
    """A mandatory rule could not be judged, or crashed."""

    EXCUSED = "excused"
    """Waived, but only by a row that the same change adds or alters."""

    WAIVED = "waived"
    """A row of the reviewed file accepts it."""

    ADVISED = "advised"
    """An advisory rule says something, or a mandatory rule only advises."""


class Judge(StrEnum):
    """Whose rules and rows say it."""

    BOTH = "both"
    BASE = "base"
    """Only those of the branch that the change goes to: the change itself removed or weakened the rule."""

    OWN = "own"
    """Only those of the change, or there is no other judge."""


@dataclass(frozen=True)
class Finding:
    """What a rule says about a resource, or about the stack.

    Parameters
    ----------
    rule
        Id, such as ``NG-07``.
    standing
        How it counts.
    judge
        Whose rule it is.
    urn
        The resource; empty for the whole stack.
    message
        What is wrong, without id, mending and reference.
    fix
        How to mend it.
    reference
        Where to read on: a path of the documentation with its anchor.
    waiver
        Of one that is waived or excused: ``until 2026-12-31 by ml-platform (OPS-1: why)``.
    """

    rule: str
    standing: FindingStatus
    judge: Judge
    urn: str
    message: str
    fix: str = ""
    reference: str = ""
    waiver: str = ""


@dataclass(frozen=True)
class Danger:
    """A replacement or deletion of a protected kind.

    Parameters
    ----------
    change
        What happens.
    kind
        In words: ``cluster``, ``encryption key``, ``network``, ``data pool``, ``initial group``, ``namespace``;
        ``protected resource`` for anything else that the engine itself protects.
    approval
        The row that approves it, in words; empty if none does.
    is_new
        Whether the same change adds or alters that row.
    """

    change: Change
    kind: str
    approval: str = ""
    is_new: bool = False


@dataclass(frozen=True, order=True)
class PoolChange:
    """A difference between two sets of pools, in the words of the contract.

    Parameters
    ----------
    pool
        Name of the node group, in most pools the only one.
    what
        ``size``, ``types``, ``lifecycle``, ``role``, ``labels`` or ``taints``; ``pool`` for one that comes or goes.
    before, after
        Short texts; empty where there is none. Of labels only those that differ.
    """

    pool: str
    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Hours:
    """Hours a month of all nodes, or of what they offer, at the pools' smallest and largest sizes.

    Parameters
    ----------
    least_before, most_before, least_after, most_after
        Sums over all pools; the former two are None where there is nothing to compare with.
    """

    least_before: int | None
    most_before: int | None
    least_after: int
    most_after: int


@dataclass(frozen=True)
class ResourceHours:
    """Hours a month of one thing that nodes offer.

    Parameters
    ----------
    resource
        ``vCPU``, or a model of GPU such as ``A10G GPU``.
    hours
        How many.
    """

    resource: str
    hours: Hours


@dataclass(frozen=True)
class StackReport:
    """What is to be said about one stack.

    Parameters
    ----------
    stack, environment, kind
        Its name, ``dev`` or ``prod``, and the kind of its cluster; the latter two empty where its file is broken.
    source
        What the engine compared with.
    outcome, reasons
        The verdict, and why; no reason if it passed.
    dangers, changes
        What is dangerous, then all that changes, replacements and deletions first. Every danger is a change too.
    findings
        What the rules say, the gravest first.
    pools, node_hours, resource_hours
        What becomes of the pools; None or empty where no pools are known.
    problems
        Why it could not be judged, or what the engine or the stack file's check refused.
    rules
        How many rules judged it.
    unchanged
        Resources that stay as they are.
    """

    stack: str
    environment: str
    kind: str
    source: Source
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    dangers: tuple[Danger, ...] = ()
    changes: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()
    pools: tuple[PoolChange, ...] = ()
    node_hours: Hours | None = None
    resource_hours: tuple[ResourceHours, ...] = ()
    problems: tuple[str, ...] = ()
    rules: int = 0
    unchanged: int = 0


@dataclass(frozen=True, order=True)
class JudgeChange:
    """Something that a change alters in what judges it.

    Parameters
    ----------
    file
        Path in the repository.
    what
        In words: ``adds the waiver OPS-1 of ml-platform for NG-07 in prod until 2026-12-31``, ``changes rule NG-07``.
    """

    file: str
    what: str


@dataclass(frozen=True)
class Report:
    """A whole report: the verdict over some stacks.

    Parameters
    ----------
    outcome
        The gravest of the stacks' outcomes; ``review`` at least if the judge changes.
    stacks
        By name.
    judge
        What the change alters in its judge; shown first.
    skipped
        Stacks that the change cannot affect.
    base, head
        Commits, short; empty where there are none.
    problems
        Why the record as a whole cannot be read. Then the outcome is ``unjudged``, and there may be no stacks.
    """

    outcome: Outcome
    stacks: tuple[StackReport, ...]
    judge: tuple[JudgeChange, ...] = ()
    skipped: tuple[str, ...] = ()
    base: str = ""
    head: str = ""
    problems: tuple[str, ...] = ()
