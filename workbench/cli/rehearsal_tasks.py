"""The tasks of `igz-clusters rehearse`: stacks, scenarios and pace; reports all mistakes at once."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from components.contract.labels import is_dns_label
from workbench import stacks
from workbench.cli.console import PLAIN, errors
from workbench.prices.book import PriceBook
from workbench.rehearsal.duel.fit import SPEED_MAX as DUEL_SPEED_MAX
from workbench.rehearsal.duel.fit import problems_of
from workbench.rehearsal.rehearse import Task
from workbench.rehearsal.replay.files import Replayed, require_known_format
from workbench.rehearsal.replay.files import read as read_replay
from workbench.rehearsal.replay.part import between
from workbench.rehearsal.replay.yaml_text import as_yaml
from workbench.rehearsal.revision import commit_of, stack_at
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.durations import duration_text, parse_duration
from workbench.rehearsal.scenario.files import NamedScenario
from workbench.rehearsal.scenario.model import SPEED_MAX, SPEED_MIN
from workbench.rehearsal.settings import Pace, Scaler
from workbench.report.words import count
from workbench.stacks import Stack
from workbench.system.errors import UserError, all_of, refuse
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
    duel: bool = False
    at_once: int | None = None
    page: Path | None = None
    patch: Path | None = None
    want_advice: bool = False


def tasks_of(asked: Asked) -> tuple[list[Task], PriceBook]:
    """Return one task for each scenario on each stack, and the prices.

    Raises
    ------
    UserError
        Names everything that is wrong with the options, the stack files, the scenario files and the account's prices.
    """
    found: list[tuple[str, Stack]]
    scenarios: list[NamedScenario]
    (found, scenarios, replayed), node_start, speed, book, *_ = all_of(
        lambda: _matched(asked),
        lambda: _node_start(asked),
        lambda: _speed(asked),
        lambda: PriceBook.load(stacks.folder()),
        lambda: refuse(_misused(asked)),
        *(partial(_require_file, *each) for each in _written(asked)),
    )
    if asked.write_scenario and replayed:
        _write(asked.write_scenario, replayed)
        return [], book
    scalers = tuple(Scaler) if asked.duel else (Scaler.CLUSTER_AUTOSCALER,)
    tasks = [
        Task(
            stack=stack,
            scaler=scaler,
            label=f"{label} with {scaler}" if asked.duel else label,
            name=each.name,
            scenario=each.scenario,
            file=None if (how_to_edit := _how_to_edit(each, asked)) else each.file,
            how_to_edit=how_to_edit,
            pace=Pace(speed=speed or each.scenario.speed, node_start=node_start),
            is_reference=scaler.is_karpenter or (asked.compare is not None and label != asked.stacks[0]),
        )
        for each in scenarios
        for label, stack in found
        for scaler in scalers
    ]
    return tasks, book


def _how_to_edit(scenario: NamedScenario, asked: Asked) -> str:
    """Return how to get a file of a scenario that is shipped or a replay; empty for one that has its own."""
    if asked.replay:
        return "the scenario is a replay; write it with --write-scenario, change it there, and name it with --scenario"
    if scenario.file in files.shipped().values():
        copy = f"copy {stacks.shown_path(scenario.file)}, change the copy"
        return f"the scenario is shipped; {copy}, and name it with --scenario"
    return ""


def _matched(asked: Asked) -> tuple[list[tuple[str, Stack]], list[NamedScenario], Replayed | None]:
    """Return stacks, scenarios that name only what every stack has, and the replay if there is one."""
    found, reference, (scenarios, replayed) = all_of(
        lambda: _stacks(asked),
        lambda: _reference(asked),
        lambda: _scenarios(asked),
    )
    found = [*reference, *found]
    if not asked.write_scenario:
        _check_scenarios(found, scenarios)
    if asked.duel:
        refuse(_unfit_for_a_duel(found, scenarios, asked.speed))
    return found, scenarios, replayed


def _stacks(asked: Asked) -> list[tuple[str, Stack]]:
    """Return the stacks with their names."""
    known = [name for name in asked.stacks if name in stacks.stack_files()]
    _, *found = all_of(lambda: stacks.require(*asked.stacks), *(partial(stacks.find, name) for name in known))
    return list(zip(known, found, strict=True))


def _reference(asked: Asked) -> list[tuple[str, Stack]]:
    """Return the stack to compare with and its name in reports; nothing without --compare or for an unknown stack."""
    if asked.compare is None:
        return []
    files_of, name = stacks.stack_files(), asked.stacks[0]
    if asked.compare in files_of:
        return [(asked.compare, stacks.find(asked.compare))]
    if name in files_of:
        return [(f"{name}@{asked.compare}", stack_at(files_of[name], asked.compare))]
    commit_of(stacks.folder(), asked.compare)
    return []


def _scenarios(asked: Asked) -> tuple[list[NamedScenario], Replayed | None]:
    part, found, *_ = all_of(
        lambda: between(asked.begin, asked.end),
        lambda: files.find_all(asked.scenarios or () if asked.replay else asked.scenarios or tuple(files.shipped())),
        *([partial(require_known_format, asked.replay)] if asked.replay else []),
    )
    if not asked.replay:
        return found, None
    replayed = read_replay(asked.replay, part)
    for note in replayed.notes:
        errors.print(f"note: {note}", **PLAIN)
    return [NamedScenario(name=replayed.name, file=asked.replay, scenario=replayed.scenario)], replayed


def _misused(asked: Asked) -> Iterator[UserError]:
    """Yield what is wrong with the combination of options, or with a name, independently of files."""
    if asked.compare is not None and len(asked.stacks) > 1:
        yield UserError(f"--compare: compares one stack, but {len(asked.stacks)} are named.", "Name one stack.")
    elif asked.compare in asked.stacks:
        yield UserError(f"--compare: '{asked.compare}' is the stack itself.", "Name another stack, or a commit.")
    if asked.replay and asked.scenarios:
        yield UserError("--replay and --scenario cannot be combined.", "Leave one of them out.")
    if asked.duel:
        yield from _misused_duel(asked)
    given = (("--from", asked.begin), ("--to", asked.end), ("--write-scenario", asked.write_scenario))
    if not asked.replay and (options := [name for name, value in given if value is not None]):
        yield UserError(f"{', '.join(options)}: for --replay only.", "Add --replay FILE, or leave it out.")
    if asked.patch and not asked.want_advice:
        yield UserError("--patch: needs --advise.", "Add --advise, or leave --patch out.")
    # A patch must not mix changes for different scenarios.
    if asked.patch and (len(asked.stacks) > 1 or (len(asked.scenarios) != 1 and not asked.replay) or asked.compare):
        yield UserError(
            "--patch: writes the change for one scenario on one stack.",
            "Name one stack and one --scenario, without --compare.",
        )
    if (file := asked.write_scenario) and str(file) != "-":
        yield from _unfit_for_a_scenario(file)


def _misused_duel(asked: Asked) -> Iterator[UserError]:
    """Yield what is wrong with the options of a duel together."""
    others = (("--compare", asked.compare is not None), ("--advise", asked.want_advice), ("--patch", asked.patch),
              ("--write-scenario", asked.write_scenario))  # fmt: skip
    if given := [name for name, value in others if value]:
        yield UserError(f"--duel and {', '.join(given)} cannot be combined.", "Leave one of them out.")
    if len(asked.stacks) > 1:
        yield UserError(f"--duel: plays on one stack, but {len(asked.stacks)} are named.", "Name one stack.")
    if asked.at_once and asked.at_once > 1:
        yield UserError(
            f"--duel: --at-once {asked.at_once} is not allowed: clusters that run together slow each other down.",
            "Leave --at-once out.",
        )


def _unfit_for_a_duel(
    found: list[tuple[str, Stack]], scenarios: list[NamedScenario], speed: float | None
) -> Iterator[UserError]:
    """Yield why a stack or the speed of a scenario does not allow a duel."""
    for label, stack in found:
        for problem in problems_of(stack.config):
            yield UserError(f"--duel: stack '{label}': {problem}")
    fast = [each.name for each in scenarios if (speed or each.scenario.speed) > DUEL_SPEED_MAX]
    if fast:
        yield UserError(
            f"--duel: {', '.join(fast)} would be faster than {DUEL_SPEED_MAX:g} times real time, and what Karpenter "
            "computes takes real time.",
            f"Add --speed {DUEL_SPEED_MAX:g}, or less.",
        )


def _unfit_for_a_scenario(file: Path) -> Iterator[UserError]:
    """Yield why a new scenario cannot have this file: it exists, or could not be played."""
    if file.exists():
        yield UserError(f"--write-scenario: {file} exists.", "Name a new file, or remove this one.")
    if not is_dns_label(file.stem) or file.suffix not in files.SUFFIXES:
        yield UserError(
            f"--write-scenario: {file.name} cannot be the file of a scenario.",
            "Name it NAME.yaml; NAME: 1 to 63 lower-case letters, digits or '-', such as my-day.yaml.",
        )


def _written(asked: Asked) -> Iterator[tuple[str, Path, str]]:
    """Yield each option that names a file to write, with the file and an example."""
    for option, file, example in (
        ("--output", asked.page, "report.html"),
        ("--patch", asked.patch, "change.patch"),
        ("--write-scenario", asked.write_scenario, "my-day.yaml"),
    ):
        if file:
            yield option, file, example


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


def _require_file(option: str, file: Path, example: str) -> None:
    """Refuse a file that cannot be written before anything is played."""
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
