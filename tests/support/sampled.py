"""Which of a test's cases a command runs, and which only a longer one."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sampled(names: Iterable[str], kept: Collection[str], others: pytest.MarkDecorator = pytest.mark.full) -> list[Any]:
    """Return the parameters of a test: those that are not ``kept`` get a marker.

    Parameters
    ----------
    names
        All cases, which are their own ids.
    kept
        Those that run without the command of the marker, too. Each must be among the names.
    others
        The marker of the others; `make test-all` runs those of ``full``, `make proofs` those of ``proofs``.
    """
    cases = list(names)
    assert set(kept) <= set(cases), set(kept) - set(cases)
    return [pytest.param(name, id=name, marks=[] if name in kept else others) for name in cases]
