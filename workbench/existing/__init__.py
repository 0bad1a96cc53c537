"""Clusters that somebody else built: who they are, what is in them, and what a stack may do there."""

from workbench.existing.cluster import Existing, open_existing
from workbench.existing.identity import ClusterIdentity, identify
from workbench.existing.preflight import Seen

__all__ = ["ClusterIdentity", "Existing", "Seen", "identify", "open_existing"]
