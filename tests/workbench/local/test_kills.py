"""A start that is killed at any moment: the next one works, and nothing of the first is left."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from support.cluster import COMMAND, user_environment
from support.sampled import sampled
from workbench.local import Binaries, Instance
from workbench.system import locks
from workbench.system.paths import PROJECT_ROOT, data_dir

pytestmark = pytest.mark.control_plane

PYTHON_STARTS = 0.25
"""Seconds after which Python itself has started; until then an interrupt is its own to answer."""


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Instance]:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    instance = Instance("killed")
    yield instance
    instance.stop()


def start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, "local", "start", "killed", "--bare"],
        cwd=PROJECT_ROOT,
        env={**user_environment(), "IGZ_CLUSTERS_DATA": str(data_dir())},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def lock() -> Path:
    return data_dir() / "local" / "killed" / "lock"


@pytest.fixture(scope="module")
def duration(toolchain_bin: Binaries, tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds that an undisturbed first start takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path_factory.mktemp("whole")))
        begin = time.monotonic()
        assert start().wait() == 0
        seconds = time.monotonic() - begin
        Instance("killed").stop()
    return seconds


@pytest.mark.parametrize("victims", sampled(["command", "command and supervisor"], ["command and supervisor"]))
def test_after_a_killed_start_the_next_one_works(
    instance: Instance, toolchain_bin: Binaries, duration: float, moment: float, victims: str
) -> None:
    command = start()
    time.sleep(duration * moment)
    command.kill()
    if victims != "command":
        for process in locks.holders(lock()):
            with suppress(psutil.Error, ProcessLookupError):
                if "workbench.local.supervisor" in process.cmdline():
                    os.kill(process.pid, signal.SIGKILL)
                    process.wait(30)  # until then its last word may be that it is ready
    command.wait()
    instance.start(toolchain_bin)
    status = instance.status()
    assert status.ready
    assert {process.pid for process in locks.holders(lock())} == set(status.pids.values())


def test_ctrl_c_ends_a_start_without_a_traceback(
    instance: Instance, toolchain_bin: Binaries, duration: float, moment: float
) -> None:
    command = start()
    time.sleep(max(duration * moment, PYTHON_STARTS))
    command.send_signal(signal.SIGINT)
    assert command.stderr
    assert b"Traceback" not in command.stderr.read()
    command.wait(timeout=600)
    instance.start(toolchain_bin)
    assert instance.status().ready
