"""The content-addressed cache of built bundles: keys, entries, staging and the lock.

Layout of ``cache_dir()/toolchain``: ``<bundle>-<key12>/{bin/,manifest.json}`` for each finished bundle,
``.staging/`` for a running build, ``lock`` for the process that builds.
"""

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT, cache_dir
from workbench.toolchain.recipes import ALL, GOFLAGS, Bundle

SOURCES = PROJECT_ROOT / "toolchain"
"""The folder of the pinned Go modules."""

GOOS = platform.system().lower()
GOARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def home() -> Path:
    """Return the folder of the cache; not created here."""
    return cache_dir() / "toolchain"


def go_cache() -> Path:
    """Return the folder of the Go build cache that builds share and a successful build deletes."""
    return cache_dir() / "build" / "go-cache"


def staging() -> Path:
    """Return the folder of running builds; files in it while no build runs are leftovers."""
    return home() / ".staging"


def source_files(folder: Path) -> list[Path]:
    """Return the files of a Go module folder that decide what is built, sorted."""
    return sorted(path for path in folder.rglob("*") if path.name in {"go.mod", "go.sum"} or path.suffix == ".go")


@dataclass(frozen=True)
class Entry:
    """A bundle's place in the cache.

    Parameters
    ----------
    bundle
        The recipe.
    sources
        Folder that holds the folders of the Go modules.
    """

    bundle: Bundle
    sources: Path = SOURCES

    @cached_property
    def key(self) -> str:
        """SHA-256 over platform, flags, recipe and files.

        The Go version is recorded in the manifest instead, so that a machine with a filled cache needs no Go.
        """
        digest = hashlib.sha256(f"{GOOS}/{GOARCH} {GOFLAGS} {self.bundle!r}".encode())
        for module in self.bundle.modules:
            for path in source_files(self.sources / module):
                content = path.read_bytes()
                digest.update(f"\n{path.relative_to(self.sources).as_posix()} {len(content)}\n".encode())
                digest.update(content)
        return digest.hexdigest()

    @property
    def folder(self) -> Path:
        """Folder of the finished bundle."""
        return home() / f"{self.bundle.name}-{self.key[:12]}"

    def file(self, name: str) -> Path:
        """Return the path of a binary or script."""
        return self.folder / "bin" / name

    def sizes(self) -> dict[str, int]:
        """Return sizes in bytes by file name; empty unless every recorded file has its recorded size."""
        try:
            manifest = json.loads((self.folder / "manifest.json").read_bytes())
            sizes: dict[str, int] = manifest["sizes"]
            complete = all(self.file(name).stat().st_size == size for name, size in sizes.items())
        except (UserError, OSError, ValueError, KeyError):  # the folder may be missing or a file
            return {}
        return sizes if complete else {}

    def publish(self, built: Path, go_version: str) -> dict[str, int]:
        """Move a finished folder with its ``bin`` into place atomically; return sizes in bytes by file name.

        Parameters
        ----------
        built
            Folder inside ``staging()``.
        go_version
            Version of the Go that built it, recorded in the manifest.
        """
        sizes = {path.name: path.stat().st_size for path in sorted((built / "bin").iterdir())}
        manifest = {"bundle": self.bundle.name, "key": self.key, "go": go_version, "sizes": sizes}
        (built / "manifest.json").write_text(json.dumps(manifest, indent=2))
        if self.folder.exists():  # incomplete; a complete one is not rebuilt
            self.folder.rename(built.parent / "damaged")
        built.rename(self.folder)
        return sizes


def missing(bundles: Sequence[Bundle], sources: Path = SOURCES) -> list[Entry]:
    """Return the entries that are missing from the cache or incomplete."""
    entries = [Entry(bundle, sources) for bundle in bundles]
    return [entry for entry in entries if not entry.sizes()]


@contextmanager
def locked(on_wait: Callable[[int], None]) -> Iterator[int]:
    """Hold the cache's lock; yields its descriptor, for children that write into the cache.

    Parameters
    ----------
    on_wait
        Called once with the other process's id if the lock is taken, before waiting for it.
    """
    home().mkdir(parents=True, exist_ok=True)
    file = home() / "lock"
    descriptor = locks.take(file)
    if descriptor is None:
        on_wait(int(file.read_text() or 0))
        descriptor = locks.wait_for(file)
    try:
        locks.write(descriptor, str(os.getpid()))
        yield descriptor
    finally:
        os.close(descriptor)


def disk_usage(folder: Path) -> int:
    """Return the bytes that a folder takes on disk; 0 if it does not exist."""
    stats = (os.lstat(Path(top) / name) for top, _, names in os.walk(folder) for name in names)
    return sum(stat.st_blocks * 512 for stat in stats)


def drop(folder: Path) -> int:
    """Delete a folder if it exists; return the bytes freed."""
    size = disk_usage(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return size


def prune(bundles: Sequence[Bundle] = ALL, sources: Path = SOURCES) -> int:
    """Delete bundles of other versions, leftovers and the Go build cache; return the bytes freed.

    Waits for a running build.

    Parameters
    ----------
    bundles, sources
        What to keep, default everything that this checkout pins.
    """
    with locked(lambda _: None):
        current = {Entry(bundle, sources).folder.name for bundle in bundles} | {"lock"}
        stale = [path for path in home().iterdir() if path.name not in current]
        return sum(drop(folder) for folder in [*stale, go_cache()])
