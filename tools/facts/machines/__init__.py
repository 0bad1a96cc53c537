"""Figures of machine types: a module for each provider, by its name in ``Provider``, which ``instances.py`` finds here.

Each offers ``wanted``, the names of the wanted types series by series, small to large, and ``read``, their figures.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from workbench.system.errors import UserError

READ_ON: Final = "2026-11-21"
"""When the pinned sources and the linked pages were last read; a constant, so that a run on another day is equal."""

GB: Final = 10**9
GIB: Final = 2**30


class SourceError(UserError):
    """A source is missing or does not hold what is expected of it."""


class Row(NamedTuple):
    """One machine type, in the order of the generated tuples."""

    name: str
    vcpus: int
    memory_mib: int
    architecture: str
    gpus: int
    gpu_model: str
    local_nvme_gib: int


class Figures(NamedTuple):
    """What a provider's sources say."""

    versions: Mapping[str, str]
    """Version by source."""
    rows: Mapping[str, Row]
    """By name, of those wanted types that the sources have."""


def run(command: Sequence[str], folder: Path, hint: str) -> str:
    """Return what a command prints.

    Raises
    ------
    SourceError
        It is not installed or fails; ``hint`` is what to do then.
    """
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise SourceError(f"`{command[0]}` is not installed", hint) from error
    if done.returncode:
        # pip lists every version of the package in one line
        end = "\n".join(line[:300] for line in done.stderr.strip().splitlines()[-10:])
        raise SourceError(f"`{' '.join(command)}` failed:\n{end}", hint)
    return done.stdout
