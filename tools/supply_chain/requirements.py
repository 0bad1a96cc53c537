"""Pinned Python packages: each has one version and hashes, and no address of an index."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from tools.tracked import tracked
from workbench.system.paths import PROJECT_ROOT

REQUIREMENTS: Final = PROJECT_ROOT / "requirements.txt"
RUNTIME: Final = PROJECT_ROOT / "infra" / "package" / "requirements.txt"
"""Those of ``REQUIREMENTS`` that run, without development; the engine installs them for the component package."""

_HASH: Final = re.compile(r"\s--hash=(\S+)")
_SHA256: Final = re.compile(r"sha256:[0-9a-f]{64}")
_LOCK: Final = "run `make lock`"


@dataclass(frozen=True)
class Pin:
    """One line of a requirements file."""

    requirement: Requirement
    hashes: tuple[str, ...]
    """As ``algorithm:value``."""
    text: str
    """The line as the file has it."""

    @property
    def name(self) -> str:
        """Normalized name."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        """The pinned version; empty if there is none."""
        found = [each for each in self.requirement.specifier if each.operator == "=="]
        return found[0].version if len(found) == len(self.requirement.specifier) == 1 else ""

    @property
    def is_installed_here(self) -> bool:
        """Whether it is for this system and version of Python."""
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def lines(file: Path) -> list[str]:
    """Return the lines of a requirements file without comments; one that continues on the next is one line."""
    whole = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    return [line for line in re.split(r"(?<!\\)\n", "\n".join(whole)) if line.strip()]


def pins(file: Path = REQUIREMENTS) -> dict[str, Pin]:
    """Return the pins of a requirements file by normalized name; lines that are none are left out."""
    found = (_pin(line) for line in lines(file))
    return {pin.name: pin for pin in found if pin}


def _pin(line: str) -> Pin | None:
    try:
        requirement = Requirement(_HASH.sub("", line).replace("\\", "").strip())
    except InvalidRequirement:
        return None
    return Pin(requirement, tuple(_HASH.findall(line)), line)


def files(root: Path = PROJECT_ROOT) -> list[Path]:
    """Return all requirements files of the repository."""
    return [root / name for name in tracked("*requirements.txt", root=root)]


def problems(file: Path) -> Iterator[str]:
    """Yield the lines of a requirements file that would install unreviewed content."""
    for line in lines(file):
        pin, start = _pin(line), line.split("\\")[0].strip()
        if start.startswith("-"):
            yield f"{file.name}: {start}: an option; only packages are allowed, and no address of an index; {_LOCK}"
        elif not pin or pin.requirement.url:
            yield f"{file.name}: {start}: not a package by name; addresses and folders have no reviewed content"
        elif not pin.version or "*" in pin.version:
            yield f"{file.name}: {start}: no exact version; {_LOCK}"
        elif not pin.hashes or not all(map(_SHA256.fullmatch, pin.hashes)):
            yield f"{file.name}: {start}: needs SHA-256 hashes and no others; {_LOCK}"


def unlocked(project: Path, pinned: dict[str, Pin]) -> Iterator[str]:
    """Yield the dependencies in a ``pyproject.toml`` that the pins do not meet."""
    content = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = content.get("optional-dependencies", {}).values()
    for text in [*content["dependencies"], *(each for extra in extras for each in extra)]:
        wanted = Requirement(text)
        pin = pinned.get(canonicalize_name(wanted.name))
        if not pin or not wanted.specifier.contains(pin.version, prereleases=True):
            yield f"{project.name}: {text}: requirements.txt has {pin.version if pin else 'no pin of it'}; {_LOCK}"
