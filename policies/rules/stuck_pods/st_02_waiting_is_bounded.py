"""ST-02: in production, runs do not wait for a node forever."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.mlrun import threshold_variable
from components.contract.mlrun_choices import STATE_THRESHOLDS
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts
from policies.views.thresholds import INFINITE

_STATE = "pending_not_scheduled"


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Require a finite threshold; MLRun's default is infinite."""
    variable = threshold_variable(_STATE)
    given = settings.get(variable)
    if not given or given.strip('"') == INFINITE:
        found = "infinite" if given else "absent, which means infinite"
        yield Finding(f"{settings.where}, {variable}, is {found}; expected a time such as {STATE_THRESHOLDS[_STATE]}.")


RULE = Rule(
    id="ST-02",
    slug="waiting-is-bounded",
    title="In production, runs should not wait for a node forever",
    severity=Severity.LOW,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="MLRun job resources, Preventing stuck pods",
    applies_to=MLRUN_SETTINGS,
    why="Elastic pools add nodes within minutes, so a run that still waits requests something that no pool offers.",
    fix=f"Set {threshold_variable(_STATE)} to the longest acceptable wait.",
    check=check,
)
