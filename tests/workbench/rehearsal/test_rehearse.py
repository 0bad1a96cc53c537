"""How tasks end, on clusters that a test makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from typing_extensions import override

from support.rehearsal_api import FakeApi, FakeCluster
from support.rehearsal_stacks import stack_file
from workbench.local.programs import Binaries
from workbench.prices.book import PriceBook
from workbench.rehearsal import rehearse
from workbench.rehearsal.cluster.simulated import ApiError, LostError
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.play.player import Progress
from workbench.rehearsal.rehearse import Played, Rehearser, Task, Watcher, rehearse_all
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.stacks import Stack
from workbench.system.errors import UserError

SCENARIO = Scenario.model_validate(
    {
        "description": "A test.",
        "lasts": "1m",
        "works": {"job": {"kind": "mlrun-job"}},
        "arrivals": [{"work": "job"}],
        "expectations": [{"expect": "minimum-again"}],
    }
)


class Noted(Watcher):
    """Keeps which tasks ended."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    @override
    def step(self, task: Task, text: str) -> None:
        pass

    @override
    def progress(self, task: Task, progress: Progress) -> None:
        pass

    @override
    def finished(self, task: Task, outcome: Outcome) -> None:
        self.ended.append(task.title)


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> dict[str, Exception]:
    """What building the cluster of a stack raises, by its name."""
    errors: dict[str, Exception] = {}

    @contextmanager
    def simulated(stack: Stack, pace: Pace, **_: Any) -> Iterator[FakeCluster]:
        if error := errors.get(stack.name):
            raise error
        yield FakeCluster(FakeApi(), stack.config, pace.speed)

    monkeypatch.setattr(rehearse, "simulated", simulated)
    return errors


def task(stack: Stack, name: str) -> Task:
    return Task(stack=stack, label=stack.name, name=name, scenario=SCENARIO, pace=Pace(speed=600))


def two_stacks(folder: Path) -> tuple[Stack, Stack]:
    good = stack_file(folder)
    return good, replace(good, name="refused")


def rehearsed(*tasks: Task, watcher: Noted | None = None) -> Played:
    rehearser = Rehearser(binaries=cast("Binaries", None), book=PriceBook.load(), watcher=watcher or Noted())
    return rehearse_all(tasks, rehearser, at_once=1)


def test_a_request_that_is_refused_unexpectedly_loses_its_scenario_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, building: dict[str, Exception]
) -> None:
    play, answers = rehearse.play, [ApiError(400, "no such field")]

    def refused(*arguments: Any, **options: Any) -> Any:
        if answers:
            raise answers.pop()
        return play(*arguments, **options)

    monkeypatch.setattr(rehearse, "play", refused)
    stack = stack_file(tmp_path)
    (_, lost), (_, other) = rehearsed(task(stack, "first"), task(stack, "second"))
    assert lost.lost.splitlines() == [
        "The API server refused a request of the rehearsal itself: 400: no such field",
        "Rehearse again; if it comes back, report it as a defect.",
    ]
    assert other.verdicts


def test_a_stack_without_namespaces_skips_every_scenario(tmp_path: Path, building: dict[str, Exception]) -> None:
    stack = stack_file(tmp_path, namespaces={})
    ((_, outcome),) = rehearsed(task(stack, "first"))
    assert outcome.skipped == "The stack file declares no namespaces, so no work can run."


@pytest.mark.parametrize(
    ("error", "ended", "is_refused"),
    [
        (UserError("refuses its Node", "Correct it."), ["refused one", "played one", "played two"], [True]),
        (LostError("etcd ended"), ["refused one", "played one", "refused two", "played two"], [False, False]),
    ],
)
def test_a_stack_that_is_refused_ends_at_once_and_others_go_on(
    tmp_path: Path, building: dict[str, Exception], error: Exception, ended: list[str], is_refused: list[bool]
) -> None:
    building["refused"] = error
    good, refused = two_stacks(tmp_path)
    watcher = Noted()
    played = rehearsed(*(task(stack, name) for name in ("one", "two") for stack in (refused, good)), watcher=watcher)
    assert watcher.ended == [each.title for each, _ in played] == ended
    lost = [outcome for _, outcome in played if outcome.lost]
    assert [(each.lost, each.is_refused) for each in lost] == [(str(error), each) for each in is_refused]
