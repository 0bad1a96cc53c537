"""Figures of machine types: a module for each provider, by its name in ``Provider``, which ``instances.py`` finds here.

Each offers ``read``, the figures of every type that a node group takes, and ``COMMON``, the names of the common ones,
for which the package ships prices.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from workbench.system.errors import UserError

READ_ON: Final = "2026-11-25"
"""When the pinned sources and the linked pages were last read; a constant, so that a run on another day is equal."""

GB: Final = 10**9
GIB: Final = 2**30
VCPUS_MIN: Final = 2
MEMORY_MIN_MIB: Final = 2048
"""Smaller machines have no room for pods in addition to the system's own; AKS refuses them: https://learn.microsoft.com/azure/aks/quotas-skus-regions."""


class SourceError(UserError):
    """A source is missing or does not hold what is expected of it."""


class Row(NamedTuple):
    """One machine type, in the order of the generated columns."""

    name: str
    vcpus: int
    memory_mib: int
    architecture: str
    gpus: int = 0
    gpu_maker: str = ""
    gpu_model: str = ""
    gpu_memory_mib: int = 0
    local_nvme_gib: int = 0
    generation: int = 0
    variants: str = ""
    """Separated by blanks."""
    offers_spot: int = 1
    pod_addresses: int = 0
    fabric: int = 0


class Figures(NamedTuple):
    """What a provider's sources say."""

    versions: Mapping[str, str]
    """Version by source."""
    rows: Mapping[str, Row]
    """By name, of every type that a node group accepts."""


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
