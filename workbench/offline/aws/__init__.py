"""AWS without an account."""

from typing import Final

from workbench.offline.cloud import OfflineCloud

CLOUD: Final = OfflineCloud(
    package="aws",
    module=__name__,
    name="AWS",
    judge="AWS's API models",
    page="docs/aws-inputs.md",
)
