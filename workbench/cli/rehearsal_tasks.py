"""What `igz-clusters rehearse` is asked to do: stacks, scenarios and pace, with all mistakes at once."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from workbench import stacks
from workbench.cli.console import PLAIN, errors
from workbench.rehearsal.rehearse import Task
from workbench.rehearsal.replay.files import Replayed
from workbench.rehearsal.replay.files import read as read_replay
from workbench.rehearsal.replay.part import between
from workbench.rehearsal.replay.yaml_text import as_yaml
from workbench.rehearsal.revision import stack_at
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.durations import parse_duration
from workbench.rehearsal.scenario.files import NamedScenario
from workbench.rehearsal.scenario.model import SPEED_MAX, SPEED_MIN
from workbench.rehearsal.settings import Pace
from workbench.report.words import count
from workbench.stacks import Stack
from workbench.system.errors import UserError, all_of
from workbench.system.files import write_private


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options as given."""

    stacks: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    replay: Path | None = None
    begin: str | None = None
    end: str | None = None
    write_scenario: Path | None = None
    speed: float | None = None
    node_start: str
    compare: str | None = None


def tasks_of(asked: Asked) -> list[Task]:
    """Return one task for each scenario on each stack.

    Raises
    ------
    UserError
        Names everything that is wrong with the options, the stack files and the scenario files.
    """
    found: list[tuple[str, Stack]]
    scenarios: list[NamedScenario]
    found, scenarios, node_start, speed = all_of(
        lambda: _stacks(asked), lambda: _scenarios(asked), lambda: _node_start(asked), lambda: _speed(asked)
    )
    if asked.write_scenario:
        return []
    _check_scenarios(found, scenarios)
    return [
        Task(
            stack=stack,
            label=label,
            name=each.name,
            scenario=each.scenario,
            file=None if asked.replay or each.file in files.shipped().values() else each.file,
            pace=Pace(speed=speed or each.scenario.speed, node_start=node_start),
        )
        for each in scenarios
        for label, stack in found
    ]


def _stacks(asked: Asked) -> list[tuple[str, Stack]]:
    """Return the stacks with what reports call them; the one to compare with comes first."""
    stacks.require(*asked.stacks)
    found = list(zip(asked.stacks, all_of(*(partial(stacks.find, name) for name in asked.stacks)), strict=True))
    if not asked.compare:
        return found
    if len(found) > 1:
        raise UserError(f"--compare: compares one stack, but {len(found)} are named.", "Name one stack.")
    [(name, stack)] = found
    if asked.compare in stacks.stack_files():
        if asked.compare == name:
            raise UserError(f"--compare: '{name}' is the stack itself.", "Name another stack, or a commit.")
        return [(asked.compare, stacks.find(asked.compare)), *found]
    return [(f"{name}@{asked.compare}", stack_at(stack, asked.compare)), *found]


def _scenarios(asked: Asked) -> list[NamedScenario]:
    if asked.replay and asked.scenarios:
        raise UserError("--replay and --scenario cannot be combined.", "Leave one of them out.")
    if asked.replay:
        return [_replayed(asked.replay, asked)]
    if options := [
        name
        for name, value in (("--from", asked.begin), ("--to", asked.end), ("--write-scenario", asked.write_scenario))
        if value
    ]:
        raise UserError(f"{', '.join(options)}: for --replay only.", "Add --replay FILE, or leave it out.")
    return files.find_all(asked.scenarios or tuple(files.shipped()))


def _replayed(file: Path, asked: Asked) -> NamedScenario:
    replayed = read_replay(file, between(asked.begin, asked.end))
    for note in replayed.notes:
        errors.print(f"note: {note}", **PLAIN)
    if asked.write_scenario:
        _write(asked.write_scenario, replayed)
    return NamedScenario(name=replayed.name, file=file, scenario=replayed.scenario)


def _node_start(asked: Asked) -> float:
    try:
        return float(parse_duration(asked.node_start))
    except ValueError as error:
        raise UserError(f"--node-start: '{asked.node_start}' {error}.") from None


def _speed(asked: Asked) -> float | None:
    if asked.speed is not None and not SPEED_MIN <= asked.speed <= SPEED_MAX:
        raise UserError(f"--speed: {asked.speed:g} is not allowed; {SPEED_MIN} to {SPEED_MAX} are.")
    return asked.speed


def _write(file: Path, replayed: Replayed) -> None:
    try:
        write_private(file, as_yaml(replayed))
    except OSError as error:
        raise UserError(f"--write-scenario: cannot write {file}: {error.strerror}.") from None
    errors.print(f"Wrote {file}; play it with: igz-clusters rehearse --scenario {file}", **PLAIN)


def _check_scenarios(found: list[tuple[str, Stack]], scenarios: list[NamedScenario]) -> None:
    """Refuse scenarios that name what a stack does not have."""
    problems = [
        f"{stacks.shown_path(each.file)}: {problem} (stack '{label}')"
        for each in scenarios
        for label, stack in found
        for problem in files.problems_for(each.scenario, stack.config)
    ]
    if problems:
        raise UserError("\n".join([f"{count(len(problems), 'problem')} in scenarios", *dict.fromkeys(problems)]))
