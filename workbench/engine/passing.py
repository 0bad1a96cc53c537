"""Temporary refusals of a cloud."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from workbench.engine.error_classification import is_in_use, is_propagating


@dataclass(frozen=True, kw_only=True)
class Passing:
    """A temporary refusal, after which the engine runs again, once per pause.

    Parameters
    ----------
    is_reported
        Whether errors of the engine contain it.
    what
        What the cloud does, for the user.
    pauses
        Seconds before each further run.
    """

    is_reported: Callable[[Iterable[str]], bool]
    what: str
    pauses: tuple[float, ...]


STILL_IN_USE: Final = Passing(
    is_reported=is_in_use, what="reports resources as still in use", pauses=(30.0, 60.0, 120.0)
)
"""Clouds release the network interfaces of deleted resources within minutes."""

PROPAGATING: Final = Passing(
    is_reported=is_propagating,
    what="denies access; a new role assignment takes minutes to take effect, a missing one never does",
    pauses=(30.0, 60.0, 120.0, 180.0, 240.0),
)
"""Azure needs up to ten minutes: https://learn.microsoft.com/azure/role-based-access-control/troubleshooting."""
