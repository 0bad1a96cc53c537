"""Checkouts of this package: the base branch's and the change's."""

import filecmp
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.engine.render import passed_on
from workbench.system import virtual_environments
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

PROGRAM: Final = ("Pulumi.yaml", "infra", "components", "policies", "workbench")
"""Files that run in a plan."""

JUDGE: Final = ("policies", "components/contract", "components/stack_files", "requirements.txt")
"""Files that affect the evaluation: the packs and everything that they read."""

REQUIREMENTS: Final = "requirements.txt"
PIN: Final = "package.mk"
PINNED: Final = ".igz-clusters"
"""Folder of this package in a repository with its own stack files."""


@dataclass(frozen=True)
class Package:
    """A checkout of this package, and an interpreter that imports only this checkout."""

    root: Path
    python: Path


BASE: Final = Package(PROJECT_ROOT, Path(sys.executable))
"""The running package."""


def package_of(base: Path, head: Path, place: Path) -> Package:
    """Return the package that runs the stacks of ``head``; this one if it is identical.

    ``head`` is a checkout of this package, or a repository with stack files that pins one.

    Parameters
    ----------
    base, head
        Folders of the stack files.
    place
        Where a copy is created if needed; nothing is written into ``head``.

    Raises
    ------
    UserError
        ``head`` pins another release that is not checked out, or its packages cannot be installed.
    """
    if (head / "infra" / "__main__.py").is_file():
        return BASE if is_same(BASE.root, head, (*PROGRAM, REQUIREMENTS)) else _copy(head, place)
    return BASE if _text(base / PIN) == _text(head / PIN) else _pinned(head)


def is_same(one: Path, other: Path, names: tuple[str, ...]) -> bool:
    """Return whether two checkouts have the same files under some names."""
    files = [dict(_files(root, names)) for root in (one, other)]
    same = files[0].keys() == files[1].keys()
    return same and all(filecmp.cmp(file, files[1][name], shallow=False) for name, file in files[0].items())


def _files(root: Path, names: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    for name in names:
        place = root / name
        for file in [place] if place.is_file() else place.rglob("*"):
            if file.is_file() and file.suffix != ".pyc":
                yield str(file.relative_to(root)), file


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.is_file() else ""


def _pinned(head: Path) -> Package:
    root = head / PINNED
    pinned = re.search(r"^PACKAGE_COMMIT := (\w+)$", _text(head / PIN), re.MULTILINE)
    expected = pinned[1] if pinned else ""
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    current = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    python = root / ".venv" / "bin" / "python"
    if not root.is_dir() or current != expected or not python.exists():
        raise UserError(
            f"{head / PIN} pins {expected[:12] or 'no commit'} of this package, but {root} does not contain it.",
            f"Check it out: `make -C {head} {PINNED}/.venv/.pinned`.",
        )
    return Package(root, python)


def _copy(head: Path, place: Path) -> Package:
    place.mkdir()
    for name in PROGRAM:
        source = head / name
        if source.is_dir():
            shutil.copytree(source, place / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        elif source.is_file():
            shutil.copy2(source, place / name)
    own, ours = head / REQUIREMENTS, PROJECT_ROOT / REQUIREMENTS
    if not own.is_file() or filecmp.cmp(own, ours, shallow=False):
        packages = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    else:
        # Isolated, since installed packages may run their own code and are chosen by the change.
        packages = {_site_packages(virtual_environments.interpreter(own, {**passed_on(), **_of_pip()}))}
    venv.create(place / ".venv", with_pip=False, symlinks=True)
    python = place / ".venv" / "bin" / "python"
    # The checkout comes first. ``.pth`` files inside these folders are not processed: ours names this checkout.
    lines = [str(place), *sorted(packages)]
    (Path(_site_packages(python)) / "checkout.pth").write_text("".join(f"{line}{os.linesep}" for line in lines))
    return Package(place, python)


def _of_pip() -> dict[str, str]:
    """Return the caller's variables that configure pip's download sources."""
    names = re.compile(r"PIP_.*|SSL_CERT_(FILE|DIR)|(HTTPS?|NO|ALL)_PROXY", re.IGNORECASE)
    return {name: value for name, value in os.environ.items() if names.fullmatch(name)}


def _site_packages(python: Path) -> str:
    command = [str(python), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
