"""Runs the engine silently and returns its output, usually for a preview before a change."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.engine.session import Session
from workbench.system import temporary

PREVIEWS: Final = {
    "up": ("preview",),
    "destroy": ("destroy", "--preview-only", "--skip-preview=false"),
    "refresh": ("refresh", "--preview-only", "--skip-preview=false", "--run-program=false"),
}
"""The engine's preview command for each command.

The engine would fail with ``--preview-only`` if ``PULUMI_OPTION_SKIP_PREVIEW`` is set; callers who set that mean
previews before a change.
"""


@dataclass(frozen=True)
class Recorded:
    """A finished run of the engine.

    Parameters
    ----------
    code
        Exit code, as from ``Session.run``.
    display
        Its console output.
    events
        Its event stream; empty if it ended before writing one.
    """

    code: int
    display: str
    events: bytes


def recorded_preview(session: Session, command: str, *options: str) -> Recorded:
    """Return a preview of ``command``, one of ``PREVIEWS``; prompts for nothing and changes nothing."""
    return recorded(session, *PREVIEWS[command], *options)


def recorded(session: Session, *arguments: str) -> Recorded:
    """Run the engine without prompts and return its output."""
    with temporary.folder("run") as (folder, _):
        shown, events = Path(folder, "display"), Path(folder, "events.jsonl")
        with shown.open("wb") as display:
            code = session.run(*arguments, "--non-interactive", events=events, display=display)
        stream = events.read_bytes() if events.exists() else b""
        return Recorded(code, shown.read_text(errors="replace"), stream)
