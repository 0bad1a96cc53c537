"""RS-15: MLRun gives resources to functions whose author named none."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.mlrun import default_resource_variable
from components.contract.pod_resources import EXPECTED
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts


def check(settings: MlrunSettingsFacts, _: Context) -> Iterator[Finding]:
    """Demand default requests for CPU and memory and a default limit for memory."""
    for side, name in EXPECTED:
        variable = default_resource_variable(side, name)
        if not settings.get(variable):
            yield Finding(f"{settings.where} does not set {variable}, wanted a quantity.")


RULE = Rule(
    id="RS-15",
    slug="mlrun-sets-default-resources",
    title="MLRun is told default resources of functions",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, CPU, GPU, and memory limits for user jobs",
    applies_to=MLRUN_SETTINGS,
    why="MLRun's own defaults are empty: a function without resources of its own would run without any.",
    fix="Set the variable, as components/contract/mlrun.py does.",
    check=check,
)
