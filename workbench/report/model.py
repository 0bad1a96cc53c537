"""The model of a report, shared by all renderings.

Values contain no secrets and have a stable order, so that equal input yields equal text. Every text is one printable
line of bounded length with control characters escaped. Texts may contain Markdown and HTML, which renderings must
escape.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from workbench.report.money import Cost


class Source(StrEnum):
    """What the program was compared with."""

    RENDERED = "rendered"
    """A simulated or empty state: no account, network or credentials."""

    COMPARED = "compared"
    """The state and the live resources of the stack."""

    DONE = "done"
    """Nothing: the changes were made."""

    DRIFT = "drift"
    """The state was compared with the live resources; the program did not run."""


class Outcome(StrEnum):
    """The verdict, best first."""

    PASSED = "passed"
    """No objections."""

    REVIEW = "review"
    """No objections, but it changes rules, waivers, approvals or code, which its owners must review."""

    BLOCKED = "blocked"
    """A mandatory rule, the guard or the engine rejects it."""

    UNJUDGED = "unjudged"
    """The evaluation is incomplete."""

    @property
    def exit_code(self) -> int:
        """Exit code of a command: 0, 1 if blocked, 3 if the evaluation is incomplete."""
        return {Outcome.PASSED: 0, Outcome.REVIEW: 0, Outcome.BLOCKED: 1, Outcome.UNJUDGED: 3}[self]


def most_severe(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the most severe outcome; ``passed`` if there are none."""
    return max(outcomes, key=list(Outcome).index, default=Outcome.PASSED)


class Operation(StrEnum):
    """What happens to a resource, most severe first."""

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
        Dotted, as in the engine: ``scalingConfig.maxSize``.
    before, after
        Short texts; ``[secret]`` and ``[unknown]`` replace such values, ``[not shown]`` values that are often secret,
        such as environment variables; None if there is no value.
    forces_replacement
        Whether it cannot be changed in place.
    """

    path: str
    before: str | None
    after: str | None
    forces_replacement: bool = False


@dataclass(frozen=True)
class Change:
    """The change of one resource.

    Parameters
    ----------
    operation
        The most severe of its planned steps.
    urn, type, name
        URN, type token and logical name of the resource.
    properties
        Changed properties; those that force a replacement first.
    carries_state
        What would be lost with it, such as ``the cluster with all that runs on it``; empty if nothing.
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
    """Status of a finding, most severe first."""

    VIOLATED = "violated"
    """A mandatory rule is violated."""

    UNJUDGED = "unjudged"
    """A mandatory rule could not be evaluated, or crashed."""

    EXCUSED = "excused"
    """Waived, but only by a waiver that the same change adds or alters."""

    WAIVED = "waived"
    """Accepted by a reviewed waiver."""

    ADVISED = "advised"
    """Reported by an advisory rule, or as advice by a mandatory rule."""


class Judge(StrEnum):
    """Whose rules and waivers report a finding."""

    BOTH = "both"
    BASE = "base"
    """The base branch's rules only: the change removes or weakens the rule."""

    OWN = "own"
    """The change's rules only, also if there is no base branch."""


@dataclass(frozen=True)
class Finding:
    """A rule's finding about a resource or the stack.

    Parameters
    ----------
    rule
        Id, such as ``NG-07``.
    standing
        Its status.
    judge
        Whose rules report it.
    urn
        The resource; empty for the whole stack.
    message
        The problem, without id, fix and reference.
    fix
        How to fix it.
    reference
        Documentation path with anchor.
    waiver
        The waiver of a waived or excused finding: ``until 2026-12-31 by ml-platform (OPS-1: why)``.
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
    """A replacement or deletion of a protected kind, or an update that takes nodes out of a group.

    Parameters
    ----------
    change
        The change.
    kind
        ``cluster``, ``encryption key``, ``network``, ``shared storage``, ``data pool``, ``initial group``,
        ``live nodes`` or ``namespace``; ``protected resource`` for anything else with the engine's ``protect`` option.
    approval
        Description of its approval; empty if there is none.
    is_new
        Whether the same change adds or alters that approval.
    """

    change: Change
    kind: str
    approval: str = ""
    is_new: bool = False


@dataclass(frozen=True, order=True)
class PoolChange:
    """A difference between two sets of pools.

    Parameters
    ----------
    pool
        Name of the node group; most pools have a single one.
    what
        ``size``, ``types``, ``lifecycle``, ``role``, ``labels`` or ``taints``; ``pool`` for an added or removed one.
    before, after
        Short texts; empty if there is none. Only differing labels are listed.
    """

    pool: str
    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Hours:
    """Monthly hours of all nodes, or of the resources that they offer, at the pools' smallest and largest sizes.

    Parameters
    ----------
    least_before, most_before, least_after, most_after
        Sums over all pools; the first two are None if there is nothing to compare with.
    """

    least_before: int | None
    most_before: int | None
    least_after: int
    most_after: int


@dataclass(frozen=True)
class ResourceHours:
    """Monthly hours of one node resource.

    Parameters
    ----------
    resource
        ``vCPU``, or a GPU model such as ``A10G GPU``.
    hours
        Hours before and after.
    """

    resource: str
    hours: Hours


@dataclass(frozen=True)
class StackReport:
    """The report on one stack.

    Parameters
    ----------
    stack, environment, kind
        Its name, ``dev`` or ``prod``, and the kind of its cluster; the last two are empty if its file is invalid.
    source
        What the program was compared with.
    outcome, reasons
        The verdict and its reasons; no reasons if it passed.
    dangers, changes
        Dangerous changes, then all changes, replacements and deletions first. Every danger is also a change.
    findings
        Findings of the rules, most severe first.
    pools, node_hours, resource_hours
        Changes of the pools; None or empty if no pools are known.
    cost
        What the nodes cost; None if no pool changes or no price is known.
    problems
        Why the evaluation is incomplete, or errors of the engine or in the stack file.
    notes
        What a comparison left out on purpose, and why.
    rules
        Number of evaluated rules.
    unchanged
        Number of unchanged resources.
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
    cost: Cost | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rules: int = 0
    unchanged: int = 0


@dataclass(frozen=True, order=True)
class JudgeChange:
    """A change to the rules, waivers or tools that judge the change itself, or to code that later runs execute.

    Parameters
    ----------
    file
        Path in the repository.
    what
        Such as ``adds the waiver OPS-1 of ml-platform for NG-07 in prod until 2026-12-31``, ``changes rule NG-07``.
    """

    file: str
    what: str


@dataclass(frozen=True)
class Report:
    """A report on one or more stacks.

    Parameters
    ----------
    outcome
        The most severe outcome of the stacks; at least ``review`` if ``judge`` is not empty.
    stacks
        Reports by stack name.
    judge
        Changes to the rules, waivers and tools that check this change; shown first.
    skipped
        Stacks that the change cannot affect.
    base, head
        Short commit ids; empty if unknown.
    problems
        Why the record cannot be read. The outcome is then ``unjudged``, and there may be no stacks.
    """

    outcome: Outcome
    stacks: tuple[StackReport, ...]
    judge: tuple[JudgeChange, ...] = ()
    skipped: tuple[str, ...] = ()
    base: str = ""
    head: str = ""
    problems: tuple[str, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether the comparison of a stack left out something that may differ."""
        return any(stack.notes for stack in self.stacks)
