"""Settings of Nuclio in its platform configuration, a ConfigMap of its chart or of an operator."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from policies.resource import Resource
from policies.values import Value
from policies.views.objects import known_name
from policies.views.type_tokens import CONFIG_MAP
from policies.views.yaml_text import parsed

NAME: Final = re.compile(r"(.+-)?platform-config")
"""``nuclio-platform-config`` from the charts, ``platform-config`` where Nuclio is installed without one."""
FILE: Final = "platform.yaml"
"""Key of the settings in the ConfigMap."""


@dataclass(frozen=True, slots=True)
class NuclioSettingsFacts:
    """Nuclio's settings for Kubernetes."""

    where: str
    """Prefix of messages about the settings."""
    kube: Value
    """Section ``kube`` of the platform configuration."""

    @property
    def spot_selector(self) -> dict[str, str | None]:
        """Label by which Nuclio recognises spot nodes."""
        return _texts(self.kube.at("preemptibleNodes", "nodeSelector"))

    @property
    def spot_tolerations(self) -> list[dict[str, str | None]] | None:
        """Tolerations for the taint of spot nodes. None differs from an empty list, which switches a mode off."""
        given = self.kube.at("preemptibleNodes", "tolerations")
        return None if given.is_absent else [_texts(entry) for entry in given.elements()]


def _texts(value: Value) -> dict[str, str | None]:
    return {key: entry.text() for key, entry in value.items()}


def nuclio_settings(resource: Resource) -> Iterator[NuclioSettingsFacts]:
    """Return the settings that a resource contains; none for most resources."""
    if resource.type != CONFIG_MAP or not NAME.fullmatch(known_name(resource)):
        return
    file = resource.props.at("data")
    if not file.is_unknown and not file.at(FILE).is_absent:
        yield NuclioSettingsFacts(f"ConfigMap '{resource.name}'", parsed(file.at(FILE)).at("kube"))
