"""The clock that Karpenter gets in a duel has tests of its own, in Go."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from workbench.toolchain import store
from workbench.toolchain.recipes import GOFLAGS


@pytest.mark.full
@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not on PATH; a filled cache of programs needs none")
def test_the_clock_and_the_periods_of_controllers_run_as_fast_as_the_scenario(tmp_path: Path) -> None:
    settings = {"GOFLAGS": GOFLAGS, "GOTOOLCHAIN": "local", "GOWORK": "off", "GOCACHE": str(tmp_path)}
    run = subprocess.run(
        ["go", "test", "./scaled"],
        cwd=store.SOURCES / "karpenter",
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("ok")
