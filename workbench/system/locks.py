"""Locks that the kernel keeps: they end with the last process that holds them, however it ends.

A descriptor that is handed on to children (``pass_fds``) belongs to all of them. So a taken lock means that somebody of
the holder's family still works, and a free one that nobody does: no file can lie about it.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

import psutil


def take(file: Path) -> int | None:
    """Take the lock without waiting.

    Parameters
    ----------
    file
        The lock's file; it is made if it is missing, in an existing folder, and never deleted.

    Returns
    -------
    int | None
        The lock's descriptor, which the caller closes; None if somebody else holds the lock.
    """
    descriptor = _open(file)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def wait_for(file: Path) -> int:
    """Take the lock like ``take``, after whoever holds it now."""
    descriptor = _open(file)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def write(descriptor: int, text: str) -> None:
    """Write into a taken lock's file what others should know about its holder."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def holders(file: Path) -> list[psutil.Process]:
    """Return the processes of this user, other than this one, that have the lock's file open; by process id."""
    try:
        wanted = file.stat()
    except FileNotFoundError:
        return []
    others = (process for process in psutil.process_iter() if process.pid != os.getpid())
    found = [process for process in others if _has_open(process.pid, wanted)]
    return sorted(found, key=lambda process: process.pid)


def _open(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o600)


def _has_open(pid: int, wanted: os.stat_result) -> bool:
    # Processes end while they are looked at, descriptors close, and others' processes may not be looked into.
    with suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                found = entry.stat()
                if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                    return True
    return False
