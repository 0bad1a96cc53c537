"""Prints everything that is wrong with pins, hashes and licences; exit code 1 if anything is.

Actions of workflows are pinned by commit: ``make lint-workflows`` and ``tests/test_workflows.py`` check that.
"""

import sys

from tools.supply_chain import go_modules, requirements
from tools.supply_chain.licences import Table
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT


def main() -> int:
    """Run all checks."""
    files, folders, pinned = requirements.files(), go_modules.folders(), requirements.pins()
    found = [
        *(problem for file in files for problem in requirements.problems(file)),
        *requirements.unlocked(PROJECT_ROOT / "pyproject.toml", pinned),
        *Table.load().problems(pinned.values()),
        *(problem for folder in folders for problem in go_modules.problems(folder)),
    ]
    good = f"{len(files)} requirements files: pinned and hashed; {len(pinned)} packages: licensed"
    good += f"; modules of {len(folders)} Go programs: hashed"
    print("\n".join(found) or good)
    return bool(found)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"error: {error}")
