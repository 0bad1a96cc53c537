"""Reads a resource's properties and distinguishes a value, an absent value and an unknown value."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from typing import Final, TypeVar

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


class Value:
    """One place in a resource's properties; reading it raises ``NotJudgeableError`` if it cannot be known."""

    def __init__(self, raw: object, path: str = "") -> None:
        self._raw = raw
        self.path = path

    def at(self, *keys: str) -> "Value":
        """Return the value under ``keys``, one level of maps each."""
        value = self
        for key in keys:
            value = Value((value._read(dict, "map") or {}).get(key), _join(value.path, key))
        return value

    @property
    def is_absent(self) -> bool:
        """Whether the value is absent. An unknown value is not absent."""
        return self._raw is None

    @property
    def is_unknown(self) -> bool:
        """Whether the value is unknown in a preview."""
        return self._raw is UNKNOWN

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
        if text is None or text in options:
            return None if text is None else options[text]
        raise NotJudgeableError(self.path, f"is not one of {', '.join(options)}")

    def flag(self) -> bool | None:
        """Return the boolean at this place; None if absent."""
        return self._read(bool, "boolean")

    def integer(self) -> int | None:
        """Return the whole number at this place; None if absent.

        The engine sends every number as a float, and annotations contain numbers as text.
        """
        if self._raw is None:
            return None
        raw = self._read(object, "value")
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
        return ((key, self.at(key)) for key in self.keys())

    def _read(self, kind: type[T], noun: str) -> T | None:
        if self._raw is UNKNOWN:
            raise NotJudgeableError(self.path)
        if self._raw is None or isinstance(self._raw, kind):
            return self._raw
        raise NotJudgeableError(self.path, f"is no {noun}")


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
