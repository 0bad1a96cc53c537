"""Runs programs in parallel and terminates them when the review ends."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

SECONDS: Final = 1800
"""Timeout in seconds of one program, enough for a plan of thousands of resources on a slow machine."""

GRACE: Final = 20
"""Seconds for the engine to end its plug-ins after a stop request."""


class Runs:
    """Starts programs from several threads; ``stop`` terminates all of them and prevents new ones."""

    def __init__(self) -> None:
        self._live: set[subprocess.Popen[str]] = set()
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
        with self._lock:
            if self._stopped:
                raise InterruptedError
            # A process group of its own: Ctrl-C reaches it only once, through ``stop``.
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                process_group=0,
            )
            self._live.add(process)
        try:
            printed, output = process.communicate(stdin, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            _end([process], grace=GRACE)
            printed, output = process.communicate()
            output += f"\nIt did not finish within {SECONDS} s."
        except KeyboardInterrupt:
            _end([process], grace=GRACE)
            raise
        finally:
            with self._lock:
                self._live.discard(process)
        if self._stopped:
            raise InterruptedError
        return subprocess.CompletedProcess(command, process.returncode, printed, output)

    def stop(self) -> None:
        """Terminate every program, by force after ``GRACE`` seconds."""
        with self._lock:
            self._stopped = True
            live = list(self._live)
        _end(live, grace=GRACE)


def _end(processes: Sequence[subprocess.Popen[str]], *, grace: float) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
    for process in processes:
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            # Includes child processes, which would keep running and hold the output pipes open.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
