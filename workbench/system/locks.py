"""Kernel file locks: released when the last process that holds them ends, however it ends.

Child processes that inherit the descriptor (``pass_fds``) hold the lock too. A taken lock therefore means that the
holder or one of its children still runs; unlike a PID file, it cannot be stale.
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
        The lock file in an existing folder; created if missing. Only its holder may delete it.

    Returns
    -------
    int | None
        The lock's descriptor, which the caller closes; None if another process holds the lock, or has just deleted it.
    """
    with suppress(BlockingIOError):
        descriptor = _locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_same(descriptor, file):
            return descriptor
        os.close(descriptor)
    return None


def wait_for(file: Path) -> int:
    """Take the lock like ``take``, waiting until it is free; return its descriptor."""
    return _locked(file, fcntl.LOCK_EX)


def write(descriptor: int, text: str) -> None:
    """Write information about the holder into the file of a held lock."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def holders(file: Path) -> list[psutil.Process]:
    """Return the processes of this user, other than this one, that have the lock's file open; by process id."""
    try:
        target = file.stat()
    except FileNotFoundError:
        return []
    others = (process for process in psutil.process_iter() if process.pid != os.getpid())
    return sorted((each for each in others if _has_open(each.pid, target)), key=lambda process: process.pid)


def holds(pid: int, file: Path) -> bool:
    """Return whether a process of this user has the lock's file open.

    Identifies the process that recorded its id beside the lock: in another container the id is that of another process,
    which does not have the file open, and so is one that got the id later.
    """
    with suppress(OSError):
        return _has_open(pid, file.stat())
    return False


def _locked(file: Path, operation: int) -> int:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, operation)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError):  # as on NFS without locks; it does not know the name
            error.filename = str(file)
        raise
    return descriptor


def _is_same(descriptor: int, file: Path) -> bool:
    """Return whether a locked file is still the one of that name: its last holder may have deleted it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), file.stat())
    return False


def _has_open(pid: int, target: os.stat_result) -> bool:
    # Processes and descriptors may vanish during the scan; other users' processes are not readable.
    with suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                opened = entry.stat()
                if (opened.st_dev, opened.st_ino) == (target.st_dev, target.st_ino):
                    return True
    return False
