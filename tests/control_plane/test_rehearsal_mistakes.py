"""Planted mistakes of stacks and scenarios: each is a missed expectation whose hint names the mistake.

Each file of ``tests/control_plane/mistakes`` is one stack and one scenario, with one work for each mistake. The
verdicts come from what the real scheduler, autoscaler and admission said.
"""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY, parse
from support.hint_paths import problem
from support.sampled import sampled
from workbench.cli.rehearse import BUDGET
from workbench.prices.book import PriceBook
from workbench.rehearsal.advice.edits import scenario_with, stack_with
from workbench.rehearsal.advice.search import advise
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.rehearse import Rehearser, Task
from workbench.rehearsal.scenario.files import read as read_scenario
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.stacks import Stack, find, read
from workbench.toolchain import ensure

pytestmark = pytest.mark.control_plane

FILES = {file.stem: yaml.safe_load(file.read_text()) for file in sorted((Path(__file__).parent / "mistakes").glob("*"))}
MISTAKES = [(name, mistake) for name, file in FILES.items() for mistake in file["mistakes"]]

FIRST = 2
"""The right hint is one of so many first ones."""

LEFT = {
    "arm": "no change that the search tries gives it a node",
    "idle-minimum": "it has no work, without which there is no scenario",
    "never-idle": "its functions never end, so nodes stay",
    "no-capacity": "the cloud refuses every GPU node, also of another type",
    "no-controller": "another kind of work would be another work",
    "quota": "only what the other mistakes request as well exceeds it",
    "gpu-quota": "only what the other mistakes request as well exceeds it",
}
"""Mistakes that advice does not correct, or not alone, with the reason."""

CORRECTED = {mistake: name for name, mistake in MISTAKES if mistake not in LEFT}
"""The file of each mistake that advice corrects."""

KEPT = ("small-maximum",)
"""`make proofs` runs the others, of every kind of change."""

LASTS = "14m"
"""Length of a scenario with one mistake and no events: what waits at most 10 minutes arrives within the first three."""


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


def scenario_of(file: dict[str, Any]) -> Scenario:
    return Scenario.model_validate(document_of(file))


def document_of(file: dict[str, Any]) -> dict[str, Any]:
    with_work = {name: each for name, each in file["mistakes"].items() if "work" in each}
    return {
        "description": "Planted mistakes",
        "lasts": file["lasts"],
        "works": {name: each["work"] for name, each in with_work.items()},
        "arrivals": [{"work": name, **each.get("arrival", {})} for name, each in with_work.items()],
        "events": [each for each in file.get("events", []) if each.get("work") in (None, *with_work)],
        "expectations": [
            {**each["expect"], **({"work": name} if name in with_work and "work" not in each["expect"]
                                  and each["expect"]["expect"] not in ("minimum-again", "at-most") else {})}
            for name, each in file["mistakes"].items()
        ],
    }  # fmt: skip


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
@pytest.mark.parametrize("mistake", sampled(CORRECTED, KEPT, others=pytest.mark.proofs))
def test_advice_corrects_a_planted_mistake(mistake: str, tmp_path: Path) -> None:
    """The patch that a search finds for the mistake alone, within the default budget, meets its expectation."""
    file, script = alone(CORRECTED[mistake], mistake, tmp_path)
    stack, scenario = read(file), read_scenario(script).scenario
    first = rehearsed(stack, scenario)
    assert first.missed == 1
    advice = advise(stack, scenario, first, rehearsed, BUDGET, scenario_file=script)
    assert advice.is_met, advice.summary
    assert advice.rehearsals <= BUDGET
    git = shutil.which("git")
    assert git
    subprocess.run([git, "-C", str(tmp_path), "apply", "-"], input=advice.patch, text=True, check=True)
    assert read(file).config == stack_with(stack, advice.edits).config
    assert read_scenario(script).scenario.works == scenario_with(scenario, advice.edits).works


def test_advice_corrects_20_of_the_planted_mistakes() -> None:
    assert {mistake for _, mistake in MISTAKES} >= set(LEFT)
    assert len(CORRECTED) >= 20


def alone(name: str, mistake: str, folder: Path) -> tuple[Path, Path]:
    """Write the stack file and the scenario with one of the mistakes of a file, and return both."""
    whole = FILES[name]
    script = document_of({**whole, "lasts": LASTS, "mistakes": {mistake: whole["mistakes"][mistake]}})
    if script["events"]:
        script["lasts"] = whole["lasts"]
    files = folder / f"Pulumi.{whole['stack']}.yaml", folder / "mistake.yaml"
    for file, document in zip(files, (stack_of(whole).document, script), strict=True):
        file.write_text(yaml.safe_dump(json.loads(json.dumps(document)), sort_keys=False))  # without aliases
    return files
