"""How this package is installed: as a checkout, or from a wheel into an environment of its own.

A wheel puts a folder that is laid out as a checkout into site-packages, and that folder on the import path. The names
of the packages in it are general: other software may have packages of the same names, and the first on the path wins.
"""

import base64
import hashlib
import json
import sys
from importlib.metadata import Distribution, FileHash
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

PACKAGES: Final = ("components", "infra", "policies", "workbench")

DECIDES: Final = (*PACKAGES, "toolchain", "Pulumi.yaml", "pyproject.toml", "requirements.txt")
"""The parts of a checkout of this package that affect results."""

_PATH_FILE: Final = "igz-clusters.pth"
"""File next to the folder of an installed wheel; it puts the folder on the import path."""

_OWN_ENVIRONMENT: Final = (
    "Install it into an environment of its own, with pipx, uvx or `python3 -m venv`: docs/installing.md."
)


def is_from_wheel(root: Path | None = None) -> bool:
    """Return whether the package in a folder, by default this one, was installed from a wheel."""
    return ((root or PROJECT_ROOT).parent / _PATH_FILE).is_file()


def recorded_origin(installed: Distribution) -> dict[str, Any]:
    """Return what pip and uv recorded of where an installed package came from; empty if it came from an index.

    https://packaging.python.org/en/latest/specifications/direct-url/
    """
    found: dict[str, Any] = json.loads(installed.read_text("direct_url.json") or "{}")
    return found


def altered(installed: Distribution, root: Path = PROJECT_ROOT) -> list[str]:
    """Return the files of an installed package that were changed, deleted or added after its installation.

    https://packaging.python.org/en/latest/specifications/recording-installed-packages/

    Parameters
    ----------
    installed
        What was recorded of it. Without a list of files, that list is what is returned.
    root
        Folder of the package; the scripts that an installer writes elsewhere do not count.
    """
    if installed.files is None:
        return ["RECORD"]
    root = root.resolve()
    recorded = {Path(str(file.locate())).resolve(): file for file in installed.files}
    there = {file.resolve() for name in DECIDES for file in (root / name).rglob("*") if file.is_file()}
    added = {file for file in there - recorded.keys() if "__pycache__" not in file.parts}
    changed = {
        place
        for place, file in recorded.items()
        if file.hash and place.is_relative_to(root) and _digest(place, file.hash) != file.hash.value
    }
    return sorted(str(file.relative_to(root)) for file in added | changed)


def _digest(file: Path, recorded: FileHash) -> str | None:
    """Return the hash of a file in the form of a record; None if it is missing."""
    try:
        found = hashlib.new(recorded.mode, file.read_bytes())
    except FileNotFoundError:
        return None
    return base64.urlsafe_b64encode(found.digest()).decode().rstrip("=")


def require_own_environment() -> None:
    """Check that programs of the engine will find this package, and no other one of the same name.

    Raises
    ------
    UserError
        Python finds another package under one of the names, or a wheel is not in an environment.
    """
    # The project files in a wheel name the environment by this path.
    if is_from_wheel() and PROJECT_ROOT.joinpath("../../../..").resolve() != Path(sys.prefix).resolve():
        raise UserError(
            f"igz-clusters is installed in {PROJECT_ROOT.parent}, outside an environment.", _OWN_ENVIRONMENT
        )
    if others := [f"{name} ({place})" for name in PACKAGES if (place := _place(name)) != PROJECT_ROOT / name]:
        raise UserError(
            f"Other software has Python packages with the names of igz-clusters: {', '.join(others)}.",
            _OWN_ENVIRONMENT,
        )


def _place(name: str) -> Path | None:
    """Return the folder of a package, or the file of a module; None if it is missing."""
    spec = find_spec(name)
    place = next(iter(spec.submodule_search_locations or ()), spec.origin) if spec else None
    return Path(place).resolve() if place else None
