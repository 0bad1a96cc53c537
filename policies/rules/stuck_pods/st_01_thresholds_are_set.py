"""ST-01: MLRun has a threshold for every state in which a run can be stuck."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.mlrun import STATE_THRESHOLD_PREFIX, threshold_variable
from components.contract.mlrun_choices import STATE_THRESHOLDS
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Require a threshold for each state, and none for unknown states."""
    wanted = [threshold_variable(state) for state in STATE_THRESHOLDS]
    given = [variable for variable in settings.variables() if variable.startswith(STATE_THRESHOLD_PREFIX)]
    if unread := [variable for variable in given if variable not in wanted]:
        yield Finding(
            f"{settings.where} sets {', '.join(unread)}; expected only the states {', '.join(STATE_THRESHOLDS)}."
        )
    for variable in wanted:
        if variable not in given and settings.get(variable) is None:
            yield Finding(f"{settings.where} does not set {variable}; expected all {len(wanted)} thresholds.")


RULE = Rule(
    id="ST-01",
    slug="thresholds-are-set",
    title="MLRun must have a threshold for every state in which a run can be stuck",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, Preventing stuck pods (which calls the state executing by another name)",
    applies_to=MLRUN_SETTINGS,
    why="A stuck run holds its resources forever, and a threshold for an unknown state has no effect.",
    fix=f"Set {STATE_THRESHOLD_PREFIX}<STATE> for {', '.join(STATE_THRESHOLDS)}, and for no other state.",
    check=check,
)
