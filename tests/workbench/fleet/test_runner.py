"""The order of a run: waves, pauses, failures, interruptions and kills, with processes and time of our own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from errno import ENOSPC
from signal import SIGHUP, SIGINT, Signals

import pytest
from typing_extensions import override

from workbench.fleet import record, runner
from workbench.fleet.file import Plan, Planned
from workbench.fleet.record import Entry, Run
from workbench.fleet.runner import Clock, Runner, Stage, Watcher
from workbench.fleet.verb import Result, Verb

LASTS = 10.0
"""Seconds that each command lasts."""


class KilledError(BaseException):
    """Stands for a kill: nothing after it happens."""


@dataclass
class Time(Clock):
    at: float = 1_000.0
    events: dict[float, Callable[[], None]] = field(default_factory=dict)

    @override
    def now(self) -> float:
        return self.at

    @override
    def sleep(self, seconds: float) -> None:
        self.at += seconds
        for moment in [each for each in self.events if each <= self.at]:
            self.events.pop(moment)()


@dataclass
class Child:
    time: Time
    code: int
    until: float
    interrupts: int = 0

    def poll(self) -> int | None:
        return self.code if self.time.at >= self.until else None

    def interrupt(self) -> None:
        self.interrupts += 1
        self.code = 130

    def problem(self) -> str:
        return "it broke"


@dataclass
class World(Watcher):
    """A run with processes that only take time."""

    plan: Plan
    verb: Verb = Verb.UP
    codes: dict[tuple[Verb, str], int] = field(default_factory=dict)
    at_once: int = 2
    time: Time = field(default_factory=Time)
    log: list[str] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    most: int = 0
    saved: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    is_killed: bool = False

    def __post_init__(self) -> None:
        self.stages = runner.stages(self.plan, self.verb)
        self.run = Run("id", self.verb, entries=runner.entries(self.stages))
        self.inputs = self.inputs or dict.fromkeys(self.plan.stacks, "as it was")

    def start(self, entry: Entry) -> Child:
        if entry.needs_repair:
            self.repaired.append(entry.stack)
        code = self.codes.get((entry.verb, entry.stack), 0)
        self.children.append(Child(self.time, code, self.time.at + LASTS))
        return self.children[-1]

    def work(self) -> bool:
        self.now = dict(self.inputs)
        self.runner = Runner(
            self.run, self.start, self.inputs, self.now.__getitem__, self.save, self.at_once, self, self.time
        )
        return self.runner.work(self.stages)

    def resume(self, **inputs: str) -> list[str]:
        """Continue from what was saved, as another process would."""
        self.is_killed = False
        self.inputs |= inputs
        saved = record.TypeAdapter(Run).validate_json(self.saved)
        self.run, reasons = record.continued(saved, runner.entries(self.stages), self.inputs)
        self.log.clear()
        self.work()
        return reasons

    def interrupt(self) -> None:
        self.runner.interrupt()

    def kill(self) -> None:
        self.is_killed = True
        raise KilledError

    def save(self) -> None:
        if not self.is_killed:
            self.saved = record.TypeAdapter(Run).dump_json(self.run).decode()

    @override
    def began(self, entry: Entry) -> None:
        self.log.append(f"{entry.verb} {entry.stack}")
        running = sum(child.poll() is None for child in self.children)
        self.most = max(self.most, running)

    @override
    def interrupted(self, running: int, *, is_first: bool) -> None:
        self.log.append(f"{'stop' if is_first else 'abort'} {running}")

    @override
    def bakes(self, stage: Stage, until: float) -> None:
        self.log.append(f"bake {until - self.time.at:.0f}")

    def results(self) -> dict[str, str]:
        return {f"{each.verb} {each.stack}": each.result.value for each in self.run.entries}


def plan(*waves: Sequence[str], **settings: int) -> Plan:
    names = ("canary", "second", "rest")
    return Plan(tuple(Planned(name, tuple(wave), **settings) for name, wave in zip(names, waves, strict=False)))


def test_a_wave_begins_when_the_one_before_has_ended() -> None:
    world = World(plan(["a", "b"], ["c"]), at_once=8)
    assert world.work()
    assert world.run.is_finished
    begun = {each.stack: each.begun for each in world.run.entries}
    ended = {each.stack: each.ended for each in world.run.entries}
    assert begun["a"] == begun["b"]
    assert begun["c"] >= max(ended["a"], ended["b"])


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_stacks_run_at_once_than_allowed(limit: int) -> None:
    world = World(plan([f"s{number}" for number in range(7)]), at_once=limit)
    world.work()
    assert world.most == limit
    assert world.run.is_finished


def test_a_failure_in_the_second_wave_stops_the_third() -> None:
    world = World(plan(["a"], ["b", "c"], ["d"]), codes={(Verb.UP, "b"): 1})
    assert world.work()
    assert world.results() == {"up a": "ok", "up b": "failed", "up c": "ok", "up d": "waiting"}
    assert world.run.entry(Verb.UP, "b").problem == "it broke"
    assert not world.run.is_finished


def test_after_a_failure_no_other_stack_of_its_wave_starts() -> None:
    world = World(plan(["a", "b", "c"]), codes={(Verb.UP, "a"): 1}, at_once=1)
    world.work()
    assert world.log == ["up a"]


def test_as_many_stacks_may_fail_as_the_wave_allows() -> None:
    two = {(Verb.UP, "a"): 1, (Verb.UP, "b"): 1}
    within, beyond = World(plan(["a", "b"], ["c"], failures=2), codes=two), World(plan(["a", "b"], ["c"], failures=1))
    beyond.codes = two
    within.work()
    beyond.work()
    assert within.results()["up c"] == "ok"
    assert beyond.results()["up c"] == "waiting"


def test_an_update_and_a_verification_that_fail_are_two_failures_of_their_wave() -> None:
    codes = {(Verb.UP, "a"): 1, (Verb.VERIFY, "b"): 1}
    world = World(plan(["a", "b"], ["c"], failures=1, verify=True), codes=codes)
    world.work()
    assert world.results()["up c"] == "waiting"


def test_a_stack_that_somebody_else_interrupts_stops_later_waves_and_is_repaired() -> None:
    world = World(plan(["a"], ["b"]), codes={(Verb.UP, "a"): 130})
    assert world.work(), "the run itself was left to end"
    assert world.results() == {"up a": "failed", "up b": "waiting"}
    world.codes.clear()
    world.resume()
    assert world.repaired == ["a"]


def test_the_next_wave_waits_for_the_bake_time() -> None:
    world = World(plan(["a"], ["b"], bake=1800))
    world.work()
    assert world.log == ["up a", "bake 1800", "up b"], "nothing follows the last wave"
    first, second = world.run.entries
    assert second.begun - first.ended == pytest.approx(1800, abs=1)


def test_a_pause_begins_again_after_a_wave_that_ran_again_although_the_wave_between_them_has_succeeded() -> None:
    world = World(Plan((Planned("canary", ("a",), bake=1800), Planned("second", ("b",)), Planned("rest", ("c",)))))
    world.codes = {(Verb.UP, "c"): 1}
    world.work()
    world.codes.clear()
    world.resume(a="edited")
    assert world.log == ["up a", "bake 1800", "up c"]


def test_a_wave_is_verified_after_its_bake_time_and_a_deviation_stops_the_run() -> None:
    world = World(plan(["a"], ["b"], bake=60, verify=True), codes={(Verb.VERIFY, "a"): 1})
    world.work()
    assert world.log == ["up a", "bake 60", "verify a"]
    assert world.results() == {"up a": "ok", "verify a": "failed", "up b": "waiting", "verify b": "waiting"}


def test_a_cluster_that_cannot_be_read_stops_the_run_too() -> None:
    world = World(plan(["a"], ["b"], verify=True), codes={(Verb.VERIFY, "a"): 3})
    world.work()
    assert world.results()["verify a"] == "unjudged"
    assert world.results()["up b"] == "waiting"


def test_what_only_reads_neither_waits_nor_stops() -> None:
    world = World(plan(["a"], ["b"], bake=1800, verify=True), Verb.DRIFT, codes={(Verb.DRIFT, "a"): 1})
    world.work()
    assert world.log == ["drift a", "drift b"]
    assert world.results() == {"drift a": "failed", "drift b": "ok"}


def test_a_run_that_was_killed_continues_without_repeating_what_has_ended() -> None:
    world = World(plan(["a"], ["b", "c", "d"], ["e"]))

    world.time.events[world.time.at + 1.5 * LASTS] = world.kill  # in the middle of b and c
    with pytest.raises(KilledError):
        world.work()
    reasons = world.resume()
    assert reasons == ["b: was killed; up runs again.", "c: was killed; up runs again."]
    assert world.log == ["up b", "up c", "up d", "up e"]
    assert world.repaired == ["b", "c"], "only a stack whose run was killed may be damaged"
    assert world.run.is_finished
    assert not any(each.needs_repair for each in world.run.entries)


def test_a_resumed_run_waits_for_what_is_left_of_the_bake_time() -> None:
    world = World(plan(["a"], ["b"], bake=600))
    world.time.events[world.time.at + LASTS + 100] = world.interrupt
    assert not world.work()
    assert world.results() == {"up a": "ok", "up b": "waiting"}
    assert world.log == ["up a", "bake 600"], "there is no stack to wait for"
    world.time.at += 300
    world.resume()
    assert world.log[0].startswith("bake ")
    assert 150 < float(world.log[0].removeprefix("bake ")) <= 300
    assert world.log[1:] == ["up b"]


def test_a_resumed_run_repeats_what_failed_and_continues() -> None:
    world = World(plan(["a"], ["b"], ["c"]), codes={(Verb.UP, "b"): 1})
    world.work()
    world.codes.clear()
    assert world.resume() == ["b: failed; up runs again."]
    assert world.log == ["up b", "up c"]
    assert world.repaired == [], "a run that ended by itself leaves nothing to repair"


def test_a_stack_whose_process_was_killed_is_repaired_by_the_resumed_run() -> None:
    world = World(plan(["a"]), codes={(Verb.UP, "a"): -9})
    world.work()
    world.codes.clear()
    world.resume()
    assert world.repaired == ["a"]


def test_a_changed_stack_file_runs_again_and_is_verified_again() -> None:
    world = World(plan(["a", "b"], ["c"], verify=True), codes={(Verb.UP, "c"): 1})
    world.work()
    world.codes.clear()
    reasons = world.resume(a="edited")
    assert reasons == [
        "a: its stack file, its base, the overrides or this package changed; up runs again.",
        "a: its stack file, its base, the overrides or this package changed; verify runs again.",
        "c: failed; up runs again.",
    ]
    assert world.log == ["up a", "verify a", "up c", "verify c"]


def test_a_stack_file_that_changes_during_the_run_is_not_applied_before_the_canary() -> None:
    world = World(plan(["a"], ["b"]))
    world.time.events[world.time.at + 3] = lambda: world.now.update(b="edited")
    world.work()
    assert world.log == ["up a"]
    assert world.results() == {"up a": "ok", "up b": "failed"}
    assert "changed since the run began" in world.run.entries[1].problem
    world.resume(b="edited")
    assert world.log == ["up b"]


def test_what_only_reads_takes_files_as_they_are() -> None:
    world = World(plan(["a"], ["b"]), Verb.DRIFT)
    world.time.events[world.time.at + 3] = lambda: world.now.update(b="edited")
    world.work()
    assert world.log == ["drift a", "drift b"]


def test_ctrl_c_is_passed_on_once_and_what_runs_is_waited_for() -> None:
    world = World(plan(["a", "b", "c"], ["d"]))
    world.time.events[world.time.at + 3] = world.interrupt
    assert not world.work()
    assert [child.interrupts for child in world.children] == [1, 1]
    assert world.results() == {"up a": "interrupted", "up b": "interrupted", "up c": "waiting", "up d": "waiting"}
    assert world.run.ended


def test_a_second_ctrl_c_is_passed_on_too() -> None:
    world = World(plan(["a"]))
    for moment in (3, 5):
        world.time.events[world.time.at + moment] = world.interrupt
    world.work()
    assert [child.interrupts for child in world.children] == [2]
    assert world.log == ["up a", "stop 1", "abort 1"]


def test_a_stack_that_ended_well_after_ctrl_c_does_not_run_again() -> None:
    world = World(plan(["a", "b"]), at_once=1)

    def interrupt() -> None:
        world.runner.interrupt()
        world.children[-1].interrupt = lambda: None  # type: ignore[method-assign]

    world.time.events[world.time.at + 3] = interrupt
    world.work()
    assert world.results() == {"up a": "ok", "up b": "waiting"}
    world.resume()
    assert world.log == ["up b"]


def test_an_error_of_our_own_leaves_no_process_behind() -> None:
    class Broken(World):
        @override
        def tick(self) -> None:
            if self.time.at > 1_003 and not self.children[0].interrupts:
                raise SystemExit(130)

    world = Broken(plan(["a", "b"]))
    with pytest.raises(SystemExit):
        world.work()
    assert [child.interrupts for child in world.children] == [1, 1]
    assert world.results() == {"up a": "interrupted", "up b": "interrupted"}


def test_an_output_that_is_gone_after_ctrl_c_is_no_second_ctrl_c() -> None:
    class Closed(World):
        """Its terminal is gone, or `tee`, which Ctrl-C ends too."""

        @override
        def interrupted(self, running: int, *, is_first: bool) -> None:
            raise SystemExit(130)

    world = Closed(plan(["a", "b"]))
    world.time.events[world.time.at + 3] = world.interrupt
    with pytest.raises(SystemExit):
        world.work()
    assert [child.interrupts for child in world.children] == [1, 1]
    assert world.results() == {"up a": "interrupted", "up b": "interrupted"}


@pytest.mark.parametrize("first", [SIGINT, SIGHUP])
def test_a_terminal_that_is_gone_is_no_second_ctrl_c(first: Signals) -> None:
    world = World(plan(["a", "b"]))
    world.time.events[world.time.at + 3] = lambda: world.runner._note(first, None)
    world.time.events[world.time.at + 4] = lambda: world.runner._note(SIGHUP, None)
    assert not world.work()
    assert [child.interrupts for child in world.children] == [1, 1]


def test_a_record_that_cannot_be_written_leaves_no_process_behind() -> None:
    class Full(World):
        @override
        def save(self) -> None:
            if self.time.at > 1_003:
                raise OSError(ENOSPC, "No space left on device", "run.json")

    world = Full(plan(["a", "b", "c"]))
    with pytest.raises(OSError, match="No space left"):
        world.work()
    assert [child.poll() for child in world.children] == [0, 130]


@pytest.mark.parametrize(
    ("verb", "code", "result"),
    [
        (Verb.UP, 0, Result.OK),
        (Verb.UP, 1, Result.FAILED),
        (Verb.UP, -9, Result.FAILED),
        (Verb.UP, 130, Result.FAILED),
        (Verb.DRIFT, 130, Result.UNJUDGED),
        (Verb.PREVIEW, 3, Result.FAILED),
        (Verb.DRIFT, 1, Result.FAILED),
        (Verb.DRIFT, 3, Result.UNJUDGED),
        (Verb.DRIFT, 2, Result.UNJUDGED),
    ],
)
def test_the_exit_code_decides_the_result(verb: Verb, code: int, result: Result) -> None:
    world = World(plan(["a"]), verb, codes={(verb, "a"): code})
    world.work()
    assert world.run.entries[0].result is result
