"""Describes our replacement of a cloud's plug-in in renders and checks."""

from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, kw_only=True)
class OfflineCloud:
    """Our plug-in for a cloud. Its modules are imported on use, so that a stack loads only its own cloud."""

    package: str
    """Package of the plug-in that it replaces, such as ``azure-native``."""
    module: str
    """The folder, as a Python package."""
    name: str
    """Display name of the cloud."""
    judge: str
    """Source of the validation of its inputs."""
    page: str
    """Page that lists the inputs without validation."""

    @property
    def version(self) -> str:
        """Release of the plug-in that it replaces."""
        return str(import_module(f"{self.module}.facts").facts().release)
