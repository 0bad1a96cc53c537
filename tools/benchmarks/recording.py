"""What a program declares and imports, seen without an engine."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.benchmarks.arena import INFRA, Arena
from tools.benchmarks.measure import Command
from workbench.system.errors import UserError


@dataclass(frozen=True)
class Recording:
    """The resources of one program, in a file that the hand-written program reads."""

    file: Path
    count: int
    """Resources that the engine sees, components among them, without the stack itself."""

    @property
    def variables(self) -> dict[str, str]:
        """What the hand-written program needs in its environment."""
        return {"IGZ_BENCHMARK_RESOURCES": str(self.file)}


def observe(command: Command) -> dict[str, Any]:
    """Run ``Arena.offline`` and return its ``resources`` and ``modules``.

    Raises
    ------
    UserError
        The program failed; with what it said.
    """
    run = subprocess.run(
        command.arguments, cwd=command.folder, env=command.environment, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise UserError(f"The program failed:\n{run.stderr.strip()}")
    observed: dict[str, Any] = json.loads(run.stdout)
    return observed


def record(arena: Arena, config: Any, file: Path) -> Recording:
    """Write the in-cluster resources that the project's program declares for ``config`` to ``file``."""
    declared = observe(arena.offline(INFRA, config=config))["resources"]
    file.write_text(json.dumps([each for each in declared if each["type"].startswith("kubernetes:")]))
    return Recording(file, len(declared))
