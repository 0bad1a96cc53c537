"""What readers see of a file while it is written, and what a failure leaves behind."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workbench.system.files import write_private

WRITERS = 4


def test_writers_at_the_same_time_leave_the_whole_content_of_one(tmp_path: Path) -> None:
    file, contents = tmp_path / "state.json", {bytes([number]) * 100_000 for number in range(WRITERS)}

    def write(content: bytes) -> None:
        for _ in range(20):
            write_private(file, content)
            assert file.read_bytes() in contents

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, contents))
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_content_is_on_the_disk_before_it_gets_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, seen = tmp_path / "key.pem", list[tuple[int, bool]]()
    monkeypatch.setattr(os, "fsync", lambda descriptor: seen.append((os.fstat(descriptor).st_size, file.exists())))
    write_private(file, "key")
    assert seen == [(3, False)]


def test_a_failure_keeps_the_old_content_and_leaves_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError("no space left")

    file = tmp_path / "state.json"
    write_private(file, "old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_private(file, "new")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]
