import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.engine.lock import held_by, held_elsewhere, stack_lock
from workbench.system import locks
from workbench.system.errors import UserError

HOLDER = "import sys, time; print('ready', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    monkeypatch.setattr("workbench.engine.lock._PATIENCE", 0.3)
    return tmp_path


@contextmanager
def left_behind(descriptor: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that a run started, and that keeps the run's lock."""
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(command, pass_fds=(descriptor,), stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        yield child
        child.kill()


def test_nobody_holds_a_lock_that_was_never_taken_or_was_given_back() -> None:
    assert held_by("local").processes == []
    with stack_lock("local", "up"):
        pass
    assert held_by("local").processes == []
    with stack_lock("local", "up"):
        pass


def test_two_stacks_do_not_wait_for_each_other() -> None:
    with stack_lock("one", "up"), stack_lock("two", "up"):
        pass


def test_stacks_of_one_name_in_two_folders_do_not_wait_for_each_other(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours" / "Pulumi.dev.yaml", tmp_path / "theirs" / "Pulumi.dev.yaml"
    with stack_lock("dev", "up", ours) as descriptor, left_behind(descriptor) as child:
        with stack_lock("dev", "up", theirs):
            pass
        assert child.pid in {process.pid for process in held_by("dev", ours).processes}
        assert held_by("dev", theirs).processes == []
        with pytest.raises(UserError), stack_lock("dev", "up", ours):
            pass


def test_a_killed_run_is_told_by_what_it_left_and_by_the_way_to_recover(data: Path) -> None:
    with stack_lock("local", "up") as descriptor:
        context = left_behind(descriptor)
        child = context.__enter__()
    try:
        held = held_by("local")
        assert not held.is_running
        assert [process.pid for process in held.processes] == [child.pid]
        with pytest.raises(UserError) as caught, stack_lock("local", "destroy"):
            pass
        assert f"`igz-clusters up` (process {os.getpid()}, since " in caught.value.message
        assert f"was killed, but its processes still change the stack 'local': {child.pid} " in caught.value.message
        assert caught.value.hint == "`igz-clusters recover local` ends them and repairs the state."
    finally:
        context.__exit__(None, None, None)
    with stack_lock("local", "destroy"):
        pass


def test_a_lock_is_held_elsewhere_only_if_none_of_its_holders_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    assert held_elsewhere("local") is None
    with stack_lock("local", "up") as descriptor:
        with left_behind(descriptor):
            assert held_elsewhere("local") is None
        monkeypatch.setattr(locks, "holders", lambda _: [])
        error = held_elsewhere("local")
    assert error
    assert error.message == "The stack 'local' is locked by processes that are not visible here."
    assert held_elsewhere("local") is None


def test_a_living_run_is_named_with_its_command_and_process(data: Path) -> None:
    program = (
        "import sys, time\nfrom workbench.engine.lock import stack_lock\n"
        "with stack_lock('local', 'up'):\n    print('ready', flush=True)\n    time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as run:
        assert run.stdout
        run.stdout.readline()
        with pytest.raises(UserError) as caught, stack_lock("local", "destroy"):
            pass
        run.kill()
    assert f"is being changed by `igz-clusters up` (process {run.pid}, since " in caught.value.message
    assert caught.value.hint.startswith("Wait until it ends, or press Ctrl-C where it runs")
