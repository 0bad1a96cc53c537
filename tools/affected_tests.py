"""Prints which tests a change needs: ``python -m tools.affected_tests [--base origin/main] [--run]``.

A change is what the working tree has beyond the commit at which it left the base. Every change must pass `make test`;
what `WHOLE` names must pass `make test-all`. The folders of tests that mirror the changed files are a first, quick try.
"""

import argparse
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Final

from workbench.system.paths import PROJECT_ROOT

WHOLE: Final[dict[str, tuple[str, ...]]] = {
    "recovery": ("workbench/recovery/*", "workbench/cli/recover.py", "docs/operations.md", "docs/recovery.md"),
    "locks and runs": (
        "workbench/engine/lock.py",
        "workbench/engine/backend.py",
        "workbench/engine/session.py",
        "workbench/engine/pending.py",
        "workbench/system/locks.py",
        "workbench/system/processes.py",
        "workbench/local/*",
        "workbench/toolchain/*",
    ),
    "emulators": ("tests/emulators/*", "tests/emulator_tests/*"),
    "admission": (
        "components/scheduling/*",
        "components/contract/admission.py",
        "components/contract/policy_parameters.py",
        "policies/admission.py",
        "policies/cel.py",
    ),
    "packaging": ("tools/release/*", "examples/container/*", "workbench/system/installation.py"),
    "the component package": ("infra/package/*", "examples/typescript/*", "examples/yaml/*"),
    "benchmarks": ("tools/benchmarks/*", "tests/tools/benchmarks/*"),
    "how tests run": ("tests/conftest.py", "tests/support/*", "pyproject.toml", "requirements.txt", "toolchain/*"),
}
"""Patterns of files, by what they are about: their changes can break what `make test` does not cover."""

SOURCES: Final = ("components", "infra", "policies", "tools", "workbench")


@dataclass(frozen=True)
class Needed:
    """The tests that a change needs.

    Parameters
    ----------
    reasons
        Why it is all of them: changed files, by what they are about. Empty if `make test` is enough.
    first
        Files and folders of tests that mirror what changed.
    """

    reasons: dict[str, list[str]]
    first: tuple[str, ...]

    @property
    def target(self) -> str:
        """The target of make."""
        return "test-all" if self.reasons else "test"


def needed(files: Collection[str]) -> Needed:
    """Return the tests that a change of these files needs; paths are relative to the project."""
    reasons = {
        subject: found
        for subject, patterns in WHOLE.items()
        if (found := sorted(file for file in files if any(fnmatchcase(file, pattern) for pattern in patterns)))
    }
    return Needed(reasons, tuple(dict.fromkeys(place for file in sorted(files) for place in _mirrors(file))))


def _mirrors(file: str) -> Iterator[str]:
    """Yield where the tests of a file are, as long as there are some."""
    path = PurePosixPath(file)
    if path.parts[0] == "tests" and path.name.startswith("test_") and (PROJECT_ROOT / path).exists():
        yield file
    if path.parts[0] in SOURCES:
        own = PurePosixPath("tests", path.parent, f"test_{path.stem}.py")
        places = (own, *own.parents)
        yield str(next(place for place in places if (PROJECT_ROOT / place).exists()))


def changed(base: str) -> list[str]:
    """Return the files that differ from where the working tree left ``base``, also those that git does not know."""

    def git(*arguments: str) -> list[str]:
        command = ["git", *arguments]
        done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    (fork,) = git("merge-base", base, "HEAD")
    return [
        *git("-c", "core.quotePath=false", "diff", "--name-only", "--no-renames", fork),
        *git("-c", "core.quotePath=false", "ls-files", "--others", "--exclude-standard"),
    ]


def main() -> int:
    """Print what the change needs; run it if asked to, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="origin/main", help="branch or commit that the change is for")
    parser.add_argument("--run", action="store_true", help="run the target of make that the change needs")
    given = parser.parse_args()
    try:
        files = changed(given.base)
    except subprocess.CalledProcessError as error:
        parser.error(f"git cannot compare with {given.base}: {error.stderr.strip()}")
    found = needed(files)
    if found.first:
        print(f"first: pytest {' '.join(found.first)}")
    for subject, paths in found.reasons.items():
        print(f"{subject}: {', '.join(paths)}")
    print(f"needed: make {found.target}")
    return subprocess.run(["make", found.target], cwd=PROJECT_ROOT, check=False).returncode if given.run else 0


if __name__ == "__main__":
    raise SystemExit(main())
