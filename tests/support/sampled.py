"""Which of a test's cases `make test` runs; `make test-all` runs them all."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sampled(names: Iterable[str], kept: Collection[str]) -> list[Any]:
    """Return the parameters of a test: those that are not ``kept`` get the marker ``full``.

    Parameters
    ----------
    names
        All cases, which are their own ids.
    kept
        Those that `make test` runs too. Each must be among the names.
    """
    cases = list(names)
    assert set(kept) <= set(cases), set(kept) - set(cases)
    return [pytest.param(name, id=name, marks=[] if name in kept else pytest.mark.full) for name in cases]
