"""Backups of a cluster, in one form for all clouds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from typing_extensions import override


@dataclass(frozen=True)
class RecoveryPoint:
    """A backup of a cluster or, inside one, of a volume or a file system.

    Parameters
    ----------
    id
        Id with which the cloud restores it.
    of
        What it is a backup of, such as ``vol-0123456789abcdef0``.
    made, until
        When it was started, and when it expires; None if never.
    state
        The cloud's state, ``COMPLETED`` if it has all volumes.
    place
        Where the cloud keeps it, such as a vault.
    volumes
        The backups of volumes and file systems inside the backup of a cluster.
    """

    id: str
    of: str
    made: datetime
    until: datetime | None
    state: str
    place: str
    volumes: tuple["RecoveryPoint", ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it has all volumes."""
        return self.state == "COMPLETED"

    @override
    def __str__(self) -> str:
        """Return when it was made, what it is of, its state, and until when it is kept."""
        until = f"kept until {self.until:%Y-%m-%d}" if self.until else "kept for ever"
        return f"{self.made:%Y-%m-%d %H:%M} UTC  {self.of}  {self.state}  {until}"

    def as_json(self) -> dict[str, Any]:
        """Return its fields for scripts."""
        return {
            "id": self.id,
            "of": self.of,
            "made": self.made.isoformat(),
            "until": self.until.isoformat() if self.until else None,
            "state": self.state,
            "place": self.place,
            "volumes": [each.as_json() for each in self.volumes],
        }
