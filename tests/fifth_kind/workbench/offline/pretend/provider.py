"""Plans resources of the pretended cloud."""

from typing import Final

from workbench.offline.provider import Provider


class OfflinePretend(Provider):
    """Judges nothing."""

    def __init__(self) -> None:
        super().__init__("pretend", "1.0.0", "Plans for the pretended cloud")


PROVIDER: Final = OfflinePretend
