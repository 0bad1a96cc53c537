"""Standard output that cannot be written: said plainly, whatever the command."""

import os
import subprocess
from pathlib import Path

import pytest

from support.cluster import COMMAND
from workbench.system.paths import PROJECT_ROOT


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("check", "dev"), ("check", "--json", "dev"), ("policy", "list")],
    ids=" ".join,
)
def test_a_full_disk_is_named(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [COMMAND, *arguments],
            cwd=PROJECT_ROOT,
            env={"IGZ_CLUSTERS_DATA": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == (
        "error: Cannot write to standard output: No space left on device.\nFree the disk or write elsewhere.\n"
    )


def test_closed_output_is_refused_before_anything_is_done() -> None:
    ended = subprocess.run(
        ["sh", "-c", f"exec {COMMAND} policy list >&-"], stderr=subprocess.PIPE, text=True, timeout=600, check=False
    )
    assert (ended.returncode, ended.stderr) == (
        1,
        "error: Cannot write to standard output: it is closed.\nWrite to a file or to /dev/null.\n",
    )


@pytest.mark.engine
def test_a_closed_input_counts_as_no_terminal(tmp_path: Path) -> None:
    variables = {**os.environ, "IGZ_CLUSTERS_DATA": str(tmp_path / "data")}
    command = f"exec {COMMAND} preview local --render --hermetic <&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=variables, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_working_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f"cd {tmp_path}/gone && rmdir {tmp_path}/gone && exec {COMMAND} config check"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (
        1,
        "error: The working folder no longer exists.\nChange to an existing folder: `cd`.\n",
    )


def test_a_module_of_the_users_does_not_replace_ours(tmp_path: Path) -> None:
    (tmp_path / "yaml.py").write_text("raise SystemExit('theirs')")
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([COMMAND, "config", "check"], capture_output=True, text=True, env=variables, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_temporary_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    variables = {**os.environ, "TMPDIR": str(tmp_path / "missing")}
    ended = subprocess.run([COMMAND, "config", "check"], capture_output=True, text=True, env=variables, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: TMPDIR: {tmp_path}/missing is not a folder in which you can write.\n")
