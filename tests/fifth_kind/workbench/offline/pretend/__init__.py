"""Plans for the pretended cloud without it."""

from typing import Final

from workbench.offline.cloud import OfflineCloud

CLOUD: Final = OfflineCloud(
    package="pretend", module=__name__, name="Pretend", judge="nothing", page="docs/pretend-inputs.md"
)
