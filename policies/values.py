"""Reads a resource's properties and distinguishes a value, an absent value and an unknown value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias, TypeVar

from typing_extensions import override

from components.contract.quantities import parse_quantity

S = TypeVar("S")
T = TypeVar("T")


class Unknown(Enum):
    """The type of ``UNKNOWN``."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
"""Marks a value that is unknown in a preview. An absent value is ``None``."""


class NotJudgeableError(Exception):
    """A rule needed a value that is unknown or malformed.

    The value itself is never part of the message: it may be a secret.
    """

    def __init__(self, path: str, reason: str = "is not known yet") -> None:
        super().__init__(f"{path or 'the resource'} {reason}")


class _Anything(str):
    """A text that equals every other. Sets and maps cannot find it: it has one hash."""

    __slots__ = ()
    __hash__ = str.__hash__

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    @override
    def __ne__(self, other: object) -> bool:
        return not self == other


@dataclass(frozen=True, slots=True)
class Assumed:
    """A value that an absent place might have, with anything inside."""

    text: str
    flag: bool
    number: str | float

    def read(self, kind: type[Any]) -> Any:
        """Return it as text, flag, map, list or, for any other ``kind``, as number."""
        forms = {str: self.text, bool: self.flag, dict: {self.text: self}, list: [self]}
        return forms.get(kind, self.number)


ASSUMED: Final = (Assumed(_Anything("?"), flag=True, number=7), Assumed("?", flag=False, number=0))
"""Two values that have nothing in common; the text of the first equals every other."""

Filling: TypeAlias = Callable[[str], Assumed | None]
"""Returns the value to assume for an absent place, by its path; None if it stays absent."""

_FILLING: Final[ContextVar[Filling | None]] = ContextVar("filling", default=None)


@contextmanager
def absent_as(filling: Filling | None) -> Iterator[None]:
    """Let rules read what ``filling`` returns where a value is absent."""
    token = _FILLING.set(filling)
    try:
        yield
    finally:
        _FILLING.reset(token)


class Value:
    """One place in a resource's properties; reading it raises ``NotJudgeableError`` if it cannot be known."""

    def __init__(self, raw: object, path: str = "") -> None:
        self._raw = raw
        self.path = path

    def at(self, *keys: str) -> "Value":
        """Return the value under ``keys``, one level of maps each."""
        value = self
        for key in keys:
            value = Value(value._entry(key), _join(value.path, key))
        return value

    @property
    def is_absent(self) -> bool:
        """Whether the value is absent. An unknown value is not absent."""
        return self._given() is None

    @property
    def is_unknown(self) -> bool:
        """Whether the value is unknown in a preview."""
        return self._given() is UNKNOWN

    @property
    def raw(self) -> object:
        """The raw value, including ``UNKNOWN`` and None, for views that pass it on."""
        return self._raw

    def text(self) -> str | None:
        """Return the text at this place; None if absent."""
        return self._read(str, "text")

    def choice(self, options: Mapping[str, T]) -> T | None:
        """Return the enum member for the text at this place; None if absent."""
        text = self.text()
        if isinstance(text, _Anything):
            return next(iter(options.values()))
        if text is None or text in options:
            return None if text is None else options[text]
        raise NotJudgeableError(self.path, f"is not one of {', '.join(options)}")

    def matches(self, pattern: str) -> bool:
        """Return whether the text at this place starts with ``pattern``; an absent one counts as empty."""
        text = self.text()
        return isinstance(text, _Anything) or re.match(pattern, text or "") is not None

    def flag(self) -> bool | None:
        """Return the boolean at this place; None if absent."""
        return self._read(bool, "boolean")

    def integer(self) -> int | None:
        """Return the whole number at this place; None if absent.

        The engine sends every number as a float, and annotations contain numbers as text.
        """
        raw = self._read(object, "value")
        if raw is None:
            return None
        if isinstance(raw, str) and raw.isascii() and raw.isdigit():
            return int(raw)
        if isinstance(raw, int | float) and not isinstance(raw, bool) and float(raw).is_integer():
            return int(raw)
        raise NotJudgeableError(self.path, "is not a whole number")

    def quantity_text(self) -> str | None:
        """Return the Kubernetes quantity at this place as it is spelled, possibly as a plain number; None if absent."""
        raw = self._read(object, "value")
        if raw is None or isinstance(raw, str):
            return raw
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            return str(int(raw)) if float(raw).is_integer() else str(raw)
        raise NotJudgeableError(self.path, "is not a quantity")

    def quantity(self) -> Decimal | None:
        """Return the amount of the Kubernetes quantity at this place; None if absent. RS-02 reports malformed ones."""
        text = self.quantity_text()
        try:
            return None if text is None else parse_quantity(text)
        except ValueError:
            raise NotJudgeableError(self.path, "is not a quantity") from None

    def elements(self) -> tuple["Value", ...]:
        """Return the elements of the list at this place; none if absent."""
        elements = self._read(list, "list") or []
        return tuple(Value(element, f"{self.path}[{index}]") for index, element in enumerate(elements))

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the map at this place; none if absent."""
        return tuple(self._read(dict, "map") or {})

    def items(self) -> Iterator[tuple[str, "Value"]]:
        """Return the keys of the map at this place, each with its value; none if absent."""
        given = Value(self._given(), self.path)
        return ((key, given.at(key)) for key in self.keys())

    def _entry(self, key: str) -> object:
        if self._raw is None or isinstance(self._raw, Assumed):
            return self._raw
        return (self._read(dict, "map") or {}).get(key)

    def _given(self) -> object:
        filling = _FILLING.get() if self._raw is None else None
        return filling(self.path) if filling else self._raw

    def _read(self, kind: type[T], noun: str) -> T | None:
        raw = self._given()
        if raw is UNKNOWN:
            raise NotJudgeableError(self.path)
        if isinstance(raw, Assumed):
            raw = raw.read(kind)
        if raw is None or isinstance(raw, kind):
            return raw
        raise NotJudgeableError(self.path, f"is not a {noun}")


def _join(path: str, key: str) -> str:
    # Label keys hold dots, so they are quoted to keep the path readable.
    part = f'["{key}"]' if "." in key else key
    return f"{path}.{part}" if path and not part.startswith("[") else f"{path}{part}"


def some(candidates: Iterable[T], test: Callable[[T], bool]) -> bool:
    """Return whether ``test`` holds for one of ``candidates``, as far as that can be known.

    One candidate that passes is enough, even if others are unknown; False needs every candidate.

    Raises
    ------
    NotJudgeableError
        If no candidate passes and at least one cannot be judged.
    """
    doubt: NotJudgeableError | None = None
    for candidate in candidates:
        try:
            if test(candidate):
                return True
        except NotJudgeableError as problem:
            doubt = doubt or problem
    if doubt:
        raise doubt
    return False


def are_among(texts: Iterable[str], allowed: Iterable[str]) -> bool:
    """Return whether each of ``texts`` is one of ``allowed``; unlike ``in``, also for a text that equals any other."""
    known = tuple(allowed)
    # The text is on the left because its comparison must decide; an enumeration's member would not be equal.
    return all(any(text == each for each in known) for text in texts)


def each(things: Iterable[S], read: Callable[[S], Iterable[T]]) -> Iterator[T]:
    """Return all that ``read`` finds in ``things``; the others are still read if one cannot be judged.

    Raises
    ------
    NotJudgeableError
        After everything else was returned, if something could not be judged.
    """
    doubt: NotJudgeableError | None = None
    for thing in things:
        try:
            yield from read(thing)
        except NotJudgeableError as problem:
            doubt = doubt or problem
    if doubt:
        raise doubt
