"""The clouds that a render and a check can do without: each has a folder beside this file.

A folder holds ``facts.py`` (``facts()``), ``provider.py`` (``PROVIDER``, which plans), ``noop.py`` (``PROVIDER``, which
pretends to have made what was planned) and ``__main__.py`` (serves the former to the engine).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from workbench.offline.provider import Provider


@dataclass(frozen=True, kw_only=True)
class OfflineCloud:
    """A cloud's plug-in of ours. Its modules are imported on use: a stack needs those of its own cloud only."""

    module: str
    """The folder, as a package."""
    name: str
    """Of the cloud, as people write it."""
    judge: str
    """What judges values of its inputs."""
    page: str
    """The page that lists what nothing judges."""

    @property
    def version(self) -> str:
        """Release of the plug-in that it stands in for."""
        return str(import_module(f"{self.module}.facts").facts().release)


CLOUDS: Final[Mapping[str, OfflineCloud]] = {
    "aws": OfflineCloud(
        module="workbench.offline.aws", name="AWS", judge="AWS's API models", page="docs/aws-inputs.md"
    ),
    "azure-native": OfflineCloud(
        module="workbench.offline.azure",
        name="Azure",
        judge="Microsoft's API description",
        page="docs/azure-inputs.md",
    ),
}
"""By package of the plug-in."""

_MODULES: Final = {
    **{package: cloud.module for package, cloud in CLOUDS.items()},
    "kubernetes": "workbench.offline.kubernetes",
}


def planning(package: str) -> Provider | None:
    """Return the provider of a package that plans without its cloud; None if there is none."""
    return _provider(package, "provider")


def pretending(package: str) -> Provider | None:
    """Return the provider of a package that says it made what was planned; None if there is none."""
    return _provider(package, "noop")


def _provider(package: str, part: str) -> Provider | None:
    if package not in _MODULES:
        return None
    provider: Provider = import_module(f"{_MODULES[package]}.{part}").PROVIDER()
    return provider
