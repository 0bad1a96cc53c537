"""Runs what a record lists, stage after stage, some stacks at the same time.

One loop in one thread starts the processes, checks them and writes the record after each change, so that a kill at
any moment leaves a record from which the run continues.
"""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Protocol

from workbench.engine import INTERRUPTED
from workbench.fleet.file import Plan
from workbench.fleet.record import Entry, Run
from workbench.fleet.verb import Result, Verb, result_of

PAUSE: Final = 0.1
"""Seconds between two checks of the processes."""

_CHANGED: Final = "Its stack file, its base, policies/overrides.yaml or this package changed since the run began."

_ASKS_TO_END: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Stage:
    """One command on the stacks of a wave.

    Parameters
    ----------
    wave, verb, stacks
        Which.
    failures
        How many may fail before the run stops; None if it never does.
    pause
        Seconds to wait after the stage before.
    """

    wave: str
    verb: Verb
    stacks: tuple[str, ...]
    failures: int | None = None
    pause: int = 0


def stages(plan: Plan, verb: Verb) -> tuple[Stage, ...]:
    """Return the stages of a run, in order; stages that only read neither wait nor stop the run."""
    found, pause = list[Stage](), 0
    for wave in plan.waves:
        failures = wave.failures if verb.is_change else None
        found.append(Stage(wave.name, verb, wave.stacks, failures, pause))
        pause = wave.bake if verb.is_change else 0
        if wave.verify and verb is Verb.UP:
            found.append(Stage(wave.name, Verb.VERIFY, wave.stacks, failures, pause))
            pause = 0
    return tuple(found)


def entries(planned: Sequence[Stage]) -> list[Entry]:
    """Return a new entry for each command on each stack."""
    return [Entry(stage.wave, stage.verb, name) for stage in planned for name in stage.stacks]


class Child(Protocol):
    """A process that runs a command on a stack."""

    def poll(self) -> int | None:
        """Return its exit code; None as long as it runs."""

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""

    def problem(self) -> str:
        """Return the first problem that it reported, after its end; empty if there is none."""


class Clock:
    """Time, as tests replace it."""

    def now(self) -> float:
        """Return the seconds since 1970: pauses go on while nothing runs."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Watcher:
    """Shows what happens; nothing by default."""

    def began(self, entry: Entry) -> None:
        """Show that a command began."""

    def ended(self, entry: Entry) -> None:
        """Show that a command ended."""

    def bakes(self, stage: Stage, until: float) -> None:
        """Show that the run waits before a stage, until a time in seconds since 1970."""

    def interrupted(self, running: int, *, is_first: bool) -> None:
        """Show that the run was interrupted, for the first time or again, and waits for ``running`` processes."""

    def tick(self) -> None:
        """Show how far it is, several times a second."""


@dataclass
class Runner:
    """Runs the stages of a run.

    Parameters
    ----------
    run
        The run, with an entry for each command on each stack.
    start
        Starts the commands of an entry.
    inputs
        Fingerprint of each stack when the run began; see ``record.inputs_of``.
    inputs_now
        Returns the fingerprint of a stack.
    save
        Writes the record.
    at_once
        Stacks at the same time.
    """

    run: Run
    start: Callable[[Entry], Child]
    inputs: dict[str, str]
    inputs_now: Callable[[str], str]
    save: Callable[[], None]
    at_once: int
    watcher: Watcher = field(default_factory=Watcher)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self._running: list[tuple[Entry, Child]] = []
        self._asked = self._passed_on = 0

    def work(self, planned: Sequence[Stage]) -> bool:
        """Run everything that has not succeeded, until a stage has too many failures.

        Returns False if it was interrupted.

        After Ctrl-C or a signal no further command starts. Each process is asked to end once and waited for; a second
        signal is passed on too.
        """
        try:
            with self._counting_signals():
                try:
                    self._work(planned)
                except BaseException:
                    self._end_all()
                    raise
        finally:
            self.run.ended = self.clock.now()
            self.save()
        return not self._asked

    def _work(self, planned: Sequence[Stage]) -> None:
        for number, stage in enumerate(planned):
            if waiting := self._left(planned[:number], stage):
                self._bake(planned[: number + 1])
                self._work_on(stage, waiting)
            if self._stops_after(stage):
                break

    def _end_all(self) -> None:
        """Ask what runs to end, unless that was done, and wait for it: the terminal may be gone, or the disk full."""
        self.watcher = Watcher()
        self.hang_up()
        while self._running:
            with suppress(OSError):
                self._wait()

    def interrupt(self) -> None:
        """Ask the run to end."""
        self._asked += 1

    def hang_up(self) -> None:
        """Ask the run to end, unless that was done: a terminal that is gone is no second Ctrl-C."""
        self._asked = max(self._asked, 1)

    @contextmanager
    def _counting_signals(self) -> Iterator[None]:
        """Note signals instead of raising at any place: a process that was just started would be lost."""
        before = {
            each: signal.signal(each, self._note)
            for each in _ASKS_TO_END
            if each == signal.SIGINT or signal.getsignal(each) is not signal.SIG_IGN  # ignored under `nohup`
        }
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _note(self, number: int, _frame: object) -> None:
        if number == signal.SIGHUP:
            self.hang_up()
        else:
            self.interrupt()

    def _left(self, earlier: Sequence[Stage], stage: Stage) -> list[Entry]:
        """Return what has not succeeded, without stacks that an earlier stage did not finish."""
        unfinished = {
            name for each in earlier for name in each.stacks if self.run.entry(each.verb, name).result is not Result.OK
        }
        found = [self.run.entry(stage.verb, name) for name in stage.stacks if name not in unfinished]
        return [entry for entry in found if entry.result is not Result.OK]

    def _stops_after(self, stage: Stage) -> bool:
        bad = sum(entry.result.is_bad for entry in self.run.entries if entry.wave == stage.wave)
        return bool(self._asked) or (stage.failures is not None and bad > stage.failures)

    def _bake(self, begun: Sequence[Stage]) -> None:
        """Wait for the pauses before the last stage; one that follows a stage which ran again begins again."""
        until = max((self._ended(each) + after.pause for each, after in pairwise(begun) if after.pause), default=0)
        if until > self.clock.now():
            self.watcher.bakes(begun[-1], until)
            while until > self.clock.now() and not self._asked:
                self._wait()

    def _ended(self, stage: Stage) -> float:
        return max(self.run.entry(stage.verb, name).ended for name in stage.stacks)

    def _work_on(self, stage: Stage, waiting: Sequence[Entry]) -> None:
        queue = list(waiting)
        while queue or self._running:
            while queue and len(self._running) < self.at_once and not self._stops_after(stage):
                self._start(queue.pop(0), is_change=stage.failures is not None)
            if not self._running:
                return
            self._wait()

    def _start(self, entry: Entry, *, is_change: bool) -> None:
        entry.reset()
        entry.begun, entry.inputs = self.clock.now(), self.inputs[entry.stack]
        if is_change and self.inputs_now(entry.stack) != entry.inputs:
            # Earlier waves did not test what would be applied now.
            entry.result, entry.ended, entry.problem = Result.FAILED, entry.begun, _CHANGED
            self.save()
            self.watcher.ended(entry)
            return
        entry.result = Result.RUNNING
        self.save()
        self._running.append((entry, self.start(entry)))
        self.watcher.began(entry)

    def _wait(self) -> None:
        """Wait a moment, pass interrupts on, and note which processes have ended."""
        self.clock.sleep(PAUSE)
        if self._asked > self._passed_on:
            self._passed_on = self._asked
            for _, child in self._running:
                child.interrupt()
            if self._running:
                self.watcher.interrupted(len(self._running), is_first=self._passed_on == 1)
        for entry, child in list(self._running):
            if (code := child.poll()) is not None:
                self._running.remove((entry, child))
                self._end(entry, code, child)
        self.watcher.tick()

    def _end(self, entry: Entry, code: int, child: Child) -> None:
        entry.result = result_of(entry.verb, code, interrupted=self._asked > 0)
        entry.code, entry.ended = code, self.clock.now()
        entry.problem = "" if entry.result is Result.OK else child.problem()
        is_stopped = code < 0 or code == INTERRUPTED
        entry.needs_repair = entry.result is not Result.OK and (entry.needs_repair or is_stopped)
        self.save()
        self.watcher.ended(entry)
