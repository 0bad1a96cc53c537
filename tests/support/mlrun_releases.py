"""Releases of MLRun that the tests run, each in an environment of its own."""

from pathlib import Path
from typing import Final

from workbench.system.virtual_environments import interpreter

NEWEST: Final = "1.12.1"
RELEASES: Final = {NEWEST: "mlrun", "1.10.4": "mlrun-1.10", "1.8.0": "mlrun-1.8"}
"""Names of the requirement files."""
ENDS: Final = (NEWEST, "1.8.0")
"""The newest and the oldest line; `make proofs` also runs the one between them, which says what one of them says."""


def python_of(release: str) -> Path:
    """Return the interpreter with a release; it is installed on first use."""
    return interpreter(Path(__file__).parent.parent / "platform" / f"{RELEASES[release]}-requirements.txt")
