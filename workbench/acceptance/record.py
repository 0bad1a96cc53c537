"""The results of an acceptance run, saved after each step so that a run can resume, as JSON and as a page."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from pydantic import TypeAdapter, ValidationError

from workbench.system.errors import UserError
from workbench.system.files import write_private

CLEANING: Final = "being cleaned up"
"""State of a record whose run cannot continue."""

PODS: Final = "pods"
"""The step in which a pod lands on each pool."""

FROM_ZERO: Final = "from zero"
"""Value that the step saves: the pools that had no nodes before it."""


class Result(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"


class Verdict(StrEnum):
    """What a step shows about an assumed fact, the strongest verdict first."""

    REFUTED = "refuted"
    CONFIRMED = "confirmed"
    CONSISTENT = "consistent"
    """What was seen fits, but would look the same if the assumption were wrong."""


@dataclass(frozen=True)
class StepRecord:
    """One step: why it runs, how it ended, in how many seconds, and what was seen or why it was skipped."""

    name: str
    why: str
    result: Result
    seconds: float
    detail: str = ""


@dataclass(frozen=True)
class AssumptionRecord:
    """What a step shows about an assumed fact about inputs of a resource type."""

    type: str
    inputs: tuple[str, ...]
    fact: str
    verdict: Verdict
    step: str
    why: str


@dataclass
class Record:
    """The record of a run.

    Parameters
    ----------
    stack, copy, kind, release, started
        The stack, the name of its copy, the kind of cluster, this package's version, when the run began.
    file
        The stack's file: another folder may have a stack of the same name.
    digest
        Digest of the stack's settings. Empty in records of earlier releases.
    left_out
        What the copy leaves out, a sentence each.
    steps, assumptions
        What was seen, in order.
    seen
        Values that a step saves for a later one.
    is_ours
        Whether this run created the copy's stack or was about to.
    state
        ``running``, ``passed``, ``failed``, ``being cleaned up`` or ``cleaned up``.
    """

    stack: str
    copy: str
    kind: str
    release: str
    started: str
    file: str
    left_out: tuple[str, ...] = ()
    steps: list[StepRecord] = field(default_factory=list)
    assumptions: list[AssumptionRecord] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)
    is_ours: bool = False
    state: str = "running"
    digest: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the copy may still exist."""
        return self.state in ("running", "failed", CLEANING)

    @property
    def done(self) -> set[str]:
        """Steps that need not be repeated."""
        return {each.name for each in self.steps if each.result in (Result.PASSED, Result.SKIPPED)}

    def add(self, step: StepRecord) -> None:
        """Add a step; an earlier attempt of the same step is replaced."""
        self.steps = [*(each for each in self.steps if each.name != step.name), step]

    def note(self, found: Iterator[AssumptionRecord]) -> None:
        """Add facts; each is listed once, with the strongest verdict."""
        order = list(Verdict)
        by_fact = {(each.type, each.fact, each.inputs): each for each in self.assumptions}
        for each in found:
            key = (each.type, each.fact, each.inputs)
            if key not in by_fact or order.index(each.verdict) < order.index(by_fact[key].verdict):
                by_fact[key] = each
        self.assumptions = list(by_fact.values())

    def save(self, folder: Path) -> None:
        """Write ``record.json`` and ``record.md``."""
        write_private(folder / "record.json", json.dumps(asdict(self), indent=2))
        write_private(folder / "record.md", "\n".join(self.page()) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """Return the record in a folder; None if there is none.

        Raises
        ------
        UserError
            It cannot be read.
        """
        file = folder / "record.json"
        if not file.exists():
            return None
        try:
            return TypeAdapter(cls).validate_json(file.read_bytes())
        except ValidationError:
            raise UserError(
                f"The record {file} cannot be read.", "Move it away; the next run then starts from the beginning."
            ) from None

    def page(self) -> Iterator[str]:
        """Return the record as Markdown, line by line."""
        yield f"# Acceptance of `{self.stack}`: {self.state}"
        yield ""
        yield f"igz-clusters {self.release}, kind `{self.kind}`, started {self.started}, in the copy `{self.copy}`."
        if self.left_out:
            yield ""
            yield from (f"Not in the copy: {each}" for each in self.left_out)
        yield ""
        yield "| step | why | result | duration | seen |"
        yield "|---|---|---|---|---|"
        for each in self.steps:
            yield f"| {each.name} | {each.why} | {each.result} | {duration(each.seconds)} | {_cell(each.detail)} |"
        yield ""
        yield "## Assumed facts that this run exercised"
        yield ""
        if not self.assumptions:
            yield "None: no step touched an input about which a fact is assumed."
            return
        yield "Facts about the cloud that no source states. `consistent`: the result fits the assumption, but would be"
        yield "the same if it were wrong."
        yield ""
        yield "| type | inputs | assumed | verdict | step | seen |"
        yield "|---|---|---|---|---|---|"
        rows: dict[tuple[str, ...], list[str]] = {}
        for fact in self.assumptions:
            row = (fact.fact, fact.verdict, fact.step, fact.why)
            rows.setdefault((fact.type, *row), []).extend(f"`{each}`" for each in fact.inputs)
        for (type_, *rest), inputs in rows.items():
            yield f"| {type_} | {', '.join(inputs)} | {' | '.join(map(_cell, rest))} |"


def duration(seconds: float) -> str:
    """Return a duration as ``12 s`` or ``4 min``."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"  # noqa: PLR2004 minutes from two on


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
