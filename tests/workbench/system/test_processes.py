"""Children of a process that is killed."""

import subprocess
import sys
import time
from pathlib import Path

from support.cluster import eventually

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
with open(sys.argv[2], "w") as said:
    child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=said)
for _ in range(20):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
with asked_to_end_with_this(child.pid):
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
