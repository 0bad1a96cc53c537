"""Figures of the pretended cloud."""

from pathlib import Path

from tools.facts.machines import Figures, Row


def wanted() -> list[str]:
    """Return the wanted types."""
    return ["p8"]


def read(_: Path | None) -> Figures:
    """Return their figures."""
    return Figures({"pretend": "1"}, {"p8": Row("p8", 8, 32768, "amd64", 0, "", 0)})
