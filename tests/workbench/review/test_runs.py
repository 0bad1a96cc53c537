"""Programs of a review come to an end, whatever they do."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from support.cluster import HANGS, eventually
from workbench.review import runs

STUBBORN = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
print(subprocess.Popen(["sleep", "3600"], process_group=0).pid, flush=True)
signal.pause()
"""


def test_a_program_that_does_not_end_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SECONDS", 2)
    monkeypatch.setattr(runs, "GRACE", 1)
    ended = list[subprocess.CompletedProcess[str]]()

    def run() -> None:
        environment = dict(os.environ)
        ended.append(runs.Runs().run([sys.executable, "-c", STUBBORN], folder=tmp_path, environment=environment))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANGS)
    [one] = ended  # it does not wait for what the program started
    assert one.returncode == -9
    assert "did not finish within 2 s" in one.stderr
    eventually(lambda: not psutil.pid_exists(int(one.stdout)))


@pytest.mark.parametrize("group", [None, 0], ids=["of its group", "of another group, as plug-ins"])
def test_what_a_program_leaves_neither_delays_the_review_nor_survives_it(tmp_path: Path, group: int | None) -> None:
    code = f"import subprocess; print(subprocess.Popen(['sleep', '3600'], process_group={group}).pid)"
    ended = runs.Runs().run([sys.executable, "-c", code], folder=tmp_path, environment=dict(os.environ))
    assert (ended.returncode, ended.stderr) == (0, "")
    eventually(lambda: not psutil.pid_exists(int(ended.stdout)))


def test_what_a_program_reads_and_prints_is_passed_on(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('no\\r\\n'); sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.exit(3)"
    command = [sys.executable, "-c", code]
    ended = runs.Runs().run(command, folder=tmp_path, environment=dict(os.environ), stdin="a state")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "a state", "no\n")


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
