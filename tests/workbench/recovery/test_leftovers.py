import subprocess
import sys
from pathlib import Path

import pytest

from workbench.recovery import leftovers
from workbench.system import locks
from workbench.toolchain import store


@pytest.fixture(autouse=True)
def staging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IGZ_CLUSTERS_CACHE", str(tmp_path))
    folder = store.staging()
    folder.mkdir(parents=True)
    (folder / "half").write_bytes(bytes(100_000))
    return folder


def test_what_a_killed_build_left_is_found_and_deleted(staging: Path) -> None:
    (finding,) = leftovers()
    assert str(staging) in finding.found
    assert finding.repair
    finding.repair()
    assert not staging.exists()
    assert leftovers() == []


def test_the_empty_folder_that_a_finished_build_leaves_is_no_leftover(staging: Path) -> None:
    (staging / "half").unlink()
    assert leftovers() == []


def test_the_staging_of_a_living_build_is_left_alone(staging: Path) -> None:
    descriptor = locks.take(store.home() / "lock")
    assert descriptor is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], pass_fds=(descriptor,), stdin=subprocess.PIPE) as builder:
        assert leftovers() == []
        builder.kill()
    assert len(leftovers()) == 1
