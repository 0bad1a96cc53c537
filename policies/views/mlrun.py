"""Settings of MLRun's API: environment variables in its ConfigMap or its Deployment."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from components.contract.mlrun import OVERRIDE_CONFIG_MAP
from policies.resource import Resource
from policies.rule import EachOf
from policies.values import NotJudgeableError, Value
from policies.views.objects import known_name
from policies.views.type_tokens import CONFIG_MAP, DEPLOYMENT

API: Final = "mlrun-api"
"""Prefix of the names of the API's Deployments: chief and workers."""


@dataclass(frozen=True, slots=True)
class MlrunSettingsFacts:
    """Settings of MLRun by variable. Values may be secrets, so a message names only the variable."""

    where: str
    """Start of every message about the settings."""
    get: Callable[[str], str | None]
    """Returns the value of a variable, None if not set here."""
    variables: Callable[[], tuple[str, ...]]
    """Returns the names of all variables set here."""


def mlrun_settings(resource: Resource) -> Iterator[MlrunSettingsFacts]:
    """Return the settings that a resource contains; none for most resources."""
    if resource.type == CONFIG_MAP and known_name(resource) == OVERRIDE_CONFIG_MAP:
        data = resource.props.at("data")
        yield MlrunSettingsFacts(f"ConfigMap '{resource.name}'", lambda variable: data.at(variable).text(), data.keys)
    elif resource.type == DEPLOYMENT and known_name(resource).startswith(API):
        for container in resource.props.at("spec", "template", "spec", "containers").elements():
            if (container.at("name").text() or "").startswith(API) and not _reads_override(container):
                yield MlrunSettingsFacts(
                    f"Deployment '{resource.name}'", partial(_environment_value, container), partial(_names, container)
                )


def _reads_override(container: Value) -> bool:
    """Return whether the container takes its settings from the ConfigMap, which is checked separately."""
    return any(
        source.at("configMapRef", "name").text() == OVERRIDE_CONFIG_MAP for source in container.at("envFrom").elements()
    )


def _names(container: Value) -> tuple[str, ...]:
    return tuple(entry.at("name").text() or "" for entry in container.at("env").elements())


def _environment_value(container: Value, variable: str) -> str | None:
    for entry in container.at("env").elements():
        if entry.at("name").text() == variable:
            if not entry.at("valueFrom").is_absent:
                raise NotJudgeableError(entry.path, "takes its value from another object")
            return entry.at("value").text()
    if container.at("envFrom").elements():
        raise NotJudgeableError(container.at("envFrom").path, "may set it from another object")
    return None


MLRUN_SETTINGS: Final = EachOf(
    noun="the settings of MLRun's API",
    types=re.compile("|".join(map(re.escape, (CONFIG_MAP, DEPLOYMENT)))),
    find=mlrun_settings,
)
