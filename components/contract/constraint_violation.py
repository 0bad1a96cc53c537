"""Conflicts between a cluster and the rest of its stack file."""

from typing import NamedTuple


class Mismatch(NamedTuple):
    """One problem and its place in the stack file."""

    path: tuple[str | int, ...]
    """From what was judged on: the stack file's ``pools``, ``people``, ``storage`` or ``cluster``."""
    message: str
