"""Builds the distributions twice, from two copies of a commit, and requires that they are the same."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

from tools.release.checks import Release
from workbench.system import temporary
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

SURROUNDINGS: Final = (
    {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "2"},
)
"""Variables of the two builds: what should not matter differs."""


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def build(release: Release, target: Path, root: Path = PROJECT_ROOT) -> list[Path]:
    """Build wheel and source distribution of a commit into a folder, and return them.

    Parameters
    ----------
    release
        The commit; files that are not committed are left out.
    target
        An existing folder.
    root
        The Git checkout.

    Raises
    ------
    UserError
        A build fails, or the second one differs from the first.
    """
    with temporary.folder("release") as (place, _):
        built = [_build(release, root, Path(place), variables) for variables in SURROUNDINGS]
        first, second = ({file.name: sha256(file) for file in files} for files in built)
        if different := sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name)):
            raise UserError(f"Two builds of the same commit differ in {', '.join(different)}.")
        return [Path(shutil.move(file, target / file.name)) for file in built[0]]


def _build(release: Release, root: Path, place: Path, variables: dict[str, str]) -> list[Path]:
    source, out = (place / f"{name}-{variables['PYTHONHASHSEED']}" for name in ("source", "out"))
    archive = subprocess.check_output(["git", "archive", "--format=tar", release.commit], cwd=root)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(source, filter="data")
    epoch = str(int(release.time.timestamp()))
    run = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(out)],
        cwd=source, env={**os.environ, **variables, "SOURCE_DATE_EPOCH": epoch},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        raise UserError(f"The build failed:\n{run.stderr.strip()}", "If a module is missing: `make .venv/.installed`.")
    return sorted(out.iterdir())
