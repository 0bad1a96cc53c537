"""What a render and a check have in the place of a cloud's plug-in."""

from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, kw_only=True)
class OfflineCloud:
    """A cloud's plug-in of ours. Its modules are imported on use: a stack needs those of its own cloud only."""

    package: str
    """Of the plug-in that it replaces, such as ``azure-native``."""
    module: str
    """The folder, as a Python package."""
    name: str
    """Display name of the cloud."""
    judge: str
    """What judges values of its inputs."""
    page: str
    """The page that lists what nothing judges."""

    @property
    def version(self) -> str:
        """Release of the plug-in that it replaces."""
        return str(import_module(f"{self.module}.facts").facts().release)
