"""What `igz-clusters rehearse` is asked to do: stacks, scenarios and pace, with all mistakes at once."""

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from components.contract.labels import is_dns_label
from workbench import stacks
from workbench.cli.console import PLAIN, errors
from workbench.rehearsal.rehearse import Task
from workbench.rehearsal.replay.files import Replayed
from workbench.rehearsal.replay.files import read as read_replay
from workbench.rehearsal.replay.part import between
from workbench.rehearsal.replay.yaml_text import as_yaml
from workbench.rehearsal.revision import stack_at
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.durations import duration_text, parse_duration
from workbench.rehearsal.scenario.files import NamedScenario
from workbench.rehearsal.scenario.model import SPEED_MAX, SPEED_MIN
from workbench.rehearsal.settings import Pace
from workbench.report.words import count
from workbench.stacks import Stack
from workbench.system.errors import UserError, all_of
from workbench.system.files import write_private

NODE_START_MAX: Final = 3_600
"""Longest time in seconds until a node is ready; building a cluster waits for its first nodes."""


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
    page: Path | None = None
    patch: Path | None = None
    want_advice: bool = False


def tasks_of(asked: Asked) -> list[Task]:
    """Return one task for each scenario on each stack.

    Raises
    ------
    UserError
        Names everything that is wrong with the options, the stack files and the scenario files.
    """
    found: list[tuple[str, Stack]]
    scenarios: list[NamedScenario]
    replayed: Replayed | None
    found, (scenarios, replayed), node_start, speed, *_ = all_of(
        lambda: _stacks(asked),
        lambda: _scenarios(asked),
        lambda: _node_start(asked),
        lambda: _speed(asked),
        lambda: _require_page(asked.page),
        lambda: _require_patch(asked),
        lambda: _require_scenario_file(asked),
    )
    if asked.write_scenario and replayed:
        _write(asked.write_scenario, replayed)
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
            is_reference=asked.compare is not None and label != asked.stacks[0],
        )
        for each in scenarios
        for label, stack in found
    ]


def _stacks(asked: Asked) -> list[tuple[str, Stack]]:
    """Return the stacks with what reports call them; the one to compare with comes first."""
    stacks.require(*asked.stacks)
    found = list(zip(asked.stacks, all_of(*(partial(stacks.find, name) for name in asked.stacks)), strict=True))
    if asked.compare is None:
        return found
    if len(found) > 1:
        raise UserError(f"--compare: compares one stack, but {len(found)} are named.", "Name one stack.")
    [(name, stack)] = found
    if asked.compare in stacks.stack_files():
        if asked.compare == name:
            raise UserError(f"--compare: '{name}' is the stack itself.", "Name another stack, or a commit.")
        return [(asked.compare, stacks.find(asked.compare)), *found]
    return [(f"{name}@{asked.compare}", stack_at(stack, asked.compare)), *found]


def _scenarios(asked: Asked) -> tuple[list[NamedScenario], Replayed | None]:
    if asked.replay and asked.scenarios:
        raise UserError("--replay and --scenario cannot be combined.", "Leave one of them out.")
    if asked.replay:
        replayed = _replayed(asked.replay, asked)
        return [NamedScenario(name=replayed.name, file=asked.replay, scenario=replayed.scenario)], replayed
    if options := [
        name
        for name, value in (("--from", asked.begin), ("--to", asked.end), ("--write-scenario", asked.write_scenario))
        if value is not None
    ]:
        raise UserError(f"{', '.join(options)}: for --replay only.", "Add --replay FILE, or leave it out.")
    return files.find_all(asked.scenarios or tuple(files.shipped())), None


def _replayed(file: Path, asked: Asked) -> Replayed:
    replayed = read_replay(file, between(asked.begin, asked.end))
    for note in replayed.notes:
        errors.print(f"note: {note}", **PLAIN)
    return replayed


def _node_start(asked: Asked) -> float:
    try:
        seconds = float(parse_duration(asked.node_start))
    except ValueError as error:
        raise UserError(f"--node-start: '{asked.node_start}' {error}.") from None
    if seconds > NODE_START_MAX:
        raise UserError(f"--node-start: '{asked.node_start}' is too long; at most {duration_text(NODE_START_MAX)}.")
    return seconds


def _speed(asked: Asked) -> float | None:
    if asked.speed is not None and not SPEED_MIN <= asked.speed <= SPEED_MAX:
        raise UserError(f"--speed: {asked.speed:g} is not allowed; {SPEED_MIN} to {SPEED_MAX} are.")
    return asked.speed


def _require_page(file: Path | None) -> None:
    """Refuse a page that cannot be written before anything is played."""
    if file:
        _require_file("--output", file, "report.html")


def _require_patch(asked: Asked) -> None:
    """Refuse a patch that cannot be written, or that would mix changes which each meet another scenario."""
    if asked.patch is None:
        return
    if not asked.want_advice:
        raise UserError("--patch: needs --advise.", "Add --advise, or leave --patch out.")
    if len(asked.stacks) > 1 or (len(asked.scenarios) != 1 and not asked.replay) or asked.compare:
        raise UserError(
            "--patch: writes the change for one scenario on one stack.",
            "Name one stack and one --scenario, without --compare.",
        )
    _require_file("--patch", asked.patch, "change.patch")


def _require_scenario_file(asked: Asked) -> None:
    """Refuse a file that cannot be written, that exists, or that could not be played."""
    if not (file := asked.write_scenario) or not asked.replay:
        return
    _require_file("--write-scenario", file, "my-day.yaml")
    if file.exists():
        raise UserError(f"--write-scenario: {file} exists.", "Name a new file, or remove this one.")
    if not is_dns_label(file.stem) or file.suffix not in {".yaml", ".yml"}:
        raise UserError(
            f"--write-scenario: {file.name} cannot be the file of a scenario.",
            "Name it NAME.yaml; NAME: 1 to 63 lower-case letters, digits or '-', such as my-day.yaml.",
        )


def _require_file(option: str, file: Path, example: str) -> None:
    if str(file) == "-":
        raise UserError(f"{option}: it cannot be standard output.", f"Name a file, such as {example}.")
    folder = file.absolute().parent
    if file.is_dir() or not folder.is_dir():
        raise UserError(f"{option}: {file} cannot be written.", "Name a file in a folder that exists.")
    try:
        if file.exists():
            file.open("ab").close()
        else:
            tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UserError(
            f"{option}: {file} cannot be written: {error.strerror}.", "Name a file in a folder in which you can write."
        ) from None


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
