"""ST-03: MLRun can parse its thresholds."""

from collections.abc import Iterator
from datetime import timedelta

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts
from policies.views.thresholds import INFINITE, Threshold, parse_duration, thresholds

_LEAST = timedelta(minutes=1)


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Require values with units of at least a minute, or a quoted -1."""
    for threshold in thresholds(settings):
        if problem := _problem(threshold):
            yield Finding(f"{settings.where}, {threshold.variable}, {problem}.")


def _problem(threshold: Threshold) -> str | None:
    text = threshold.text
    if text is None:
        return f'is a number to MLRun; expected a unit, or "{INFINITE}" with the quotes inside'
    if text == INFINITE:
        return None
    try:
        return None if parse_duration(text) >= _LEAST else "is less than a minute; expected at least a minute"
    except ValueError as problem:
        return f"{problem}"


RULE = Rule(
    id="ST-03",
    slug="thresholds-are-durations",
    title="MLRun's thresholds must be durations of at least a minute",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Preventing stuck pods",
    applies_to=MLRUN_SETTINGS,
    why="MLRun rejects every run if it cannot parse a threshold.",
    fix=f'Use values with units, such as 30m or 1h 30m; for no limit use "{INFINITE}" with the quotes in the value.',
    check=check,
)
