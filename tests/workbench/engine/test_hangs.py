"""A run that is stuck says so, and a second Ctrl-C ends it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from typing_extensions import override

from infra.config import CONFIG_KEY
from support.cluster import HANGS, eventually
from support.eks import document
from support.scripted_engine import ScriptedEngine
from workbench import stacks
from workbench.engine import hangs, running, session
from workbench.engine.lock import stack_lock
from workbench.recovery import orphans
from workbench.system.errors import UserError
from workbench.system.processes import is_suspended

ENGINE = f"""#!{sys.executable}
import os, pathlib, signal, subprocess, sys
ignored = lambda *_: print("asked", flush=True)
signal.signal(signal.SIGINT, ignored)
signal.signal(signal.SIGTERM, ignored)
plugin = subprocess.Popen(["sh", "-c", "trap '' HUP INT TERM; exec sleep 600"])
pathlib.Path(sys.argv[0]).with_name("processes").write_text(f"{{os.getpid()}} {{plugin.pid}}\\n")
plugin.wait()
"""

RUN = """
import sys
from pathlib import Path
from support.scripted_engine import ScriptedEngine
from workbench import stacks
from workbench.engine import hangs, running, session
from workbench.engine.cloud import cloud_session
from workbench.engine.lock import stack_lock
from workbench.toolchain import Toolchain
hangs._PAUSE, hangs.SILENCE, running._ABORT = 0.1, float(sys.argv[2]), 0.5
toolchain = Toolchain({"pulumi": Path(sys.argv[1], "pulumi")})
found = stacks.find("mine")
with stack_lock("mine", "up", found.file) as lock, Path(sys.argv[1], "display").open("wb") as display:
    print(cloud_session(found, toolchain, lock).run("up", display=display), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.mine.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document()}}))
    ScriptedEngine(tmp_path).toolchain.pulumi.write_text(ENGINE)
    return tmp_path


class Hanging:
    """A run in a process of its own, whose engine waits for a plug-in for ever."""

    def __init__(self, folder: Path, silence: float) -> None:
        self._said = folder / "said"
        command = [sys.executable, "-c", RUN, str(folder), str(silence)]
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with self._said.open("wb") as said:
            self.command = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        written = folder / "processes"
        eventually(lambda: written.exists() and written.read_text().endswith("\n"))
        self.engine, self.plugin = (psutil.Process(int(each)) for each in written.read_text().split())
        assert self.plugin.parent() == self.engine

    @property
    def processes(self) -> list[psutil.Process]:
        return [psutil.Process(self.command.pid), self.engine, self.plugin]

    def says(self, text: str) -> bool:
        return text in self._said.read_text()

    def end(self) -> None:
        for process in (self.engine, self.plugin):
            if process.is_running():
                process.kill()
        self.command.kill()
        self.command.wait(HANGS)


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process is gone, or waits only for its parent to ask how it ended."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def hanging(folder: Path) -> Iterator[Hanging]:
    run = Hanging(folder, silence=600)
    yield run
    run.end()


@pytest.mark.parametrize("victim", ["engine", "plugin"])
def test_a_suspended_process_is_named_at_once(hanging: Hanging, victim: str) -> None:
    process: psutil.Process = getattr(hanging, victim)
    process.suspend()
    eventually(lambda: hanging.says(f"The run is stuck: {process.pid} "))
    assert hanging.says(f"(suspended). `kill -CONT {process.pid}` continues it; Ctrl-C ends the run after its current")


def test_an_engine_without_news_is_said_with_its_processes(folder: Path) -> None:
    run = Hanging(folder, silence=0.3)
    try:
        eventually(lambda: run.says("The engine has reported nothing for 0 s"))
        eventually(lambda: run.says(f"{run.plugin.pid} sleep"))
    finally:
        run.end()


def test_a_second_ctrl_c_while_the_first_is_announced_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hangs, "say", interrupted)
    code = "import signal, time; signal.signal(signal.SIGINT, lambda *_: print(flush=True)); print(flush=True)"
    command = [sys.executable, "-c", f"{code}; time.sleep(600)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as engine:
        assert engine.stdout
        engine.stdout.readline()
        monkeypatch.setattr(running, "_ABORT", 0.3)
        waits, wait = iter([KeyboardInterrupt()]), engine.wait

        def first_interrupted(timeout: float | None = None) -> int:
            for interrupt in waits:
                raise interrupt
            return wait(timeout)

        monkeypatch.setattr(engine, "wait", first_interrupted)
        try:
            assert running.wait_for(running.Running(engine), is_in_our_group=False) == 2
        finally:
            engine.kill()


def test_a_third_ctrl_c_does_not_postpone_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float | None] = []

    class Engine:
        ended = False

        def poll(self) -> int | None:
            return 0 if self.ended else None

        def wait(self, timeout: float | None = None) -> None:
            limits.append(timeout)
            if len(limits) < 6:
                time.sleep(0.05)
                raise KeyboardInterrupt
            raise subprocess.TimeoutExpired("engine", timeout or 0)

        def kill(self) -> None:
            self.ended = True

    engine: Any = Engine()
    monkeypatch.setattr(hangs, "end_all", lambda: None)
    assert running.wait_for(running.Running(engine), is_in_our_group=True) == 5
    timed = [each for each in limits if each is not None]
    assert len(timed) == 4
    assert timed == sorted(timed, reverse=True)
    assert timed[-1] <= running._ABORT - 0.15


class Looks(threading.Event):
    """Ends the watch after three looks, between which more time passes than the pause."""

    left = 3

    @override
    def wait(self, timeout: float | None = None) -> bool:
        time.sleep(0.1)
        self.left -= 1
        return self.left < 0


def test_the_time_that_ctrl_z_lasts_is_no_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hangs, "_PAUSE", 0.01)
    monkeypatch.setattr(hangs, "SILENCE", 0.05)
    hangs._watch(lambda: 0, Looks())
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("last", "asks", "waits"),
    [("cancelEvent", True, True), ("cancelEvent", False, False), ("summaryEvent", True, False)],
)
def test_an_engine_that_waits_for_an_answer_is_not_silent(
    tmp_path: Path, last: str, *, asks: bool, waits: bool
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(json.dumps({"sequence": 1, last: {}}) + "\n")
    assert (session._news(events, asks=asks) != session._news(events, asks=asks)) is waits
    assert session._news(tmp_path / "none", asks=asks) == session._news(None, asks=asks)


@pytest.mark.parametrize("victim", ["engine", "plugin", None])
def test_a_second_ctrl_c_ends_all_processes_of_a_run_that_hangs(hanging: Hanging, victim: str | None) -> None:
    if victim:
        getattr(hanging, victim).suspend()
    hanging.command.send_signal(signal.SIGINT)
    eventually(lambda: hanging.says("Stopping: the engine finishes its current step"))
    assert hanging.plugin.is_running()
    hanging.command.send_signal(signal.SIGINT)
    assert hanging.command.wait(HANGS) == 0
    assert hanging.says("130\n")
    eventually(lambda: all(has_ended(each) for each in (hanging.engine, hanging.plugin)))
    with stack_lock("mine", "recover", stacks.find("mine").file):
        assert orphans("mine", stacks.find("mine").file) == []


@pytest.mark.parametrize("victim", [0, 1, 2], ids=["command", "engine", "plugin"])
def test_recover_with_force_lists_what_hangs_and_ends_it_but_not_who_asks_for_the_lock(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch, victim: int
) -> None:
    for name in ("_GRACE", "_LAST_GRACE"):
        monkeypatch.setattr(sys.modules["workbench.recovery.orphans"], name, 0.3)
    file = stacks.find("mine").file
    suspended = hanging.processes[victim]
    suspended.suspend()
    eventually(lambda: is_suspended(suspended))
    with pytest.raises(UserError) as caught, stack_lock("mine", "up", file):
        pass
    assert "`igz-clusters recover mine --force` lists its processes and ends them." in caught.value.hint
    assert f"`kill -CONT {suspended.pid}` continues it." in caught.value.message
    with pytest.raises(UserError, match="there is nothing to recover"):
        orphans("mine", file)
    (lock,) = (stacks.folder() / "data" / "locks").glob("mine-*.lock")
    with subprocess.Popen(["sleep", "600"], stdin=lock.open("rb")) as other:
        (finding,) = orphans("mine", file, force=True)
        for process in hanging.processes:
            assert f"{process.pid} " in finding.found
        assert f"{other.pid} " not in finding.found
        assert finding.repair
        finding.repair()
        assert other.poll() is None
        other.kill()
    hanging.command.wait(HANGS)
    eventually(lambda: all(has_ended(each) for each in (hanging.engine, hanging.plugin)))


def test_a_killed_engine_is_said_with_the_signal_and_what_to_do(hanging: Hanging) -> None:
    hanging.engine.kill()
    hanging.command.wait(HANGS)
    assert hanging.says("The engine was ended by SIGKILL from outside")
    assert hanging.says("`igz-clusters recover mine` repairs what it left")
