"""How a provider finds an emulator and waits for it, in the cloud's time, which is scaled."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

from workbench.offline.provider import RefusedError

PACE_VARIABLE: Final = "IGZ_CLUSTERS_EMULATOR_PACE"
"""Variable with the real seconds of one second of the cloud's, for waiting and giving up."""

DEFAULT_PACE: Final = 0.01

SHORTEST_POLL: Final = 0.02
"""Real seconds between two looks at the least."""

FEWEST_LOOKS: Final = 20
"""Looks before a wait may give up, however short its time. The real AWS plug-in tolerates as many looks at nothing."""

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})

T = TypeVar("T")


def address(cloud: str, module: str, variable: str, environment: Mapping[str, str]) -> str:
    """Return the address of a emulator's server.

    Parameters
    ----------
    cloud, module
        What it is an emulator of, such as ``AWS``, and what starts one.
    variable
        Where the address is.

    Raises
    ------
    RefusedError
        No address is given, or one that is not on loopback: an emulator never talks to the cloud itself.
    """
    given = environment.get(variable, "")
    if urlsplit(given).hostname not in LOOPBACK:
        raise RefusedError(
            f"the {cloud} emulator needs the address of its server in {variable}, on 127.0.0.1; "
            f"given: {given or 'nothing'}. `python -m {module}` starts one"
        )
    return given


@dataclass(frozen=True)
class Polling:
    """Real seconds of one second of the cloud's."""

    scale: float

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """Return the pace that the variables of a process ask for."""
        return cls(float(environment.get(PACE_VARIABLE) or DEFAULT_PACE))

    def sleep(self, seconds: float) -> None:
        """Wait so many seconds of the cloud's."""
        time.sleep(max(SHORTEST_POLL, seconds * self.scale))

    def until(self, done: Callable[[], T | None], minutes: float, between: float) -> T | None:
        """Return the first answer that is not None; None if ``minutes`` of the cloud's time give none.

        Parameters
        ----------
        between
            Seconds of the cloud's between two looks.
        """
        end = time.monotonic() + minutes * 60 * self.scale
        looks = 0
        while True:
            looks += 1
            answer = done()
            if answer is not None or (time.monotonic() > end and looks >= FEWEST_LOOKS):
                return answer
            self.sleep(between)
