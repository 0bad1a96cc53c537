"""What shares an expensive thing must run in one process: a pair of pytest and xdist that do not fit spreads it."""

import subprocess
import sys
from pathlib import Path

MODULE = """
import os, pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(8))
def test_tells_its_process(number):
    with open("processes", "a") as file:
        print(os.getpid(), file=file)
"""


def test_tests_of_one_group_run_in_one_process(tmp_path: Path) -> None:
    Path(tmp_path, "test_it.py").write_text(MODULE)
    options = ("-q", "-p", "no:cacheprovider", "--numprocesses", "2", "--dist", "loadgroup", "--rootdir", str(tmp_path))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    processes = Path(tmp_path, "processes").read_text().split()
    assert len(processes) == 8
    assert len(set(processes)) == 1
