"""Restores of a cluster's backups, in one form for all clouds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from typing_extensions import override


@dataclass(frozen=True)
class RestoreJob:
    """A restore of a backup of a cluster, or of a volume or a file system in one.

    Parameters
    ----------
    id
        The cloud's id.
    of
        What it restores, such as ``vol-0123456789abcdef0``.
    begun, ended
        When it began and ended; None while it runs.
    state
        The cloud's state, in capitals.
    is_restored
        Whether the restore succeeded, possibly with warnings.
    """

    id: str
    of: str
    begun: datetime
    ended: datetime | None
    state: str
    is_restored: bool

    @override
    def __str__(self) -> str:
        """Return when it began, what it restores, and its state."""
        return f"{self.begun:%Y-%m-%d %H:%M} UTC  restore of {self.of}  {self.state}"

    def as_json(self) -> dict[str, Any]:
        """Return its fields for scripts."""
        return {
            "id": self.id,
            "of": self.of,
            "begun": self.begun.isoformat(),
            "ended": self.ended.isoformat() if self.ended else None,
            "state": self.state,
            "isRestored": self.is_restored,
        }
