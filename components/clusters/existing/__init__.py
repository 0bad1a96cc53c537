"""An existing cluster, created outside this stack: its nodes are labelled, and nothing in it is created or deleted."""

from components.clusters.existing.component import ExistingCluster, ExistingClusterArgs

__all__ = ["ExistingCluster", "ExistingClusterArgs"]
