"""ST-01: for each way of being stuck it is decided when a run is aborted."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.mlrun import STATE_THRESHOLD_PREFIX, STATE_THRESHOLDS, threshold_variable
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Demand a threshold for each state, and none for a state that does not exist."""
    wanted = [threshold_variable(state) for state in STATE_THRESHOLDS]
    given = [variable for variable in settings.variables() if variable.startswith(STATE_THRESHOLD_PREFIX)]
    if unread := [variable for variable in given if variable not in wanted]:
        yield Finding(
            f"{settings.where} sets {', '.join(unread)}, wanted only states of {', '.join(STATE_THRESHOLDS)}."
        )
    if missing := [variable for variable in wanted if variable not in given and settings.get(variable) is None]:
        yield Finding(f"{settings.where} does not set {', '.join(missing)}, wanted all {len(wanted)} thresholds.")


RULE = Rule(
    id="ST-01",
    slug="thresholds-are-set",
    title="MLRun has a threshold for each state in which a run can be stuck",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, Preventing stuck pods (which calls the state executing by another name)",
    applies_to=MLRUN_SETTINGS,
    why="A stuck run holds its resources for ever; a threshold of a state that MLRun does not know ends nothing.",
    fix=f"Set {STATE_THRESHOLD_PREFIX}<STATE> for {', '.join(STATE_THRESHOLDS)}, and for no other.",
    check=check,
)
