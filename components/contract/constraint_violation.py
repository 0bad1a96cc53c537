"""Conflicts between a cluster and the rest of its stack file."""

from typing import NamedTuple


class Mismatch(NamedTuple):
    """One problem and its place in the stack file."""

    path: tuple[str | int, ...]
    """Path below the checked part: the stack file's ``pools``, ``people``, ``storage`` or ``cluster``."""
    message: str
