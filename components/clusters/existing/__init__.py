"""A cluster that somebody else built: its nodes are named and labelled, and nothing of it is made or deleted."""

from components.clusters.existing.component import ExistingCluster, ExistingClusterArgs

__all__ = ["ExistingCluster", "ExistingClusterArgs"]
