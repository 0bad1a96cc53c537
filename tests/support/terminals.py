"""A command in the foreground of a terminal of its own, which can be closed."""

import fcntl
import os
import signal
import subprocess
import termios
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class Terminal:
    """A terminal, and the command in its foreground."""

    process: subprocess.Popen[bytes]
    other_end: int
    """Descriptor of the end at which a user sits."""

    @classmethod
    def of(cls, command: Sequence[str | Path], **options: Any) -> Self:
        """Start a command in a new terminal; ``options`` are those of ``Popen``."""
        other_end, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, 80))

        def take() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run under `nohup`

        streams: dict[str, Any] = {"stdin": terminal, "stdout": terminal, "stderr": terminal, **options}
        process = subprocess.Popen(command, start_new_session=True, preexec_fn=take, **streams)  # noqa: PLW1509
        os.close(terminal)
        return cls(process, other_end)

    def read_until(self, text: str) -> None:
        """Read what is displayed until it contains a text."""
        seen = b""
        while text.encode() not in seen:
            seen += os.read(self.other_end, 4096)  # fails once the command has ended

    def close(self) -> None:
        """Close it as when a session drops: the shell sends SIGHUP to the foreground, and then the kernel."""
        os.killpg(self.process.pid, signal.SIGHUP)
        os.close(self.other_end)
