"""Runs programs in a fresh interpreter, as the benchmarks do, and says what they declared and imported."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from workbench import stacks
from workbench.system.paths import PROJECT_ROOT

ALL_COMMANDS = "from workbench.cli.commands import Commands; list(Commands().values())"
"""Imports every command, as running each of them would."""


def observe_program(folder: Path, stack: str, **variables: str) -> dict[str, Any]:
    """Return ``resources`` and ``modules`` of the program in ``folder`` with the choices of a stack."""
    config = {key: json.dumps(value) for key, value in stacks.find(stack).document["config"].items()}
    own = {"PULUMI_CONFIG": json.dumps(config), "IGZ_CLUSTERS_LOCAL_KUBECONFIG": "/nowhere", **variables}
    observed: dict[str, Any] = json.loads(_python("-m", "tools.benchmarks.offline", str(folder), **own))
    return observed


def imported_by(statement: str) -> set[str]:
    """Return the modules that a statement imports."""
    return set(json.loads(_python("-c", f"{statement}\nimport json, sys; print(json.dumps(list(sys.modules)))")))


def _python(*arguments: str, **variables: str) -> str:
    command, environment = [sys.executable, *arguments], {**os.environ, **variables}
    run = subprocess.run(command, cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout
