"""Azure without an account."""

from typing import Final

from workbench.offline.cloud import OfflineCloud

CLOUD: Final = OfflineCloud(
    package="azure-native",
    module=__name__,
    name="Azure",
    judge="Microsoft's API description",
    page="docs/azure-inputs.md",
)
