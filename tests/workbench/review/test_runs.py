"""Programs of a review come to an end, whatever they do."""

import os
import sys
import threading
from pathlib import Path

import pytest

from support.cluster import eventually
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
    ended = runs.Runs().run([sys.executable, "-c", STUBBORN], folder=tmp_path, environment=dict(os.environ))
    assert (ended.returncode, ended.stdout) == (-9, "started\n")
    assert "did not finish within 2 s" in ended.stderr


def test_what_a_stopped_program_prints_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "GRACE", 1)  # where SIGINT is ignored, as in the background
    review, ended = runs.Runs(), list[InterruptedError]()

    def run() -> None:
        program = f"import pathlib, time; pathlib.Path({str(tmp_path / 'runs')!r}).touch(); time.sleep(600)"
        try:
            review.run([sys.executable, "-c", program], folder=tmp_path, environment=dict(os.environ))
        except InterruptedError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    eventually((tmp_path / "runs").exists)
    review.stop()
    thread.join(600)
    assert len(ended) == 1
