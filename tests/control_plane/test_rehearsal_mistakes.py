"""Planted mistakes of stacks and scenarios: each is a missed expectation whose hint names the mistake.

Each file of ``tests/control_plane/mistakes`` is one stack and one scenario, with one work for each mistake. The
verdicts come from what the real scheduler, autoscaler and admission said.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY, parse
from workbench.prices.book import PriceBook
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.rehearse import Rehearser, Task
from workbench.rehearsal.scenario.files import parse as parse_scenario
from workbench.rehearsal.settings import Pace
from workbench.stacks import Stack, find
from workbench.toolchain import ensure

pytestmark = pytest.mark.control_plane

FILES = {file.stem: yaml.safe_load(file.read_text()) for file in sorted((Path(__file__).parent / "mistakes").glob("*"))}
MISTAKES = [(name, mistake) for name, file in FILES.items() for mistake in file["mistakes"]]


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
    return parse_scenario(
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


@pytest.fixture(scope="module", params=list(FILES))
def outcome(request: pytest.FixtureRequest) -> Iterator[tuple[str, Outcome]]:
    file = FILES[request.param]
    rehearser = Rehearser(binaries=ensure(), book=PriceBook.load(), watcher=Silent())
    task = Task(stack=stack_of(file), name=request.param, scenario=scenario_of(file), pace=Pace())
    return request.param, rehearser.rehearse(task)


@pytest.mark.full
def test_a_planted_mistake_is_missed_and_named(outcome: tuple[str, Outcome]) -> None:
    name, found = outcome
    wrong = []
    for (mistake, planted), verdict in zip(FILES[name]["mistakes"].items(), found.verdicts, strict=True):
        named = [hint for hint in verdict.hints
                 if hint.path.startswith(planted["path"]) and planted["says"] in hint.cause]  # fmt: skip
        if verdict.is_met or not named:
            wrong.append(f"{mistake}: {verdict}")
    assert not wrong, "\n\n".join(wrong)
