"""Runs programs in parallel and terminates them when the review ends."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import psutil

SECONDS: Final = 1800
"""Timeout in seconds of one program, enough for a plan of thousands of resources on a slow machine."""

GRACE: Final = 20
"""Seconds for the engine to end its plug-ins after a stop request."""

_KILLED: Final = 10.0
"""Seconds within which killed processes end."""
_PAUSE: Final = 0.02


class Runs:
    """Starts programs from several threads; ``stop`` terminates all of them and prevents new ones.

    A change's code is untrusted: what a program has started in its session ends with it.
    """

    def __init__(self) -> None:
        self._live = set[subprocess.Popen[bytes]]()
        self._stopped = False
        self._lock = threading.Lock()

    def run(
        self, command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str], stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end and return its output, whatever its exit code.

        Parameters
        ----------
        command
            Program and arguments.
        folder
            Working directory.
        environment
            Its complete environment.
        stdin
            Standard input.

        Raises
        ------
        InterruptedError
            The review was stopped before or during the program, whose output is then incomplete.
        """
        # Files, since a pipe ends only when every process that inherited it has.
        with (
            TemporaryFile("w+") as given,
            TemporaryFile("w+", errors="replace") as printed,
            TemporaryFile("w+", errors="replace") as said,
        ):
            given.write(stdin)
            given.seek(0)
            with self._lock:
                if self._stopped:
                    raise InterruptedError
                # A session of its own: Ctrl-C reaches it only once, through ``stop``.
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=dict(environment),
                    stdin=given,
                    stdout=printed,
                    stderr=said,
                    start_new_session=True,
                )
                self._live.add(process)
            late = ""
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                late = f"\nIt did not finish within {SECONDS} s."
            finally:
                _end([process], grace=GRACE)
                with self._lock:
                    self._live.discard(process)
            if self._stopped:
                raise InterruptedError
            for file in (printed, said):
                file.seek(0)
            return subprocess.CompletedProcess(command, process.returncode, printed.read(), said.read() + late)

    def stop(self) -> None:
        """Terminate every program, by force after ``GRACE`` seconds."""
        with self._lock:
            self._stopped = True
            live = list(self._live)
        _end(live, grace=GRACE)


def _end(processes: Sequence[subprocess.Popen[bytes]], *, grace: float) -> None:
    """Ask programs that still run to end; then kill all that is left of them and of what they started."""
    for process in processes:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
    try:
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(grace)
    finally:
        for process in processes:
            _kill_session(process.pid)
            process.wait()


def _kill_session(session: int) -> None:
    """Kill the processes of a session; the engine's plug-ins have process groups of their own."""
    deadline = time.monotonic() + _KILLED
    while (left := _running_in(session)) and time.monotonic() < deadline:
        for process in left:  # they may have started others meanwhile
            with suppress(psutil.Error):
                process.kill()
        time.sleep(_PAUSE)


def _running_in(session: int) -> list[psutil.Process]:
    found = list[psutil.Process]()
    for pid in psutil.pids():
        with suppress(OSError, psutil.Error):  # it has just ended
            if os.getsid(pid) == session and (process := psutil.Process(pid)).status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
