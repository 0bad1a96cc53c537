"""The part of a file that is replayed, and the moments in it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from typing_extensions import override

from workbench.system.errors import UserError, all_of


def moment_of(text: object) -> float | None:
    """Return the seconds since 1970 of a time such as ``2026-03-02T08:00:00Z``; UTC if it has no zone.

    None if ``text`` is not such a time.
    """
    if not isinstance(text, str) or len(text) < len("2026-03-02T08:00"):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def moment_text(moment: float) -> str:
    """Return seconds since 1970 as RFC 3339 writes them: ``2026-03-02T08:00:00Z``."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Part:
    """A part of the time that a file covers.

    Parameters
    ----------
    start
        Its first second since 1970. Default: the file's first. Pods that run at that moment arrive at once.
    end
        Its last second. Default: the file's last.
    """

    start: float | None = None
    end: float | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise UserError(
                f"The part to replay starts at {moment_text(self.start)} and ends at {moment_text(self.end)}.",
                "Give a start that is before the end.",
            )

    @override
    def __str__(self) -> str:
        """Return it in words, such as ``from 2026-03-02T08:00:00Z``; ``all`` for the whole file."""
        words = (("from", self.start), ("to", self.end))
        return " ".join(f"{word} {moment_text(each)}" for word, each in words if each is not None) or "all"


def between(start: str | None, end: str | None) -> Part:
    """Return the part between two times of RFC 3339, each of which may be left out.

    Raises
    ------
    UserError
        One is not a time with a zone, or the start is not before the end.
    """
    return Part(*all_of(partial(_bound, "--from", start), partial(_bound, "--to", end)))


def _bound(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    moment = moment_of(text)
    if moment is None or not (text.endswith(("Z", "z")) or "+" in text or text.count("-") > 2):  # noqa: PLR2004
        raise UserError(
            f"{option}: must be a time with its zone, as RFC 3339 writes it.", "Write it as 2026-03-02T08:00:00Z."
        )
    return moment
