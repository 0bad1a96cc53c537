"""PR-07: services set a priority class."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from components.contract.environments import Environment
from components.contract.priorities import SystemPriority, UserPriority
from policies.resource import Resource
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.values import Value
from policies.views.jupyter import APP_SERVICES, app_services
from policies.views.pods import pods
from policies.views.type_tokens import SERVICES

_KINDS_WITH_A_CLASS = ("grafana", "jupyter", "mlrun", "nuclio", "presto", "shell")
"""Services of the full platform with a configurable class."""


@dataclass(frozen=True, slots=True)
class _Service:
    where: str
    priority_class: Value


def _services(resource: Resource) -> Iterator[_Service]:
    if re.fullmatch(SERVICES, resource.type):
        for pod in pods(resource):
            if not pod.is_system():
                yield _Service(str(pod), pod.spec.at("priorityClassName"))
    for service in app_services(resource):
        if service.kind in _KINDS_WITH_A_CLASS:
            yield _Service(str(service), service.props.at("advanced", "priority_class_name"))


def check(service: _Service, _: Context) -> Iterator[Finding]:
    """Recommend any class."""
    if not service.priority_class.text():
        yield Finding(f"{service.where} has no priority class; expected one.")


RULE = Rule(
    id="PR-07",
    slug="services-name-a-class",
    title="Services should set a priority class",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun job resources, Pod priority for user jobs",
    applies_to=EachOf(
        noun="each Deployment and StatefulSet outside the system's namespaces, and each service of the full platform",
        types=re.compile(f"{SERVICES}|{APP_SERVICES}"),
        find=_services,
    ),
    why="Without a class a service has priority 0, so the scheduler places users' jobs before it.",
    fix=f"Set one of {', '.join(UserPriority)}; for core services one of {', '.join(SystemPriority)}.",
    check=check,
)
