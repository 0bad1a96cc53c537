"""Runs of the engine that nobody watches, for what they say: most often a preview, about the change that follows it."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from workbench.engine.session import Session

PREVIEWS: Final = {
    "up": ("preview",),
    "destroy": ("destroy", "--preview-only"),
    "refresh": ("refresh", "--preview-only", "--run-program=false"),
}
"""The engine's command that plans another one."""


@dataclass(frozen=True)
class Recorded:
    """A run of the engine that is over.

    Parameters
    ----------
    code
        Its exit code, as ``Session.run`` returns it.
    display
        What it would have shown.
    events
        Its event stream; empty if it did not come to writing one.
    """

    code: int
    display: str
    events: bytes


def recorded_preview(session: Session, command: str, *options: str) -> Recorded:
    """Plan ``command``, one of ``PREVIEWS``, and return what the engine said. It asks nothing and changes nothing."""
    return recorded(session, *PREVIEWS[command], *options)


def recorded(session: Session, *arguments: str) -> Recorded:
    """Run the engine and return what it said. It asks nothing."""
    with TemporaryDirectory(prefix="igz-clusters-run-") as folder:
        shown, events = Path(folder, "display"), Path(folder, "events.jsonl")
        with shown.open("wb") as display:
            code = session.run(*arguments, "--non-interactive", events=events, display=display)
        stream = events.read_bytes() if events.exists() else b""
        return Recorded(code, shown.read_text(errors="replace"), stream)
