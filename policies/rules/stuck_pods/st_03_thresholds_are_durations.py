"""ST-03: MLRun understands its thresholds."""

from collections.abc import Iterator
from datetime import timedelta

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts
from policies.views.thresholds import INFINITE, Threshold, parse_duration, thresholds

_LEAST = timedelta(minutes=1)


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Demand pairs of value and unit of a minute or more, or a quoted -1."""
    for threshold in thresholds(settings):
        if problem := _problem(threshold):
            yield Finding(f"{settings.where}, {threshold.variable}, {problem}.")


def _problem(threshold: Threshold) -> str | None:
    text = threshold.text
    if text is None:
        return f'is a number to MLRun, wanted a unit, or "{INFINITE}" with the quotes inside'
    if text == INFINITE:
        return None
    try:
        return None if parse_duration(text) >= _LEAST else "is less than a minute, wanted a minute or more"
    except ValueError as problem:
        return f"{problem}"


RULE = Rule(
    id="ST-03",
    slug="thresholds-are-durations",
    title="MLRun's thresholds are times of a minute or more",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Preventing stuck pods",
    applies_to=MLRUN_SETTINGS,
    why="MLRun refuses a run whose threshold it cannot read, and would do so to every run here.",
    fix=f'Write values and units, such as 30m or 1h 30m; for no limit "{INFINITE}" with the quotes inside the value.',
    check=check,
)
