"""Python programs of the engine end without a traceback on Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from workbench.engine import session


def python(program: str, *path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=session._quiet(environment),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_an_interrupt_ends_it_without_output() -> None:
    ended = python("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_what_the_machine_runs_first_in_every_interpreter_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.machine = 'its own'")
    assert python("print(machine)", tmp_path).stdout == "its own\n"


def test_without_one_of_the_machines_own_nothing_is_printed() -> None:
    assert (python("").returncode, python("").stderr) == (0, "")


def test_a_module_of_the_users_does_not_replace_ours_and_is_still_found(tmp_path: Path) -> None:
    for name in ("yaml", "mine"):
        (tmp_path / f"{name}.py").write_text("theirs = True")
    run = python("import yaml, mine; print(hasattr(yaml, 'theirs'), mine.theirs)", tmp_path)
    assert run.stdout == "False True\n"
