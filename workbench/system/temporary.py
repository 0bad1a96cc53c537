"""Temporary folders that hold credentials: deleted at the end, and after a killed run by the next one."""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "igz-clusters-tmp-"


@contextmanager
def folder(purpose: str) -> Iterator[tuple[Path, int]]:
    """Yield a new private folder and its descriptor; delete it afterwards, and first those of killed runs.

    The descriptor holds a lock: a folder stays while a process that inherited it (``pass_fds``) runs.

    Parameters
    ----------
    purpose
        Part of its name, such as ``run``.
    """
    _sweep(Path(tempfile.gettempdir()))
    place, descriptor = _make(purpose)
    try:
        yield place, descriptor
    finally:
        os.close(descriptor)
        shutil.rmtree(place, ignore_errors=True)


def _make(purpose: str) -> tuple[Path, int]:
    while True:
        place = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
        with suppress(FileNotFoundError):  # before it was locked, another run deleted it as a killed run's
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if place.exists():
                return place, descriptor
            os.close(descriptor)


def _sweep(parent: Path) -> None:
    for place in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is in use, or just deleted
            facts = place.lstat()
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
                continue
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(descriptor)
