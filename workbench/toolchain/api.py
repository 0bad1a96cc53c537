"""Paths of the programs; missing ones are built on request."""

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.toolchain import preflight, store
from workbench.toolchain.build import build_missing
from workbench.toolchain.events import Progress, silent
from workbench.toolchain.recipes import ALL, BUNDLES, ENGINE, Bundle

OLDEST_PULUMI = (3, 250)
"""Oldest release of a user's own Pulumi that is used."""


@dataclass(frozen=True)
class Toolchain:
    """Programs that are built and ready to run.

    Parameters
    ----------
    binaries
        Path of each program by name.
    """

    binaries: Mapping[str, Path]

    def path(self, name: str) -> Path:
        """Return the path of a program.

        Raises
        ------
        KeyError
            The program was not requested from ``ensure``.
        """
        return self.binaries[name]

    @property
    def pulumi(self) -> Path:
        """The Pulumi command line: the user's own or ours."""
        return self.path("pulumi")


@dataclass(frozen=True)
class Row:
    """One program in ``status``; ``size`` in bytes, 0 if not built."""

    name: str
    version: str
    built: bool
    size: int
    path: Path


def names(bundles: Sequence[Bundle] = BUNDLES) -> tuple[str, ...]:
    """Return the names of all programs and scripts in some bundles; default: those that clusters need."""
    return tuple(name for bundle in bundles for name in bundle.versions)


def ensure(
    programs: Collection[str] | None = None, *, hermetic: bool = False, progress: Progress = silent
) -> Toolchain:
    """Return programs; build those that are not in the cache.

    With a filled cache this takes milliseconds and needs no Go.

    Parameters
    ----------
    programs
        Names of programs, default all that clusters need. A bundle is built and returned as a whole.
    hermetic
        Build Pulumi even if a suitable one is on PATH.
    progress
        Receives the build events, default silent; ``console.progress()`` shows them.

    Raises
    ------
    UserError
        The machine lacks something that a build needs, or a build failed.
    ValueError
        A name is unknown.
    """
    if unknown := set(programs or ()) - set(names(ALL)):
        raise ValueError(f"unknown programs {sorted(unknown)}, known are {sorted(names(ALL))}")
    bundles = [*BUNDLES] if programs is None else [b for b in ALL if not b.versions.keys().isdisjoint(programs)]
    binaries: dict[str, Path] = {}
    if ENGINE in bundles and not hermetic and (own := select_pulumi()):
        binaries |= {name: own.with_name(name) for name in ("pulumi", "pulumi-language-python")}
        bundles.remove(ENGINE)
    build_missing(bundles, progress=progress)
    for bundle in bundles:
        entry = store.Entry(bundle)
        binaries |= {name: entry.file(name) for name in bundle.versions}
    return Toolchain(binaries)


def select_pulumi() -> Path | None:
    """Return the user's own ``pulumi`` if it can be used.

    It must be 3.250 or newer and have ``pulumi-language-python`` in its folder. The toolchain's own Pulumi on PATH
    does not count.
    """
    pulumi = shutil.which("pulumi")
    if not pulumi or not shutil.which("pulumi-language-python", path=str(Path(pulumi).parent)):
        return None
    if Path(pulumi).resolve().is_relative_to(store.home()):
        return None
    run = subprocess.run(
        [pulumi, "version"],
        env=os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    version = re.match(r"v?(\d+)\.(\d+)", run.stdout)
    return Path(pulumi) if version and (int(version[1]), int(version[2])) >= OLDEST_PULUMI else None


def check_prerequisites() -> None:
    """Check that this machine can build the missing programs; builds nothing.

    Raises
    ------
    UserError
        Lists everything that the machine lacks.
    """
    bundles = [bundle for bundle in BUNDLES if bundle is not ENGINE or not select_pulumi()]
    if missing := store.missing(bundles):
        preflight.check(missing, preflight.unwritable())


def status() -> list[Row]:
    """Return a row for each program and script, in build order; nothing is built or started."""
    rows = []
    for bundle in BUNDLES:
        entry = store.Entry(bundle)
        sizes = entry.sizes()
        for name, version in bundle.versions.items():
            rows.append(Row(name, version, name in sizes, sizes.get(name, 0), entry.file(name)))
    return rows
