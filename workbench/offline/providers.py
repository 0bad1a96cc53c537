"""The offline providers, by package. Separate from ``clouds``, since they import the engine's protocol."""

from importlib import import_module
from typing import Final

from workbench.offline.clouds import CLOUDS
from workbench.offline.provider import Provider

_MODULES: Final = {
    **{package: cloud.module for package, cloud in CLOUDS.items()},
    "kubernetes": "workbench.offline.kubernetes",
}


def planning(package: str) -> Provider | None:
    """Return the offline provider of a package; None if there is none."""
    return _provider(package, "provider")


def noop(package: str) -> Provider | None:
    """Return the no-op provider of a package; None if there is none."""
    return _provider(package, "noop")


def _provider(package: str, part: str) -> Provider | None:
    if package not in _MODULES:
        return None
    provider: Provider = import_module(f"{_MODULES[package]}.{part}").PROVIDER()
    return provider
