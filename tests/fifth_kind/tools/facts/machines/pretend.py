"""Figures of the pretended cloud."""

from pathlib import Path

from tools.facts.machines import Figures, Row

COMMON = ("p8",)


def read(_: Path | None) -> Figures:
    """Return the figures of its types."""
    return Figures({"pretend": "1"}, {"p8": Row("p8", 8, 32768, "amd64")})
