"""Programs that run beside each other and end with the review that started them."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

SECONDS: Final = 1800
"""Longest time for one program: a plan of thousands of resources on a slow machine."""

GRACE: Final = 20
"""Seconds that the engine has to end its plug-ins once it is asked to."""


class Runs:
    """Starts programs from several threads; ``stop`` ends all of them, and no further one begins."""

    def __init__(self) -> None:
        self._live: set[subprocess.Popen[str]] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def run(
        self, command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str], stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end and return what it printed; without an exit code of 0 too.

        Parameters
        ----------
        command
            Program and arguments.
        folder
            Where it runs.
        environment
            All of its variables.
        stdin
            Text for its standard input.

        Raises
        ------
        InterruptedError
            The review was stopped.
        """
        with self._lock:
            if self._stopped:
                raise InterruptedError
            # A group of its own: Ctrl-C in a terminal reaches it through ``stop``, one time.
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
        finally:
            with self._lock:
                self._live.discard(process)
        return subprocess.CompletedProcess(command, process.returncode, printed, output)

    def stop(self) -> None:
        """Ask every program to end, and end it if it does not."""
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
            # What it started too: it would go on, and keep the ends of the pipes that are read to their end.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
