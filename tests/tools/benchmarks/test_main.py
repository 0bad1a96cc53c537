import os
import subprocess
import sys

import pytest

from workbench.system.paths import PROJECT_ROOT


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "everything"], "There is no case everything.\nKnown cases: modules, "),
        (["--write", "--only", "packs"], "goes without --only"),
        (["--json", "/no/such/folder/results.json"], "There is no folder /no/such/folder"),
    ],
)
def test_a_mistake_is_answered_at_once_and_without_a_traceback(arguments: list[str], words: str) -> None:
    command = [sys.executable, "-m", "tools.benchmarks", *arguments]
    run = subprocess.run(
        command,
        cwd=PROJECT_ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert words in run.stderr
    assert "Traceback" not in run.stderr
