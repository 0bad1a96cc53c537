"""Planted mistakes of stacks and scenarios: each is a missed expectation whose hint names the mistake.

Each file of ``tests/control_plane/mistakes`` is one stack and one scenario, with one work for each mistake. The
verdicts come from what the real scheduler, autoscaler and admission said.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY, parse
from support.hint_paths import problem
from workbench.prices.book import PriceBook
from workbench.rehearsal.advice.candidate import key_of
from workbench.rehearsal.advice.edits import Edit, UnfitError, scenario_with, stack_with
from workbench.rehearsal.advice.pools import for_stack
from workbench.rehearsal.advice.search import merged
from workbench.rehearsal.advice.works import for_work
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.rehearse import Rehearser, Task
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.rehearsal.verdicts.hints import hints_for
from workbench.rehearsal.verdicts.judge import misses
from workbench.rehearsal.verdicts.miss import Miss
from workbench.rehearsal.verdicts.verdict import STACK
from workbench.stacks import Stack, find
from workbench.toolchain import ensure

pytestmark = pytest.mark.control_plane

FILES = {file.stem: yaml.safe_load(file.read_text()) for file in sorted((Path(__file__).parent / "mistakes").glob("*"))}
MISTAKES = [(name, mistake) for name, file in FILES.items() for mistake in file["mistakes"]]

FIRST = 2
"""The right hint is one of so many first ones."""

ROUNDS = 2
"""Rehearsals of corrections of each file."""


class Silent:
    """A watcher that shows nothing."""

    def __getattr__(self, _: str) -> Any:
        return lambda *_: None


def changed(choices: Any, change: Any) -> Any:
    """Return choices with a change merged into them; None removes a key."""
    if not isinstance(choices, dict) or not isinstance(change, dict):
        return change
    merged = {**choices, **{key: changed(choices.get(key), value) for key, value in change.items()}}
    return {key: value for key, value in merged.items() if value is not None}


def stack_of(file: dict[str, Any]) -> Stack:
    stack = find(file["stack"])
    config = stack.document["config"]
    choices = changed(config[CONFIG_KEY], file.get("change", {}))
    document = {**stack.document, "config": {**config, CONFIG_KEY: choices}}
    return replace(stack, document=document, config=parse(choices))


def scenario_of(file: dict[str, Any]) -> Any:
    with_work = {name: each for name, each in file["mistakes"].items() if "work" in each}
    return Scenario.model_validate(
        {
            "description": "Planted mistakes",
            "lasts": file["lasts"],
            "works": {name: each["work"] for name, each in with_work.items()},
            "arrivals": [{"work": name, **each.get("arrival", {})} for name, each in with_work.items()],
            "events": file.get("events", []),
            "expectations": [
                {**each["expect"], **({"work": name} if name in with_work and "work" not in each["expect"]
                                      and each["expect"]["expect"] not in ("minimum-again", "at-most") else {})}
                for name, each in file["mistakes"].items()
            ],
        }
    )  # fmt: skip


def rehearsed(stack: Stack, scenario: Scenario) -> Outcome:
    rehearser = Rehearser(binaries=ensure(), book=PriceBook.load(), watcher=Silent())
    return rehearser.rehearse(Task(stack=stack, name="mistakes", scenario=scenario, pace=Pace()))


@pytest.fixture(scope="module", params=list(FILES))
def outcome(request: pytest.FixtureRequest) -> tuple[str, Outcome]:
    file = FILES[request.param]
    return request.param, rehearsed(stack_of(file), scenario_of(file))


@pytest.mark.full
def test_a_planted_mistake_is_missed_and_named(outcome: tuple[str, Outcome]) -> None:
    name, found = outcome
    wrong = []
    for (mistake, planted), verdict in zip(FILES[name]["mistakes"].items(), found.verdicts, strict=True):
        named = [(rank, hint.path) for rank, hint in enumerate(verdict.hints)
                 if planted["says"] in f"{hint.cause} {hint.action}"]  # fmt: skip
        if verdict.is_met or named not in [[(rank, planted["path"])] for rank in range(FIRST)]:
            wrong.append(f"{mistake}: {verdict}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.full
def test_every_hint_on_a_planted_mistake_names_a_field_that_users_may_write(outcome: tuple[str, Outcome]) -> None:
    name, found = outcome
    scenario = scenario_of(FILES[name])
    assert not [why for each in found.verdicts for hint in each.hints if (why := problem(hint, scenario))]


@pytest.mark.full
def test_advice_corrects_planted_mistakes(outcome: tuple[str, Outcome]) -> None:
    """In each round every missed expectation has its next candidate applied, all together in one rehearsal.

    ``advise`` would try them one scenario at a time, which takes an hour for all mistakes.
    """
    name, found = outcome
    stack, scenario = stack_of(FILES[name]), scenario_of(FILES[name])
    edits: tuple[Edit, ...] = ()
    tried: set[tuple[str, ...]] = set()
    for _ in range(ROUNDS):
        variant, script = stack_with(stack, edits), scenario_with(scenario, edits)
        for miss in misses(script, found.record, variant.config, found.costs):
            edits = merged(edits, next(candidates(miss, stack, scenario, edits, tried), ()))
        found = rehearsed(stack_with(stack, edits), scenario_with(scenario, edits))
    corrected = [
        mistake for mistake, verdict in zip(FILES[name]["mistakes"], found.verdicts, strict=True) if verdict.is_met
    ]
    print(
        name,
        len(corrected),
        "of",
        len(found.verdicts),
        "corrected; left:",
        set(FILES[name]["mistakes"]) - set(corrected),
    )
    assert len(corrected) >= FILES[name]["corrected"]


def candidates(
    miss: Miss, stack: Stack, scenario: Scenario, edits: tuple[Edit, ...], tried: set[tuple[str, ...]]
) -> Iterator[tuple[Edit, ...]]:
    """Yield what the hints of a missed expectation lead to, if the models allow it and it was not tried."""
    for hint in hints_for(miss):
        for candidate in (for_stack if hint.file == STACK else for_work)(miss, hint):
            key = key_of(candidate.edits)
            whole = merged(edits, candidate.edits)
            if key not in tried:
                tried.add(key)
                with suppress(UnfitError):
                    stack_with(stack, whole), scenario_with(scenario, whole)
                    yield candidate.edits
