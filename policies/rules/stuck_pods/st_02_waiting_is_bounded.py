"""ST-02: a run that finds no node does not wait for ever where nodes are made on demand."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.mlrun import STATE_THRESHOLDS, threshold_variable
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts
from policies.views.thresholds import INFINITE

_STATE = "pending_not_scheduled"


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Demand a finite threshold; MLRun's own is infinite."""
    variable = threshold_variable(_STATE)
    given = settings.get(variable)
    if not given or given.strip('"') == INFINITE:
        found = "infinite" if given else "absent, which means infinite"
        yield Finding(f"{settings.where}, {variable}, is {found}, wanted a time such as {STATE_THRESHOLDS[_STATE]}.")


RULE = Rule(
    id="ST-02",
    slug="waiting-is-bounded",
    title="In production, runs wait for a node for a limited time",
    severity=Severity.LOW,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="MLRun job resources, Preventing stuck pods",
    applies_to=MLRUN_SETTINGS,
    why="Where pools grow by themselves, work that finds no node asks for something that does not exist.",
    fix=f"Set {threshold_variable(_STATE)} to the longest wait that makes sense.",
    check=check,
)
