import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.system import locks
from workbench.system.paths import problem_of


def test_a_lock_has_one_holder_and_ends_with_its_descriptor(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    first = locks.take(file)
    assert first is not None
    assert locks.take(file) is None
    os.close(first)
    second = locks.take(file)
    assert second is not None
    os.close(second)


def test_a_lock_whose_file_its_holder_has_just_deleted_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, locked = tmp_path / "lock", locks._locked

    def late(file: Path, operation: int) -> int:
        descriptor = locked(file, operation)
        file.unlink()
        return descriptor

    with monkeypatch.context() as patch:
        patch.setattr(locks, "_locked", late)
        assert locks.take(file) is None
    descriptor = locks.take(file)
    assert descriptor is not None
    os.close(descriptor)


def test_a_child_keeps_its_parents_lock_and_is_found_by_it(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    descriptor = locks.take(file)
    assert descriptor is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], pass_fds=(descriptor,), stdin=subprocess.PIPE) as child:
        os.close(descriptor)
        assert [process.pid for process in locks.holders(file)] == [child.pid]
        assert locks.take(file) is None
        child.kill()
    assert locks.holders(file) == []
    free = locks.take(file)
    assert free is not None
    os.close(free)


@pytest.mark.parametrize("lock", [locks.take, locks.wait_for])
def test_a_file_system_without_locks_is_said_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: Callable[[Path], int | None]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="No locks available") as refused:
        lock(tmp_path / "lock")
    problem = problem_of(refused.value)
    assert problem
    assert problem.message == f"Cannot lock {tmp_path / 'lock'}: No locks available."


def test_a_file_that_does_not_exist_has_no_holders(tmp_path: Path) -> None:
    assert locks.holders(tmp_path / "none") == []


def test_a_longer_note_is_replaced_by_a_shorter_one_whole(tmp_path: Path) -> None:
    descriptor = locks.wait_for(tmp_path / "lock")
    locks.write(descriptor, "a long note")
    locks.write(descriptor, "short")
    os.close(descriptor)
    assert (tmp_path / "lock").read_text() == "short"
