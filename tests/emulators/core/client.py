"""Starts an emulator and talks to it: what tests use beside the cloud's own API."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from emulators.core.doors import Place
from emulators.core.faults import RULES, ErrorRule, Rule

START: Final = 30.0
"""Seconds that a server gets to start."""

_DIRECT: Final = build_opener(ProxyHandler({}))
"""A proxy that the machine has is not for loopback."""


class EmulatorError(Exception):
    """The emulator does not do this; the text says why."""


@dataclass(frozen=True)
class Call:
    """One call that the server got; the fields are those of ``calls.Call``."""

    number: int
    operation: str
    about: str
    params: Mapping[str, Any]
    begin: float
    end: float | None
    code: str
    faults: Sequence[str]


@dataclass(frozen=True)
class Running:
    """A server that runs.

    Parameters
    ----------
    address
        Such as ``http://127.0.0.1:40123``.
    pid
        Of the server's process.
    """

    address: str
    pid: int

    def calls(self, after: int = 0) -> list[Call]:
        """Return the calls that arrived after the one with this number, oldest first."""
        return [Call(**each) for each in self._ask("GET", f"calls?after={after}")]

    def inventory(self) -> dict[str, list[str]]:
        """Return the ids of everything that exists, by type."""
        found: dict[str, list[str]] = self._ask("GET", "inventory")
        return found

    def set_faults(self, *rules: Rule) -> None:
        """Let these fault rules hold and no others; with none all is well."""
        self._ask("PUT", "faults", RULES.dump_json(rules))

    def set_scale(self, scale: float) -> None:
        """Let a second of the cloud take this many real ones, for work that begins from now on."""
        self._ask("PUT", "clock", as_json({"scale": scale}))

    def advance(self, seconds: float) -> None:
        """Let so many seconds of the cloud pass at once; none pass while the scale is 0."""
        self._ask("POST", "clock", as_json({"seconds": seconds}))

    def stand(self, place: Place | None) -> None:
        """Say where callers of API servers stand; None, as at first: they reach every one."""
        self._ask("PUT", "place", as_json(place and place.model_dump(mode="json")))

    def barrier(self, cluster: str, place: Place) -> str:
        """Return what keeps a caller at a place from the API server of a cluster; empty if nothing does.

        Parameters
        ----------
        cluster
            AWS: its name, Azure: its id.
        """
        asked = {"cluster": cluster, "place": place.model_dump(mode="json")}
        found: str = self._ask("POST", "barriers", as_json(asked))
        return found

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        request = Request(f"{self.address}/_emulator/{path}", body, method=method)  # noqa: S310 our own address
        try:
            with _DIRECT.open(request, timeout=30) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise EmulatorError(json.load(error)["error"]) from None


IMPORTABLE: Final = {"PYTHONPATH": str(Path(__file__).parents[2])}
"""Variables with which a Python of its own finds this package."""


@dataclass(frozen=True)
class Program:
    """How an emulator is started.

    Parameters
    ----------
    cloud
        Such as ``AWS``.
    module
        That serves it.
    foreign
        Prefixes of variables that may lead to the real cloud; the server gets none of them.
    """

    cloud: str
    module: str
    foreign: tuple[str, ...]


@contextmanager
def started(program: Program, scale: float, kubeconfig: Path | None) -> Iterator[tuple[str, int]]:
    """Start a server and stop it at the end; yield its address and its process id.

    Parameters
    ----------
    scale
        Real seconds for a second of the cloud; 0 means that all work is done at once.
    kubeconfig
        Of the API server that every cluster leads to.

    Raises
    ------
    EmulatorError
        It does not start.
    """
    given = [] if kubeconfig is None else ["--kubeconfig", str(kubeconfig)]
    command = [sys.executable, "-m", program.module, "--scale", str(scale), *given]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(program.foreign)}
    environment = {**kept, **IMPORTABLE}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout else ""
            if not address:
                raise EmulatorError(
                    f"the {program.cloud} emulator did not start: it ended with code {process.wait(START)}"
                )
            yield address, process.pid
        finally:
            process.terminate()
            process.wait(START)


def not_yet_there(operation: str, code: str, reads: int, *, about: str) -> ErrorRule:
    """Return a rule by which each thing is not found in its first reads, as right after it was made.

    Parameters
    ----------
    operation
        The read, such as ``eks:DescribeNodegroup``.
    code
        As the service words it, such as ``ResourceNotFoundException``.
    about
        Pattern of what is made. What was there before must be found: a refresh forgets what is not.
    """
    return ErrorRule(
        operation=operation, about=about, each=True, times=reads, code=code, status=404, message="not found"
    )


def as_json(value: Any) -> bytes:
    """Return the body of a request."""
    return json.dumps(value).encode()
