"""Finds the inputs that a refresh shows, from what Azure said before and says now.

A program that leaves something to Azure wants no change because Azure chose. So the plug-in compares two answers, and
only what became another goes into the inputs; elements that a list has got more of go in whole. Source: ``applyDiff``
in diff.go.
"""

from collections.abc import Mapping
from typing import Any


def refreshed(given: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs with what changed between two answers.

    Parameters
    ----------
    given
        Inputs of the last deployment.
    before, now
        The answers, with the names of inputs.
    """
    kept = {name: value for name, value in given.items() if name in now or name not in before}
    changed = {name: value for name, value in now.items() if name not in before or before[name] != value}
    return {**kept, **{name: _renewed(given.get(name), before.get(name), value) for name, value in changed.items()}}


def _renewed(given: Any, before: Any, now: Any) -> Any:
    if isinstance(given, dict) and isinstance(before, dict) and isinstance(now, dict):
        return refreshed(given, before, now)
    if isinstance(given, list) and isinstance(before, list) and isinstance(now, list):
        both = min(len(given), len(before), len(now))
        return [*map(_renewed, given[:both], before[:both], now[:both]), *now[both:]]
    return now
