import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tools.benchmarks.measure import Command, Measurement, measure
from workbench.system.errors import UserError

BURN = "import time\nwhile time.process_time() < {seconds}: pass"


def python(folder: Path, script: str, *arguments: str) -> Command:
    return Command((sys.executable, "-c", script, *arguments), folder, dict(os.environ))


def run(folder: Path, script: str, *arguments: str) -> Measurement:
    return measure(python(folder, script, *arguments))


def test_the_cpu_of_a_grandchild_is_counted(tmp_path: Path) -> None:
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN.format(seconds=0.4)!r}])"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert 0.4 <= run(tmp_path, script).cpu < 0.4 + 1


def test_the_cpu_of_an_orphan_that_outlives_the_command_is_counted_but_not_its_wall_time(tmp_path: Path) -> None:
    burn = BURN.format(seconds=0.5)
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}], start_new_session=True)"
    measured = run(tmp_path, script)
    assert measured.cpu >= 0.5
    assert measured.wall < measured.cpu


def test_waiting_costs_wall_time_and_no_cpu(tmp_path: Path) -> None:
    measured = run(tmp_path, "import time; time.sleep(0.5)")
    assert measured.wall >= 0.5
    assert measured.cpu < 0.4


def test_memory_is_the_sum_of_processes_that_live_at_the_same_time(tmp_path: Path) -> None:
    holder = "import time; held = b'x' * 100_000_000; time.sleep(0.6)"
    children = f"[subprocess.Popen([sys.executable, '-c', {holder!r}]) for _ in range(2)]"
    measured = run(tmp_path, f"import subprocess, sys; [child.wait() for child in {children}]")
    assert measured.memory > 200_000_000


def test_a_failing_command_is_an_error_with_its_output_and_not_a_number(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"(?s)failed with exit code 3:.*no such cluster"):
        run(tmp_path, "import sys; print('no such cluster', file=sys.stderr); sys.exit(3)")


@pytest.mark.parametrize(
    ("code", "said", "counts"), [(1, "3 violations", True), (1, "crash", False), (2, "3 violations", False)]
)
def test_exit_code_1_counts_only_with_the_words_of_a_verdict(
    tmp_path: Path, code: int, said: str, *, counts: bool
) -> None:
    plain = python(tmp_path, f"import sys; print({said!r}); sys.exit({code})")
    command = replace(plain, verdict=r"\d+ violations")
    if counts:
        assert measure(command).cpu > 0
    else:
        with pytest.raises(UserError, match=f"exit code {code}"):
            measure(command)


def test_a_command_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"(?s)could not be measured.*no-such-program"):
        measure(Command(("no-such-program",), tmp_path, dict(os.environ)))


def test_a_command_that_takes_too_long_is_an_error_and_leaves_no_process(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    orphan = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {SLEEP!r}, sys.argv[1]])"
    with pytest.raises(UserError, match="longer than 1 s"):
        measure(python(tmp_path, f"{orphan}; time.sleep(60)", mark), timeout=1)
    deadline = time.monotonic() + 5
    while left := [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or [])]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


SLEEP = "import time; time.sleep(60)"


def test_folder_and_environment_are_the_commands_own(tmp_path: Path) -> None:
    script = "import os; open('seen', 'w').write(os.environ['WORD'] + os.environ.get('HOME', ''))"
    measure(Command((sys.executable, "-c", script), tmp_path, {"WORD": "word"}))
    assert (tmp_path / "seen").read_text() == "word"
