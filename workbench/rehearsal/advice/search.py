"""Searches for a change that meets missed expectations, by rehearsing candidates in the order of the hints.

The search makes the first candidate that meets all expectations as small as possible; others might be smaller. It tries
one edit before two. It first sets a number, such as a maximum size, to what the record shows to be enough, then halves
it towards the smallest that is enough. Each candidate must pass the stack file's own checks and is rehearsed once.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.advice.candidate import Candidate, key_of
from workbench.rehearsal.advice.edits import Edit, UnfitError, scenario_with, stack_with
from workbench.rehearsal.advice.patch import PatchError, edited, patch_of, read_text
from workbench.rehearsal.advice.pools import for_stack
from workbench.rehearsal.advice.works import for_work
from workbench.rehearsal.cluster.simulated import LostError
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.record import TAKEN, PodEnd
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.hints import hints_for
from workbench.rehearsal.verdicts.judge import misses
from workbench.rehearsal.verdicts.verdict import SCENARIO, STACK
from workbench.stacks import CHOICES_PATH, Stack
from workbench.system.errors import UserError

EDITS_MAX: Final = 3
"""Maximum number of changes that are combined, so that advice stays small."""

PAIRED: Final = 6
"""Candidates that are combined with each other if none helps alone."""

Rehearse = Callable[[Stack, Scenario], Outcome]
"""Rehearses a variant of the stack with a variant of the scenario."""


def advise(  # noqa: PLR0913 five of them are what is searched
    stack: Stack,
    scenario: Scenario,
    outcome: Outcome,
    rehearse: Rehearse,
    budget: int,
    *,
    scenario_file: Path | None = None,
    how_to_edit: str = "change it by hand",
) -> Advice:
    """Return the first change that meets all expectations, made as small as possible, else the best one found.

    If a control plane fails, the search ends and returns the best change found until then.

    Parameters
    ----------
    stack, scenario, outcome
        What was rehearsed, and its outcome.
    rehearse
        Rehearses a variant; called at most ``budget`` times, and not again after its control plane failed.
    budget
        Greatest number of rehearsals.
    scenario_file
        File of the scenario, for the patch. Default: changes of the scenario are not in it.
    how_to_edit
        How to change a scenario without a file.
    """
    search = _Search(stack, scenario, rehearse, budget)
    edits, best = search.run(outcome)
    patch, unpatched = _patch(stack, edits, scenario_file, how_to_edit)
    return Advice(
        edits=edits,
        before=outcome,
        after=best,
        rehearsals=search.spent,
        budget=budget,
        patch=patch,
        unpatched=unpatched,
        refused=tuple(search.refused),
        ended=search.ended,
    )


@dataclass
class _Search:
    stack: Stack
    scenario: Scenario
    rehearse: Rehearse
    budget: int
    spent: int = 0
    refused: dict[str, None] = field(default_factory=dict)
    seen: dict[tuple[str, ...], Outcome | None] = field(default_factory=dict)
    ended: str = ""
    """Why no more variants can be rehearsed before the budget is spent."""

    @property
    def is_over(self) -> bool:
        """Whether no more variants may be rehearsed."""
        return bool(self.ended) or self.spent >= self.budget

    def run(self, outcome: Outcome) -> tuple[tuple[Edit, ...], Outcome]:
        """Return the best edits and their outcome; none and the first outcome if nothing is better."""
        edits: tuple[Edit, ...] = ()
        best = outcome
        for _ in range(EDITS_MAX):
            if best.is_met or best.record is None or self.is_over:
                break
            step = self._step(edits, best)
            if step is None:
                break
            edits, best = step
        return edits, best

    def _step(self, base: tuple[Edit, ...], outcome: Outcome) -> tuple[tuple[Edit, ...], Outcome] | None:
        """Return the first candidate that meets everything, made as small as possible; else the best that helps."""
        candidates = list(self._candidates(base, outcome))
        better: tuple[tuple[Edit, ...], Outcome, Candidate] | None = None
        tried: list[Candidate] = []
        for candidate in candidates:
            result = self._try(base, candidate.edits)
            if result is None:
                continue
            if result.is_met:
                return self._smallest(base, candidate, result)
            tried.append(candidate)
            if score(result) > score(better[1] if better else outcome):
                better = (merged(base, candidate.edits), result, candidate)
        if better:
            return better[0], better[1]
        return self._pair(base, outcome, tried[:PAIRED])

    def _pair(
        self, base: tuple[Edit, ...], outcome: Outcome, candidates: list[Candidate]
    ) -> tuple[tuple[Edit, ...], Outcome] | None:
        """Return two candidates that help only together."""
        for index, first in enumerate(candidates):
            for second in candidates[index + 1 :]:
                both = merged(first.edits, second.edits)
                if len(both) < len(first.edits) + len(second.edits):
                    continue
                result = self._try(base, both)
                if result and score(result) > score(outcome):
                    return merged(base, both), result
        return None

    def _smallest(
        self, base: tuple[Edit, ...], candidate: Candidate, result: Outcome
    ) -> tuple[tuple[Edit, ...], Outcome]:
        """Halve the number of a candidate towards its least while everything stays met."""
        good, best = candidate.number, result
        bad = candidate.least - 1 if candidate.least <= good else candidate.least + 1
        while abs(good - bad) > 1 and not self.is_over:
            middle = (good + bad) // 2
            tried = self._try(base, candidate.make(middle))
            if tried is not None and tried.is_met:
                good, best = middle, tried
            else:
                bad = middle
        return merged(base, candidate.make(good)), best

    def _candidates(self, base: tuple[Edit, ...], outcome: Outcome) -> Iterator[Candidate]:
        """Yield the candidates of the missed expectations' hints, each once, those of first hints first."""
        if outcome.record is None:
            return
        stack, scenario = stack_with(self.stack, base), scenario_with(self.scenario, base)
        known: set[tuple[str, ...]] = set()
        found = misses(scenario, outcome.record, stack.config, outcome.costs)
        ranked = [(rank, miss, hint) for miss in found for rank, hint in enumerate(hints_for(miss))]
        for _, miss, hint in sorted(ranked, key=lambda each: each[0]):
            for candidate in (for_stack if hint.file == STACK else for_work)(miss, hint):
                key = key_of(candidate.edits)
                if key not in known:
                    known.add(key)
                    yield candidate

    def _try(self, base: tuple[Edit, ...], edits: tuple[Edit, ...]) -> Outcome | None:
        """Return the outcome of edits; None if a model refuses them or the search is over."""
        whole = merged(base, edits)
        key = key_of(whole)
        if key in self.seen:
            return self.seen[key]
        try:
            stack, scenario = stack_with(self.stack, whole), scenario_with(self.scenario, whole)
        except UnfitError as error:
            self.refused[f"{'; '.join(edit.text for edit in edits)}: {error}"] = None
            self.seen[key] = None
            return None
        if self.is_over:
            return None
        self.spent += 1
        try:
            result = self.rehearse(stack, scenario)
        except (LostError, UserError) as error:  # a machine that cannot run this one cannot run the next
            self.ended = str(error)
            return None
        if result.skipped:  # it no longer has what the scenario needs, so nothing was shown
            self.refused[
                f"{'; '.join(edit.text for edit in edits)}: the scenario no longer applies. {result.skipped}"
            ] = None
        self.seen[key] = None if result.skipped else result
        return self.seen[key]


def merged(base: Iterable[Edit], edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits of both; a later one of the same key replaces the earlier."""
    return tuple({(edit.file, edit.path): edit for edit in (*base, *edits)}.values())


def score(outcome: Outcome) -> tuple[int, int]:
    """Return how good an outcome is: expectations met, then how few pods wait, are lost or were refused."""
    met = sum(verdict.is_met for verdict in outcome.verdicts)
    if (record := outcome.record) is None:
        return met, 0
    bad = (PodEnd.WAITS, PodEnd.FAILED, *TAKEN)
    return met, -sum(pod.end in bad for pod in record.pods) - sum(each.missing for each in record.refusals)


def _patch(stack: Stack, edits: tuple[Edit, ...], scenario_file: Path | None, how_to_edit: str) -> tuple[str, str]:
    """Return the patch of both files, and what it leaves out."""
    parts: list[str] = []
    left: list[str] = []
    targets = ((stack.file, CHOICES_PATH, STACK), (scenario_file, (), SCENARIO))
    for file, below, kind in targets:
        own = [edit for edit in edits if edit.file == kind]
        if own and file is None:
            left.append(f"{'; '.join(each.text for each in own)}: {how_to_edit}")
        if not own or file is None:
            continue
        try:
            text = read_text(file)
            parts.append(patch_of(file, text, edited(text, own, below)))
        except (PatchError, OSError) as error:
            left.append(str(error))
    return "".join(parts), "; ".join(left)
