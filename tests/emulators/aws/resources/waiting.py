"""Waiting for AWS, with the errors of the real plug-in when the wait ends badly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from emulators.aws.resources.connection import ApiError, Aws, said
from workbench.offline.provider import CloudError

ABSENT: Final = ""
"""State of what does not exist."""

Seen: TypeAlias = tuple[str, Mapping[str, Any]]
"""State of something, and what describes it."""


@dataclass(frozen=True)
class Wait:
    """A wait for one state.

    Parameters
    ----------
    what
        Such as ``waiting for EKS Cluster (dev) create``.
    wanted
        The state that ends it well.
    minutes
        How long the real plug-in waits, in AWS's time.
    """

    aws: Aws
    what: str
    wanted: str
    minutes: float

    def end(
        self,
        look: Callable[[], Seen],
        is_on_its_way: Callable[[str], bool],
        reasons: Callable[[Mapping[str, Any]], list[str]],
    ) -> Mapping[str, Any]:
        """DescribeCall until the state is the wanted one, and return what describes it then.

        Parameters
        ----------
        look
            Asks AWS.
        is_on_its_way
            Whether a state can still lead there.
        reasons
            Why it does not, from the description; may be empty.

        Raises
        ------
        CloudError
            Another state came, or none of them in time.
        """
        seen: list[Seen] = []

        def done() -> Seen | None:
            seen.append(look())
            return None if seen[-1][0] != self.wanted and is_on_its_way(seen[-1][0]) else seen[-1]

        try:
            ended = self.aws.until(done, self.minutes)
        except ApiError as error:
            raise said(self.what, error) from error
        if ended is None:
            last = f"last state: '{seen[-1][0]}', timeout: {self.minutes:g}m"
            raise CloudError(f"{self.what}: timeout while waiting for state to become '{self.wanted}' ({last})")
        state, description = ended
        if state != self.wanted:
            because = ", ".join(reasons(description))
            text = f"{self.what}: unexpected state '{state}', wanted target '{self.wanted}'"
            raise CloudError(f"{text}. last error: {because}" if because else text)
        return description
