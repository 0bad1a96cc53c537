"""Options of the attempts of one engine command."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final

from workbench.engine.pending import being_created
from workbench.system.errors import UserError

REPLACE: Final = "--replace"
APPROVED: Final = ("--yes", "--skip-preview")
"""Options of further attempts: the plan is approved by then."""


class Attempts:
    """Repeats a command so that each resource it names is replaced once.

    Parameters
    ----------
    options
        Options of the first attempt.
    state
        Returns the stack's deployment, also one with pending operations. Called only if there is something to replace.
    """

    def __init__(self, options: Sequence[str], state: Callable[[], Mapping[str, Any]]) -> None:
        self._to_replace = [urn for option, urn in pairwise(options) if option == REPLACE]
        self._state = state
        self._before = _created(state()) if self._to_replace else {}

    def following(self, accepted: Collection[str] = ()) -> list[str]:
        """Return the options of a further attempt; the resources ``accepted`` stay as they are.

        So do those that may have been created already: their creation is a pending operation.
        """
        kept = list[str]()
        if self._to_replace:
            with suppress(UserError):  # the backend does not answer; reported with the failure
                state = self._state()
                now, left = _created(state), {*accepted, *(each["urn"] for each in being_created(state))}
                open_ = (urn for urn in self._to_replace if urn not in left and now.get(urn) == self._before.get(urn))
                kept = [each for urn in open_ for each in (REPLACE, urn)]
        return [*kept, *APPROVED]


def _created(deployment: Mapping[str, Any]) -> dict[str, tuple[str | None, str | None]]:
    """Return id and time of creation of each resource, without old ones that wait for their deletion.

    A replacement may have the id of the old resource, if that is a name.
    """
    resources = deployment.get("resources") or []
    return {each["urn"]: (each.get("id"), each.get("created")) for each in resources if not each.get("delete")}
