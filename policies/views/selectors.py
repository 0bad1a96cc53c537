"""Matching of label selectors."""

from collections.abc import Callable, Mapping
from typing import Final

from policies.values import NotJudgeableError, Value, some


def selects(selector: Value, labels: Value) -> bool:
    """Return whether the selector matches ``labels``. An empty selector matches everything, an absent one nothing.

    Raises
    ------
    NotJudgeableError
        If no part of the selector certainly excludes the object, and one part cannot be known.
    """
    if selector.is_absent:
        return False
    wanted = selector.at("matchLabels")
    excluded: list[Callable[[], bool]] = [
        *(lambda key=key, value=value: labels.at(key).text() != value.text() for key, value in wanted.items()),
        *(lambda entry=entry: not _fits(entry, labels) for entry in selector.at("matchExpressions").elements()),
    ]
    return not some(excluded, lambda is_excluded: is_excluded())


def selects_everything(selector: Value) -> bool:
    """Return whether the selector has no condition; if a spec requires a selector, an absent one counts as well."""
    return not selector.at("matchLabels").keys() and not selector.at("matchExpressions").elements()


_OPERATORS: Final[Mapping[str, Callable[[str | None, tuple[str | None, ...]], bool]]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


def fits(found: str | None, operator: Value, values: Value) -> bool:
    """Return whether the value of a label, None without the label, satisfies ``operator`` and ``values``."""
    test = operator.choice(_OPERATORS)
    if test is None:
        raise NotJudgeableError(operator.path, "is not set")
    return test(found, tuple(value.text() for value in values.elements()))


def _fits(entry: Value, labels: Value) -> bool:
    key = entry.at("key").text()
    if key is None:
        raise NotJudgeableError(entry.path, "names no key")
    return fits(labels.at(key).text(), entry.at("operator"), entry.at("values"))
