"""The summary on a real terminal of 80 columns says what it says in a pipe."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.cluster import COMMAND, user_environment
from workbench.cli.engine_run import VERBOSE_VARIABLE
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.engine, pytest.mark.full]

COLUMNS = 80
PREVIEW = (COMMAND, "preview", "local", "--render", "--hermetic")
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def environment() -> dict[str, str]:
    """Return the variables of a user who asks for the summary and lets the terminal decide its width."""
    unset = ("COLUMNS", "LINES", "CI", VERBOSE_VARIABLE)
    return {**{key: value for key, value in user_environment().items() if key not in unset}, "TERM": "xterm-256color"}


def on_terminal(command: Sequence[str | Path]) -> tuple[int, str]:
    """Run a command on a terminal; return its exit code and what the terminal received."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    with subprocess.Popen(
        command,
        cwd=PROJECT_ROOT,
        env=environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        received = bytearray()
        try:
            while chunk := os.read(ours, 65536):
                received += chunk
        except OSError:  # the last process closed its end
            pass
        finally:
            os.close(ours)
    return process.returncode, ANSI.sub("", received.decode(errors="replace")).replace("\r", "")


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_at_80_columns_no_word_of_the_summary_is_lost() -> None:
    piped = subprocess.run(
        PREVIEW, cwd=PROJECT_ROOT, env=environment(), capture_output=True, text=True, timeout=600, check=True
    ).stdout
    code, received = on_terminal(PREVIEW)
    assert code == 0, received
    headline = piped.splitlines()[0]
    shown = headline + received.rpartition(headline)[2]
    assert squeezed(piped) in squeezed(shown)
    assert "Pools" in shown.splitlines()
    assert "…" not in shown
    tables = [line for line in shown.splitlines() if line.startswith(" ")]
    assert [line for line in tables if len(line) > COLUMNS] == []
