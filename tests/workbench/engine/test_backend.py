import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.state_files import checkpoint, engine_lock, said, write
from workbench.engine.backend import CorruptStateError, StateFiles, read
from workbench.system.paths import APP


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateFiles:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    files = StateFiles("local")
    files.current.parent.mkdir(parents=True)
    return files


def urns(deployment: dict[str, Any]) -> list[str]:
    return [resource["urn"] for resource in deployment["resources"]]


def test_a_stack_that_was_never_up_has_an_empty_state_and_is_not_damaged(files: StateFiles) -> None:
    assert files.deployment() == {}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"\0\0\0\n", "the file is empty"),
        (checkpoint("a")[:-9], "the file is truncated or invalid JSON"),
        (b"\xff\xfe{}", "the file is truncated or invalid JSON"),
        (b"[]", "the file is not an engine state"),
        (b'{"checkpoint": {}}', "the file is not an engine state"),
    ],
)
def test_a_damaged_file_is_recognised_by(files: StateFiles, content: bytes, reason: str) -> None:
    write(files.current, content)
    with pytest.raises(CorruptStateError, match=reason):
        files.deployment()


def test_a_changed_byte_is_recognised_although_the_file_is_still_json(files: StateFiles) -> None:
    write(files.current, checkpoint("b"), checksum_of=checkpoint("a"))
    with pytest.raises(CorruptStateError, match="does not match its checksum"):
        files.deployment()


def test_a_save_that_was_interrupted_between_checksum_and_content_is_no_damage(files: StateFiles) -> None:
    write(files.current.with_suffix(".json.bak"), checkpoint("before"))
    write(files.current, checkpoint("before"), checksum_of=checkpoint("after"))
    assert urns(files.deployment()) == ["before"]


def test_a_save_that_was_interrupted_in_the_checksum_itself_is_damage(files: StateFiles) -> None:
    write(files.current.with_suffix(".json.bak"), checkpoint("before"))
    write(files.current, checkpoint("before"))
    files.current.with_name(f"{files.current.name}.attrs").write_bytes(b"")  # with it the engine reads nothing
    with pytest.raises(CorruptStateError, match="does not match its checksum"):
        files.deployment()
    copy = files.newest_intact_copy()
    assert copy
    files.restore(copy)
    assert urns(files.deployment()) == ["before"]


def test_a_file_without_a_checksum_was_put_back_by_hand_and_counts(files: StateFiles) -> None:
    files.current.write_bytes(checkpoint("a"))
    assert urns(files.deployment()) == ["a"]


def test_the_newest_whole_copy_is_put_back_and_the_damaged_file_is_kept(files: StateFiles) -> None:
    root = files.current.parents[2]
    old = write(root / "history" / APP / "local" / "local-1.checkpoint.json", checkpoint("old"))
    newer = write(root / "backups" / APP / "local" / "local.2.json", checkpoint("newer"))
    broken = write(files.current.with_suffix(".json.bak"), b"{")
    for age, file in enumerate((broken, newer, old)):
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    write(files.current, b"{{")

    copy = files.newest_intact_copy()
    assert copy == newer
    files.set_aside()
    files.restore(copy)
    assert urns(files.deployment()) == ["newer"]
    assert [file.read_bytes() for file in files.current.parent.glob("local.json.damaged-*")] == [b"{{"]
    assert [file.read_bytes() for file in files.current.parent.glob("local.json.bak.damaged-*")] == [b"{"]


def test_saving_keeps_the_last_state_as_the_engine_does(files: StateFiles) -> None:
    write(files.current, checkpoint("a"))
    files.save({"resources": [{"urn": "b"}]})
    assert urns(files.deployment()) == ["b"]
    assert urns(read(files.current.with_suffix(".json.bak"))) == ["a"]
    assert json.loads(files.current.read_bytes())["version"] == 3


def test_a_lock_of_a_process_that_is_gone_is_stale_and_can_be_removed(files: StateFiles) -> None:
    gone = next(pid for pid in range(2**21, 2**22) if not psutil.pid_exists(pid))
    lock = engine_lock(files, said(gone))
    assert not lock.is_alive
    lock.remove()
    assert list(lock.file.parent.iterdir()) == []


def test_a_lock_whose_process_id_belongs_to_another_program_now_is_stale(files: StateFiles) -> None:
    assert not engine_lock(files, said(os.getpid())).is_alive


def test_a_lock_of_another_machine_is_never_called_stale(files: StateFiles) -> None:
    assert engine_lock(files, said(1, "elsewhere")).is_elsewhere


@pytest.mark.parametrize("content", ["", "{", "[]", "{}"])
def test_a_lock_that_says_nothing_belongs_to_nobody(files: StateFiles, content: str) -> None:
    lock = engine_lock(files, content)
    assert not lock.is_alive
    assert not lock.is_elsewhere


def test_locks_of_ended_processes_are_dropped_and_those_of_other_machines_stay(files: StateFiles) -> None:
    lock = engine_lock(files, said(2**22 + 1))
    files.drop_stale_locks()
    assert not lock.file.exists()
    lock.file.write_text(said(1, "elsewhere"))
    files.drop_stale_locks()
    assert lock.file.exists()
