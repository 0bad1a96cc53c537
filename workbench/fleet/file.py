"""``fleet.yaml``: the waves in it, with the stacks that each has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final

from infra.config import Problem
from infra.config.problems import did_you_mean, nearest, shown
from workbench import stacks
from workbench.fleet.model import AT_ONCE, Fleet, Wave
from workbench.stacks import Stack, StackFileError
from workbench.stacks.file_problems import content_of, located, parsed
from workbench.system.errors import UserError, all_of

ALL: Final = "all"
"""Name of the only wave of a folder without the file."""


@dataclass(frozen=True)
class Planned:
    """A wave and its stacks.

    Parameters
    ----------
    name, failures, bake, verify
        As in the file; ``bake`` in seconds.
    stacks
        Names of its stacks, at least one.
    """

    name: str
    stacks: tuple[str, ...]
    failures: int = 0
    bake: int = 0
    verify: bool = False


@dataclass(frozen=True)
class Plan:
    """What runs in which order.

    Parameters
    ----------
    waves
        The waves, in order; each stack is in one at most.
    at_once
        Stacks at the same time.
    file
        Where this is from; None for a folder without a file.
    left_out
        Stacks of the folder that are in no wave.
    """

    waves: tuple[Planned, ...]
    at_once: int = AT_ONCE
    file: Path | None = None
    left_out: tuple[str, ...] = ()

    @property
    def stacks(self) -> tuple[str, ...]:
        """All stacks that are in a wave, in order."""
        return tuple(name for wave in self.waves for name in wave.stacks)

    def only(self, names: Sequence[str], asked_by: str = "--wave") -> "Plan":
        """Return the plan with the waves ``names`` only; with all if there are no names.

        Parameters
        ----------
        names
            Names of waves.
        asked_by
            Where the names are from, for the message. Default: the option.

        Raises
        ------
        UserError
            There is no such wave; names all that do not exist.
        """
        known = [wave.name for wave in self.waves]
        if unknown := [name for name in dict.fromkeys(names) if name not in known]:
            near = dict.fromkeys(match for name in unknown if (match := nearest(name, known)))
            hint = f"Did you mean {' and '.join(map(repr, near))}? " if near else ""
            listed = ", ".join(map(shown, unknown))
            raise UserError(f"{asked_by}: no such wave: {listed}.", f"{hint}Waves: {', '.join(known)}.")
        chosen = tuple(wave for wave in self.waves if not names or wave.name in names)
        return Plan(chosen, self.at_once, self.file, self.left_out)


def read(file: Path | None = None) -> Plan:
    """Return the waves of a folder's stacks.

    Parameters
    ----------
    file
        The file. Default: ``fleet.yaml`` in the folder of the stack files; without it one wave has all stacks.

    Raises
    ------
    StackFileError
        The file cannot be read or is invalid; lists all problems at once.
    UserError
        The folder has no stack.
    """
    known = stacks.stack_files()
    if not known:
        raise stacks.none_found()
    place = file or stacks.folder() / stacks.FLEET_FILE
    if not file and not place.exists():
        return Plan((Planned(ALL, tuple(known)),))
    if isinstance(source := content_of(place), Problem):
        raise StackFileError(place, [source])
    fleet, problems = parsed(source, Fleet)
    waves = _waves(fleet, known, problems) if fleet else ()
    if problems or not fleet:
        raise StackFileError(place, [located(problem, source) for problem in problems])
    taken = {name for wave in waves for name in wave.stacks}
    return Plan(tuple(waves), fleet.at_once, place, tuple(name for name in known if name not in taken))


def checked(file: Path | None = None) -> Plan:
    """Return the waves as ``read`` does; the error has the mistakes of all stack files too."""
    try:
        return read(file)
    except StackFileError:
        all_of(partial(read, file), *(partial(stacks.find, name) for name in stacks.stack_files()))
        raise


def stacks_of(names: Sequence[str]) -> dict[str, Stack]:
    """Return stacks by name; raises ``UserError`` with the problems of all of them."""
    stacks.require(*names)
    return dict(zip(names, all_of(*(partial(stacks.find, name) for name in names)), strict=True))


def _waves(fleet: Fleet, known: Mapping[str, Path], problems: list[Problem]) -> list[Planned]:
    """Return the waves with their stacks; adds what is wrong with the names and patterns in them."""
    owners, planned = dict[str, str](), list[Planned]()
    for index, wave in enumerate(fleet.waves):
        unfit = list(_unfit(index, wave, owners, known))
        problems += unfit
        names = dict.fromkeys(
            name for pattern in wave.stacks for name in known if name not in owners and fnmatchcase(name, pattern)
        )
        owners |= dict.fromkeys(names, wave.name)
        planned.append(Planned(wave.name, tuple(names), wave.failures, wave.bake, wave.verify))
        if not names and not unfit:
            problems.append(Problem(("waves", index, "stacks"), "all of these stacks are in earlier waves; remove it"))
    return planned


def _unfit(index: int, wave: Wave, owners: Mapping[str, str], known: Mapping[str, Path]) -> Iterator[Problem]:
    for place, pattern in enumerate(wave.stacks):
        path = ("waves", index, "stacks", place)
        if set(pattern) & set("*?["):
            if not any(fnmatchcase(name, pattern) for name in known):
                yield Problem(path, "matches no stack", shown(pattern), tuple(known))
        elif pattern not in known:
            yield Problem(path, f"unknown stack{did_you_mean(pattern, known)}", shown(pattern), tuple(known))
        elif pattern in owners:
            yield Problem(path, f"is in the wave '{owners[pattern]}' already; keep one", shown(pattern))
