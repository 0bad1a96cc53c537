"""Durations of scenario files, such as ``90s``, ``5m``, ``2h`` or ``1h30m``."""

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

from infra.config.tree import KIND

_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DIGITS_MAX: Final = 9
_PATTERN: Final = r"([0-9]{1,9}d)?([0-9]{1,9}h)?([0-9]{1,9}m)?([0-9]{1,9}s)?"
LONGEST: Final = 31 * 86_400
"""Longest duration in seconds: a month."""


def parse_duration(text: object) -> int:
    """Return the seconds of ``text``.

    Raises
    ------
    ValueError
        ``text`` is not a duration, or is longer than a month.
    """
    is_number = type(text) is int and 0 <= text < 10**_DIGITS_MAX
    if is_number or (isinstance(text, str) and re.fullmatch(r"[0-9]{1,9}", text)):
        raise ValueError(f"needs a unit, such as {text}s or {text}m")
    if not isinstance(text, str) or not text or not re.fullmatch(_PATTERN, text):
        raise ValueError("must be a duration such as 90s, 5m or 1h30m: whole numbers of d, h, m and s in this order")
    seconds = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"([0-9]+)([dhms])", text))
    if seconds > LONGEST:
        raise ValueError("must not be longer than 31d")
    return seconds


def duration_text(seconds: float) -> str:
    """Return seconds as people write them: ``90s``, ``5m``, ``1h30m``; whole seconds."""
    left, parts = round(seconds), []
    for unit, size in _UNITS.items():
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _positive(text: object) -> int:
    if not (seconds := parse_duration(text)):
        raise ValueError("must be more than 0s")
    return seconds


_SCHEMA: Final = WithJsonSchema({"type": "string", "pattern": f"^(?=.){_PATTERN}$", KIND: "duration such as 5m"})
Moment = Annotated[int, BeforeValidator(parse_duration), _SCHEMA]
"""Seconds since the start of the scenario; ``0s`` is its start."""
Duration = Annotated[int, BeforeValidator(_positive), _SCHEMA]
"""Seconds, more than 0."""
