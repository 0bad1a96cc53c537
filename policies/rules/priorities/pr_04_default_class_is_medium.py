"""PR-04: work that names no class is medium, because MLRun and Nuclio say so; Kubernetes itself has no default."""

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
    """Demand the class from both, in MLRun also the list that admits it, and no class of whoever names none."""
    for settings in mlrun_settings(resource):
        yield from _mlrun(settings)
    for nuclio in nuclio_settings(resource):
        if nuclio.kube.at(_NUCLIO_DEFAULT).text() != DEFAULT_USER_PRIORITY:
            yield Finding(f"{nuclio.where} has no or another kube.{_NUCLIO_DEFAULT}, wanted {DEFAULT_USER_PRIORITY}.")
    if is_priority_class(resource) and resource.props.at("globalDefault").flag():
        yield Finding(f"PriorityClass '{resource.name}' is the global default, wanted none.")


def _mlrun(settings: MlrunSettingsFacts) -> Iterator[Finding]:
    if settings.get(MlrunVariable.DEFAULT_CLASS) != DEFAULT_USER_PRIORITY:
        yield Finding(
            f"{settings.where} has no or another {MlrunVariable.DEFAULT_CLASS}, wanted {DEFAULT_USER_PRIORITY}."
        )
    names = (settings.get(MlrunVariable.VALID_CLASSES) or "").split(",")
    if DEFAULT_USER_PRIORITY not in names or not set(names) <= set(UserPriority):
        wanted = ",".join(UserPriority)
        yield Finding(f"{settings.where} has {MlrunVariable.VALID_CLASSES} other than {wanted}, without blanks.")


RULE = Rule(
    id="PR-04",
    slug="default-class-is-medium",
    title="MLRun and Nuclio give the medium class by default, and the cluster gives none",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Pod Priorities",
    applies_to=resources_of(
        "what MLRun and Nuclio are told, and each priority class",
        MLRUN_SETTINGS.types.pattern,
        PRIORITY_CLASSES,
    ),
    why="MLRun and Nuclio give no class at all unless told; a global default would reach core services too.",
    fix=f"Name {DEFAULT_USER_PRIORITY} in {MlrunVariable.DEFAULT_CLASS} and kube.{_NUCLIO_DEFAULT}; no globalDefault.",
    check=check,
)
