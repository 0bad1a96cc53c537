"""Limits on how long a run may stay in a state before MLRun aborts it, in MLRun's own notation."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from components.contract.mlrun import STATE_THRESHOLD_PREFIX
from policies.views.mlrun import MlrunSettingsFacts

INFINITE: Final = "-1"

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_UNITS: Final = r"seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w"
_PAIR: Final = re.compile(rf"(?P<number>\d+(\.\d+)?)\s*(?P<unit>{_UNITS})(?![a-z])", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"(\s|,|\band\b)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Threshold:
    """One threshold in MLRun's settings."""

    variable: str
    given: str

    @property
    def text(self) -> str | None:
        """The value as MLRun parses it: JSON first, so a bare number is not text."""
        try:
            decoded = json.loads(self.given)
        except ValueError:
            return self.given
        return decoded if isinstance(decoded, str) else None


def thresholds(settings: MlrunSettingsFacts) -> Iterator[Threshold]:
    """Return the thresholds that are set, including those of unknown states."""
    for variable in settings.variables():
        if variable.startswith(STATE_THRESHOLD_PREFIX):
            yield Threshold(variable, settings.get(variable) or "")


def parse_duration(text: str) -> timedelta:
    """Return the sum of pairs of value and unit, such as ``1h 30m`` or ``1 minute and 30s``.

    Raises
    ------
    ValueError
        If ``text`` contains no pair, or anything besides pairs.
    """
    pairs = list(_PAIR.finditer(text))
    if not pairs or not _BETWEEN.fullmatch(_PAIR.sub(" ", text)):
        raise ValueError("must be a duration such as 1h 30m")
    return timedelta(seconds=sum(float(pair["number"]) * _SECONDS[pair["unit"][0].lower()] for pair in pairs))
