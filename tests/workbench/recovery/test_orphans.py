import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from workbench.engine.lock import held_by, stack_lock
from workbench.recovery import orphans
from workbench.system.errors import UserError

ENDS_ON_SIGTERM = "import time; print('ready', flush=True); time.sleep(60)"
IGNORES_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + ENDS_ON_SIGTERM
ENDS_BY_ITSELF = """
import signal, sys, time
def told(number, frame):
    print("asked", flush=True)
signal.signal(signal.SIGTERM, told)
print("ready", flush=True)
time.sleep(1)
"""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    monkeypatch.setattr(sys.modules["workbench.recovery.orphans"], "_LAST_GRACE", 0.5)
    return tmp_path


@pytest.fixture
def left(data: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes of a run that was killed; a test adds to them."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def leave(left: list[subprocess.Popen[str]], program: str, python: str = sys.executable) -> subprocess.Popen[str]:
    with stack_lock("local", "up") as descriptor:
        child = subprocess.Popen([python, "-c", program], pass_fds=(descriptor,), stdout=subprocess.PIPE, text=True)
        left.append(child)
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
    return child


def test_nothing_is_found_where_nothing_was_left() -> None:
    assert orphans("local") == []


def test_what_a_killed_run_left_is_named_and_ended(left: list[subprocess.Popen[str]]) -> None:
    child = leave(left, ENDS_ON_SIGTERM)
    (finding,) = orphans("local")
    assert f"its processes are still running: {child.pid} " in finding.found
    assert finding.repair
    finding.repair()
    assert not psutil.pid_exists(child.pid)
    assert held_by("local").processes == []


def test_a_process_that_does_not_listen_is_killed(left: list[subprocess.Popen[str]]) -> None:
    child = leave(left, IGNORES_SIGTERM)
    (finding,) = orphans("local")
    assert finding.repair
    finding.repair()
    assert not psutil.pid_exists(child.pid)


def test_an_engine_that_is_about_to_end_is_not_asked_again(left: list[subprocess.Popen[str]], tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"  # a process is known by the name of its program
    shutil.copy(Path(sys.executable).resolve(), engine)
    child = leave(left, ENDS_BY_ITSELF, str(engine))
    (finding,) = orphans("local")
    assert finding.repair
    finding.repair()
    assert child.stdout
    assert "asked" not in child.stdout.read()
    assert not psutil.pid_exists(child.pid)


def test_a_living_run_is_never_touched(data: Path) -> None:
    program = (
        "import time\nfrom workbench.engine.lock import stack_lock\n"
        "with stack_lock('local', 'up'):\n    print('ready', flush=True)\n    time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as run:
        assert run.stdout
        run.stdout.readline()
        with pytest.raises(UserError, match="there is nothing to recover"):
            orphans("local")
        assert run.poll() is None
        run.kill()


RUN = """
import os, subprocess, sys
from pathlib import Path
from workbench.system import processes
if sys.argv[2:] == ["container"]:
    Path.readlink = lambda path: "pid:[1]"
command = [sys.executable, "-c", "import time; time.sleep(60)"]
variables = {**os.environ, **processes.mark("local", Path(sys.argv[1]))}
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
detached = sys.argv[2:] == ["daemon"]
print(subprocess.Popen(command, env=variables, start_new_session=detached, **quiet).pid)
"""


@contextmanager
def left_by_a_run(file: Path, *kind: str) -> Iterator[psutil.Process]:
    """Run and end a process that leaves a marked child."""
    run = subprocess.run([sys.executable, "-c", RUN, file, *kind], stdout=subprocess.PIPE, text=True, check=True)
    child = psutil.Process(int(run.stdout))
    try:
        yield child
    finally:
        if child.is_running():
            child.kill()


def test_what_a_killed_preview_left_is_found_by_its_mark_and_ended(data: Path) -> None:
    file = data / "Pulumi.local.yaml"
    with left_by_a_run(file) as child:
        assert orphans("other") == []
        assert orphans("local", data / "elsewhere" / file.name) == []
        (finding,) = orphans("local")
        assert f"its processes are still running: {child.pid} " in finding.found
        assert finding.repair
        finding.repair()
        assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
        assert orphans("local") == []


@pytest.mark.parametrize("kind", ["container", "daemon"])
def test_runs_in_containers_and_daemons_are_left_alone(data: Path, kind: str) -> None:
    with left_by_a_run(data / "Pulumi.local.yaml", kind):
        assert orphans("local") == []


def test_a_run_on_another_data_folder_at_the_same_path_is_left_alone(
    data: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with left_by_a_run(data / "Pulumi.local.yaml"):
        data.rename(tmp_path_factory.mktemp("elsewhere") / "data")
        data.mkdir(mode=0o700)
        assert orphans("local") == []
