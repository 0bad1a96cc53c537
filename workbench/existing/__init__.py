"""Existing clusters: identity, live contents, and what a stack may change in them."""

from workbench.existing.cluster import Existing, open_existing
from workbench.existing.identity import ClusterIdentity, identify
from workbench.existing.preflight import Inspection

__all__ = ["ClusterIdentity", "Existing", "Inspection", "identify", "open_existing"]
