"""What shares an expensive thing runs in one process, and all else in any: the fixtures say which."""

import os
import subprocess
import sys
from pathlib import Path

from workbench.system.paths import PROJECT_ROOT

MODULE = """
import os, pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(8))
def test_tells_its_process(number):
    with open("processes", "a") as file:
        print(os.getpid(), file=file)
"""

FIXTURES = """
import pytest

pytestmark = pytest.mark.engine

@pytest.fixture(scope="module")
def stack(): ...

@pytest.fixture(scope="module", params=["eks", "aks"])
def cloud(request): ...

def test_makes_all_that_it_needs(tmp_path): ...

@pytest.mark.parametrize("row", [1, 2])
def test_shares(stack, row): ...

@pytest.mark.parametrize("row", [1, 2])
def test_shares_a_cloud(cloud, row): ...
"""

SHOWS = """
def pytest_collection_finish(session):
    for item in session.items:
        print("group of", item.name, "is", item.get_closest_marker("xdist_group").args[0])
"""


def pytest_run(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(
        command,
        cwd=folder,
        env={"PATH": os.defpath, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_tests_of_one_group_run_in_one_process(tmp_path: Path) -> None:
    """A pair of pytest and xdist that do not fit spreads them."""
    Path(tmp_path, "test_it.py").write_text(MODULE)
    run = pytest_run(tmp_path, "--numprocesses", "2", "--dist", "loadgroup", "--rootdir", str(tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr
    processes = Path(tmp_path, "processes").read_text().split()
    assert len(processes) == 8
    assert len(set(processes)) == 1


def test_an_expensive_test_is_bound_to_others_only_by_what_its_file_makes_once(tmp_path: Path) -> None:
    Path(tmp_path, "test_it.py").write_text(FIXTURES)
    Path(tmp_path, "shows.py").write_text(SHOWS)
    path = os.pathsep.join([str(PROJECT_ROOT / "tests"), str(tmp_path)])
    options = ("--collect-only", "-p", "conftest", "-p", "shows", "--rootdir", str(tmp_path))
    run = pytest_run(tmp_path, *options, PYTHONPATH=path)
    lines = [line.removeprefix("group of ") for line in run.stdout.splitlines() if line.startswith("group of ")]
    assert sorted(lines) == [
        "test_makes_all_that_it_needs is test_it.py test_makes_all_that_it_needs",
        "test_shares[1] is test_it.py",
        "test_shares[2] is test_it.py",
        "test_shares_a_cloud[aks-1] is test_it.py, cloud 1",
        "test_shares_a_cloud[aks-2] is test_it.py, cloud 1",
        "test_shares_a_cloud[eks-1] is test_it.py, cloud 0",
        "test_shares_a_cloud[eks-2] is test_it.py, cloud 0",
    ], run.stdout + run.stderr


def test_the_summary_says_how_many_tests_another_command_runs() -> None:
    options = ("-m", "not full", "--numprocesses", "2", "--dist", "loadgroup", "tests/emulator_tests/core")
    run = pytest_run(PROJECT_ROOT, *options)
    assert " tests; `make test-all` runs them" in run.stdout, run.stdout + run.stderr


def test_parts_are_disjoint_and_together_all_tests(tmp_path: Path) -> None:
    Path(tmp_path, "test_it.py").write_text(FIXTURES)
    Path(tmp_path, "shows.py").write_text(SHOWS)
    path = os.pathsep.join([str(PROJECT_ROOT / "tests"), str(tmp_path)])
    options = ("--collect-only", "-p", "conftest", "-p", "shows", "--rootdir", str(tmp_path))

    def of(part: str) -> list[str]:
        run = pytest_run(tmp_path, *options, "--part", part, PYTHONPATH=path)
        return [line for line in run.stdout.splitlines() if line.startswith("group of ")]

    parts = [of(f"{number}/3") for number in (1, 2, 3)]
    assert sorted(line for part in parts for line in part) == sorted(of("1/1"))
    assert len(of("1/1")) == 7
    groups = [{line.partition(" is ")[2] for line in part} for part in parts]
    assert len(set().union(*groups)) == sum(map(len, groups))


def test_a_part_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    run = pytest_run(tmp_path, "-p", "conftest", "--part", "5/4", PYTHONPATH=str(PROJECT_ROOT / "tests"))
    assert run.returncode == 4
    assert "'5/4' does not name a part of the tests: write K/N, for example 2/4" in run.stderr
