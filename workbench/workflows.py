"""Checks a repository's workflows with two linters at their strictest: ``python -m workbench.workflows DIR``.

actionlint checks the syntax, zizmor the security. Both read files only and use no network.
"""

import subprocess
import sys
from pathlib import Path

from workbench.cli.console import errors
from workbench.toolchain import ensure
from workbench.toolchain.console import progress


def commands(actionlint: Path) -> list[list[str]]:
    """Return the linters' command lines, to be run in the repository.

    Parameters
    ----------
    actionlint
        The program.
    """
    zizmor = Path(sys.executable).with_name("zizmor")
    return [
        # Recipes of shells are make targets here, and their checker is not a Go module, so it cannot be pinned.
        [str(actionlint), "-shellcheck=", "-pyflakes="],
        [str(zizmor), "--pedantic", "--offline", "--strict-collection", "--no-progress", "--quiet", "."],
    ]


def main(folder: Path) -> int:
    """Run both in ``folder`` and return 0 if neither finds anything."""
    with progress(errors) as report:
        actionlint = ensure(["actionlint"], progress=report).path("actionlint")
    codes = [subprocess.run(command, cwd=folder, check=False).returncode for command in commands(actionlint)]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
