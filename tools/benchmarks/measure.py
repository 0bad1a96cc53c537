"""Time, CPU and memory of one command."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from workbench.system.errors import UserError

TIMEOUT_SECONDS = 300.0
"""How long a command may take; the slowest takes about half a minute."""

_ADOPTER = Path(__file__).with_name("adopter.py")


@dataclass(frozen=True)
class Command:
    """What to run, where, and with which environment."""

    arguments: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    verdict: str = ""
    """Pattern of the words that show that it did its work, for a command whose exit code 1 means that it found
    something; empty for one whose exit code says it all."""


@dataclass(frozen=True)
class Measurement:
    """What a command and every process that it started, directly or not, took together."""

    wall: float
    """Seconds from its start to the end of its first process."""
    cpu: float
    """Seconds of user and system time of all processes, to the end of the last. Exact: from the kernel's accounts."""
    memory: float
    """Bytes: highest sum of resident memory, looked at 20 times a second. A page that two share counts twice."""


def measure(command: Command, timeout: float = TIMEOUT_SECONDS) -> Measurement:
    """Run a command to the end of its last process.

    Not counted: servers that ran before, such as a control plane that the command talks to.

    Raises
    ------
    UserError
        It failed or took longer than ``timeout`` seconds; with the end of what it printed. All its processes are gone.
    """
    shown = " ".join(command.arguments)
    with subprocess.Popen(
        [sys.executable, str(_ADOPTER), *command.arguments],
        cwd=command.folder,
        env=dict(command.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as adopter:
        try:
            printed, complaint = adopter.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise UserError(f"`{shown}` took longer than {timeout:.0f} s.") from None
        finally:
            _end(adopter)
    if adopter.returncode:
        raise UserError(f"`{shown}` could not be measured:\n{complaint.strip()}")
    report = json.loads(printed)
    if report["code"] and not (
        command.verdict and report["code"] == 1 and re.search(command.verdict, report["output"])
    ):
        raise UserError(f"`{shown}` failed with exit code {report['code']}:\n{report['output'].strip()}")
    return Measurement(report["wall"], report["cpu"], report["memory"])


def _end(adopter: subprocess.Popen[str]) -> None:
    """End what is left of a tree; the adopter last, because it knows the others."""
    if adopter.poll() is not None:
        return
    this = psutil.Process(adopter.pid)
    while left := this.children(recursive=True):
        for process in left:
            process.kill()
        psutil.wait_procs(left, timeout=1)
    adopter.kill()
