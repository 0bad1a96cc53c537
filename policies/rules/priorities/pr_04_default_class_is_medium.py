"""PR-04: MLRun and Nuclio default to the medium class; the cluster has no default class."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.mlrun import MlrunVariable
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.mlrun import MLRUN_SETTINGS, MlrunSettingsFacts, mlrun_settings
from policies.views.nuclio import nuclio_settings
from policies.views.priority_classes import PRIORITY_CLASSES, is_priority_class

_NUCLIO_DEFAULT = "defaultFunctionPriorityClassName"


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require the class in both, in MLRun also the list of valid classes, and reject a global default."""
    for settings in mlrun_settings(resource):
        yield from _mlrun(settings)
    for nuclio in nuclio_settings(resource):
        if nuclio.kube.at(_NUCLIO_DEFAULT).text() != DEFAULT_USER_PRIORITY:
            yield Finding(f"{nuclio.where} does not set kube.{_NUCLIO_DEFAULT} to {DEFAULT_USER_PRIORITY}.")
    if is_priority_class(resource) and resource.props.at("globalDefault").flag():
        yield Finding(f"PriorityClass '{resource.name}' is the global default; expected none.")


def _mlrun(settings: MlrunSettingsFacts) -> Iterator[Finding]:
    if settings.get(MlrunVariable.DEFAULT_CLASS) != DEFAULT_USER_PRIORITY:
        yield _other(settings, MlrunVariable.DEFAULT_CLASS, DEFAULT_USER_PRIORITY)
    names = (settings.get(MlrunVariable.VALID_CLASSES) or "").split(",")
    if DEFAULT_USER_PRIORITY not in names or not set(names) <= set(UserPriority):
        yield _other(settings, MlrunVariable.VALID_CLASSES, f"{','.join(UserPriority)} (no spaces)")


def _other(settings: MlrunSettingsFacts, variable: MlrunVariable, wanted: str) -> Finding:
    found = "does not set" if settings.get(variable) is None else "has another value of"
    return Finding(f"{settings.where} {found} {variable}; expected {wanted}.")


RULE = Rule(
    id="PR-04",
    slug="default-class-is-medium",
    title="MLRun and Nuclio must default to the medium class, without a global default",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Pod Priorities",
    applies_to=resources_of(
        "the settings of MLRun and Nuclio, and each priority class",
        MLRUN_SETTINGS.types.pattern,
        PRIORITY_CLASSES,
    ),
    why="MLRun and Nuclio set no class by default, and a global default would also apply to core services.",
    fix=f"Set {MlrunVariable.DEFAULT_CLASS} and kube.{_NUCLIO_DEFAULT} to {DEFAULT_USER_PRIORITY}; remove "
    "globalDefault.",
    check=check,
)
