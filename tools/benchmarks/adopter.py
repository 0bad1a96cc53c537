"""Runs one command and reports what it and all its descendants used; ``measure`` starts it as a separate process.

The kernel adds what a process used to its parent when the parent waits for it. So this process becomes the parent of
every descendant whose own parent ended first (``PR_SET_CHILD_SUBREAPER``) and waits until none is left: what it then
reads covers the whole tree.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

import psutil
from typing_extensions import override

PR_SET_CHILD_SUBREAPER = 36
"""From Linux's ``prctl.h``: https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html."""

SAMPLE_SECONDS = 0.05
"""Pause between two samples of the tree's memory; a sample costs this process a few milliseconds, the tree nothing."""

_TAIL = 4000


class PeakMemory(threading.Thread):
    """Keeps the highest sum of resident memory that this process's descendants had in any sample."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._ended = threading.Event()

    @override
    def run(self) -> None:
        this = psutil.Process()
        while not self._ended.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(_resident, this.children(recursive=True))))

    def stop(self) -> None:
        """End the looking."""
        self._ended.set()
        self.join()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose parent ends.

    Raises
    ------
    OSError
        The system is not Linux.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def wait_for_all(first: int) -> tuple[int, float]:
    """Wait for every descendant; return the exit code and the end (monotonic seconds) of process ``first``."""
    code, ended = 0, 0.0
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return code, ended
        if pid == first:
            code, ended = os.waitstatus_to_exitcode(status), time.monotonic()


def main(arguments: list[str]) -> None:
    """Run the command in ``arguments`` and print what it used as JSON."""
    adopt_orphans()
    memory = PeakMemory()
    memory.start()
    with tempfile.TemporaryFile() as output:
        started = time.monotonic()
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        code, ended = wait_for_all(process.pid)
        memory.stop()
        output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL))
        tail = output.read().decode(errors="replace")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = {
        "code": code,
        "wall": ended - started,
        "cpu": used.ru_utime + used.ru_stime,
        # A tree that ended between two samples has at least the peak of its largest process.
        "memory": max(memory.peak, used.ru_maxrss * 1024),
        "output": tail,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1:])
