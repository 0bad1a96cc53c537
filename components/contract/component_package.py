"""Names of the component package, by which programs in other languages use the clusters."""

from typing import Final

PACKAGE: Final = "igz-clusters"
"""Name of the package."""

CLUSTER_TYPE: Final = f"{PACKAGE}:index:Cluster"
"""Type of its component, whose inputs are the settings of a stack file."""
