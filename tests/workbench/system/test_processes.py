"""Children of a process that is killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.cluster import eventually
from workbench.system.processes import asked_to_end_with_this

COUNTS = """
import signal, sys, time
def note(*_):
    print("SIGTERM", flush=True)
signal.signal(signal.SIGTERM, note)
print("ready", flush=True)
end = time.monotonic() + 5
while time.monotonic() < end:
    time.sleep(0.01)
"""

PARENT = """
import subprocess, sys, threading, time
from workbench.system.processes import asked_to_end_with_this
for _ in range(20):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
with open(sys.argv[2], "w") as said, asked_to_end_with_this() as tie:
    subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=said, preexec_fn=tie)
    print("started", flush=True)
    time.sleep(60)
"""


def test_the_child_of_a_killed_process_with_threads_is_asked_to_end_once(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with subprocess.Popen([sys.executable, "-c", PARENT, COUNTS, said], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        assert parent.stdout.readline()
        eventually(lambda: said.read_text().startswith("ready"))
        parent.kill()
    eventually(lambda: "SIGTERM" in said.read_text())
    time.sleep(0.3)
    assert said.read_text().split() == ["ready", "SIGTERM"]


def test_a_child_is_asked_to_end_if_its_start_is_followed_by_an_error() -> None:
    def start() -> None:
        with asked_to_end_with_this() as tie:
            children.append(subprocess.Popen(["sleep", "60"], preexec_fn=tie))  # noqa: PLW1509 - no threads
            raise RuntimeError

    children: list[subprocess.Popen[bytes]] = []
    with pytest.raises(RuntimeError):
        start()
    assert children[0].wait(10) == -signal.SIGTERM


def test_a_child_that_has_ended_is_not_signalled() -> None:
    with asked_to_end_with_this() as tie:
        child = subprocess.Popen(["true"], preexec_fn=tie)  # noqa: PLW1509 - no threads
        assert child.wait(10) == 0
