"""Go modules of the toolchain: each has the hashes that Go compares with what it downloads."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

TOOLCHAIN: Final = PROJECT_ROOT / "toolchain"


@dataclass(frozen=True, order=True)
class Module:
    """A module that a program of the toolchain may be built from."""

    path: str
    version: str
    """Empty for a folder of this machine in place of a published version."""
    sums: tuple[str, ...] = ()
    """Hashes of its content and of its ``go.mod``, as in ``go.sum``: https://go.dev/ref/mod#go-sum-files."""


def folders(toolchain: Path = TOOLCHAIN) -> list[Path]:
    """Return the folders that hold a main module."""
    return sorted(file.parent for file in toolchain.glob("*/go.mod"))


def modules(folder: Path) -> list[Module]:
    """Return the modules that a ``go.mod`` requires, after its replacements; it lists indirect ones too.

    Raises
    ------
    UserError
        Go is not installed, or cannot read the file.
    """
    try:
        run = subprocess.run(
            ["go", "mod", "edit", "-json", str(folder / "go.mod")], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise UserError("Go is not installed; it reads the modules of the toolchain.", "Install Go 1.26.") from None
    if run.returncode:
        raise UserError(f"Go cannot read {folder / 'go.mod'}: {run.stderr.strip()}")
    content = json.loads(run.stdout)
    replaced = {each["Old"]["Path"]: each["New"] for each in content["Replace"] or ()}
    required = [replaced.get(each["Path"], each) for each in content["Require"] or ()]
    sums = _sums(folder / "go.sum")
    return [_module(each["Path"], each.get("Version", ""), sums) for each in required]


def _module(path: str, version: str, sums: dict[tuple[str, str], str]) -> Module:
    names = ((path, version), (path, f"{version}/go.mod"))
    return Module(path, version, tuple(sums[name] for name in names if name in sums))


def _sums(file: Path) -> dict[tuple[str, str], str]:
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    return {(path, version): value for path, version, value in rows}


def problems(folder: Path) -> Iterator[str]:
    """Yield the modules of a folder whose content Go would not compare with a hash of this repository."""
    for module in modules(folder):
        place = f"{folder.parent.name}/{folder.name}/go.mod: {module.path}"
        if not module.version:
            yield f"{place}: replaced by a folder, whose content has no hash"
        elif len(module.sums) < 2:  # noqa: PLR2004 content and go.mod
            yield f"{place} {module.version}: no hash in go.sum; run `go mod tidy` there"
