"""Programs of a review come to an end, whatever they do."""

import os
import sys
import time
from pathlib import Path

import pytest

from workbench.review import runs

STUBBORN = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.Popen(["sleep", "60"])
print("started", flush=True)
signal.pause()
"""


def test_a_program_that_does_not_end_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SECONDS", 2)
    monkeypatch.setattr(runs, "GRACE", 1)
    start = time.monotonic()
    ended = runs.Runs().run([sys.executable, "-c", STUBBORN], folder=tmp_path, environment=dict(os.environ))
    assert time.monotonic() - start < 30
    assert (ended.returncode, ended.stdout) == (-9, "started\n")
    assert "did not finish within 2 s" in ended.stderr
