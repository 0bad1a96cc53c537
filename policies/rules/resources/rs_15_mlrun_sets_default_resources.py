"""RS-15: MLRun sets default resources for functions."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.mlrun import default_resource_variable
from components.contract.pod_resources import EXPECTED
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Require default CPU and memory requests and a default memory limit."""
    for side, name in EXPECTED:
        variable = default_resource_variable(side, name)
        if not settings.get(variable):
            yield Finding(f"{settings.where} does not set {variable}; expected a quantity.")


RULE = Rule(
    id="RS-15",
    slug="mlrun-sets-default-resources",
    title="MLRun must have default resources for functions",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, CPU, GPU, and memory limits for user jobs",
    applies_to=MLRUN_SETTINGS,
    why="MLRun's built-in defaults are empty, so a function without resources would run without any.",
    fix="Set the variable; see components/contract/mlrun.py.",
    check=check,
)
