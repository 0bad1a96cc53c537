"""SP-03: functions avoid spot nodes by default."""

from collections.abc import Iterator
from dataclasses import dataclass

from components.contract.environments import Environment
from components.contract.mlrun import MlrunVariable
from components.contract.mlrun_choices import DEFAULT_PREEMPTION_MODE, PreemptionMode
from policies.resource import Resource
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.mlrun import MLRUN_SETTINGS, mlrun_settings
from policies.views.nuclio import nuclio_settings

_NUCLIO_MODE = ("preemptibleNodes", "defaultMode")


@dataclass(frozen=True, slots=True)
class _DefaultMode:
    where: str
    mode: str | None


def _default_modes(resource: Resource) -> Iterator[_DefaultMode]:
    for settings in mlrun_settings(resource):
        where = f"{settings.where}, {MlrunVariable.PREEMPTION_MODE},"
        yield _DefaultMode(where, settings.get(MlrunVariable.PREEMPTION_MODE))
    for nuclio in nuclio_settings(resource):
        mode = nuclio.kube.at(*_NUCLIO_MODE)
        yield _DefaultMode(f"{nuclio.where}, {mode.path},", mode.text())


def check(default: _DefaultMode, _: Context) -> Iterator[Finding]:
    """Require a mode that exists, and recommend the built-in default of both."""
    if default.mode and default.mode != DEFAULT_PREEMPTION_MODE:
        legal = default.mode in list(PreemptionMode)
        found = default.mode if legal else f"none of {', '.join(PreemptionMode)}"
        wish = "recommended" if legal else "expected"
        yield Finding(f"{default.where} is {found}; {wish} {DEFAULT_PREEMPTION_MODE}.", advice=legal)


RULE = Rule(
    id="SP-03",
    slug="default-mode-is-prevent",
    title="The default preemption mode of MLRun and Nuclio should be prevent",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, Preemption mode",
    applies_to=EachOf(noun="the settings of MLRun and Nuclio", types=MLRUN_SETTINGS.types, find=_default_modes),
    why="With another default, functions run on spot nodes and are interrupted, although their author chose neither.",
    fix=f"Set {DEFAULT_PREEMPTION_MODE} or remove the setting; functions that may run on spot nodes set their own "
    "mode.",
    check=check,
)
