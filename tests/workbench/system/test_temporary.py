"""Temporary folders that outlive no run but the one that is killed, and that one only until the next."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from support.cluster import eventually
from workbench.system import temporary

CHILD = """
import os, subprocess, sys, time
from workbench.system import temporary
with temporary.folder("run") as (place, held):
    (place / "kubeconfig1").write_text("key")
    child = subprocess.Popen(["sleep", "600"], pass_fds=[held])
    print(child.pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_it_is_private_and_gone_at_the_end_whatever_is_left_in_it(parent: Path) -> None:
    with temporary.folder("run") as (place, _):
        assert place.parent == parent
        assert place.stat().st_mode & 0o777 == 0o700
        (place / "kubeconfig1").write_text("key")
        with temporary.folder("run") as (other, _):
            assert place.exists()
            assert other != place
    assert not list(parent.iterdir())


def test_that_of_a_killed_run_goes_with_the_next_run_once_its_processes_ended(parent: Path) -> None:
    run = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    assert run.stdout
    child = int(run.stdout.readline())
    run.kill()
    run.wait()
    (left,) = parent.iterdir()
    with temporary.folder("run"):
        assert (left / "kubeconfig1").exists()
    os.kill(child, signal.SIGKILL)

    def is_gone() -> bool:
        with temporary.folder("run"):
            return not left.exists()

    eventually(is_gone)


def test_what_others_put_there_under_its_name_stays(parent: Path) -> None:
    (parent / "elsewhere").mkdir()
    (parent / "igz-clusters-tmp-link").symlink_to("elsewhere")
    (parent / "igz-clusters-tmp-file").write_text("")
    with temporary.folder("run"):
        pass
    assert len(list(parent.iterdir())) == 3
