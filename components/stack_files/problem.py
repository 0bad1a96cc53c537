"""Problems in a hand-written file: what is wrong, where, what is allowed and what to do."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from typing_extensions import override

CONFIG_KEY: Final = "igz-clusters:stack"
"""Key of the stack file that contains all of our settings."""

KeyPath = tuple[int | str, ...]

_TEXT_MAX: Final = 60
_MESSAGE_MAX: Final = 300
LISTED_MAX: Final = 12
"""Maximum number of allowed values that a message lists."""

_DIGITS_MAX: Final = 18
_NEAR: Final = 0.7
_BEGUN_MIN: Final = 3
_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_LOGIN: Final = re.compile(r"^(?!.*@sha256:)([a-z]*:/+)?.*:.*@", re.DOTALL)
"""Beginning of an address with a login. The password may contain a slash, and the address may be mistyped."""


@dataclass(frozen=True)
class Problem:
    """One problem. Its text is one printable line of bounded length, whatever the input."""

    path: KeyPath | None
    """Its keys and indexes, below ``CONFIG_KEY``; None for a problem of the whole file."""
    message: str
    """What is wrong and what to do."""
    given: str | None = None
    """The invalid value in printable form; None if showing it would not help or is not allowed."""
    allowed: tuple[str, ...] = ()
    """Values, keys or ranges that would be valid."""
    line: int | None = None
    """Line of the file, from 1; None where only the value is known."""
    column: int | None = None
    file: str | None = None
    """The file of the line, such as a base, if it is not the one that was read."""

    @property
    def place(self) -> str:
        """File and line in front of the text, ``Base.acme.yaml:7: ``; empty if the file is the one that was read."""
        line = f":{self.line}" if self.line else ""
        return f"{self.file}{line}: " if self.file else ""

    @override
    def __str__(self) -> str:
        """Return path, message, value and allowed values, without the line."""
        more = [f"given: {self.given}"] if self.given is not None else []
        if self.allowed:
            rest = len(self.allowed) - LISTED_MAX
            values = ", ".join(printable(value) for value in self.allowed[:LISTED_MAX])
            more.append(f"allowed: {values}" + (f" and {rest} more" if rest > 0 else ""))
        where = "" if self.path is None else f"{path_text(self.path)}: "
        extra = f" ({'; '.join(more)})" if more else ""
        return f"{where}{printable(self.message, _MESSAGE_MAX)}{extra}"


def path_text(path: KeyPath) -> str:
    """Return a path as people write it: ``pools.gpu.instanceTypes[0]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{shown(part)}]"
        elif _PLAIN_KEY.fullmatch(part) and len(part) <= _TEXT_MAX:
            text += f".{part}"
        else:
            text += f"[{shown(part)}]"
    return text.removeprefix(".") or CONFIG_KEY


def shown(value: Any) -> str:
    """Return a value in one short printable line, without the contents of mappings and lists, which may be secret."""
    if isinstance(value, str):
        return _shown_text(value)
    if isinstance(value, Mapping | BaseModel):
        return "a mapping"
    if isinstance(value, list | tuple | set):
        return "a list"
    if isinstance(value, bool | None):
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int) and abs(value) >= 10**_DIGITS_MAX:
        return f"a number of more than {_DIGITS_MAX} digits"
    return printable(str(value))


def _shown_text(text: str) -> str:
    """Return the beginning of a text in quotes, without a login in an address and without a private key."""
    if "PRIVATE KEY" in text:
        return "a private key"
    rest = f"... ({len(text)} characters)" if len(text) > _TEXT_MAX else ""
    return repr(_LOGIN.sub(r"\g<1>...@", text)[:_TEXT_MAX]) + rest


def printable(text: str, limit: int = _TEXT_MAX) -> str:
    """Return a text with control and invisible characters escaped, shortened to ``limit`` characters."""
    escaped = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: limit + 1])
    return escaped if len(escaped) <= limit else f"{escaped[:limit]}..."


def nearest(text: Any, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, ignoring case; None if none is similar."""
    by_lower = {word.lower(): word for word in known}
    if not isinstance(text, str) or len(text) > _TEXT_MAX:
        return None
    lower = text.lower()
    begun = [word for word in by_lower if len(word) >= _BEGUN_MIN and lower.startswith(word)]  # such as maximum
    near = difflib.get_close_matches(lower, by_lower, n=1, cutoff=_NEAR) or begun
    return by_lower[near[0]] if near else None


def did_you_mean(text: Any, known: Iterable[str]) -> str:
    """Return a did-you-mean question for the end of a message; empty without a suggestion."""
    match = nearest(text, known)
    return f", did you mean '{match}'?" if match else ""
