"""The embedded local cluster: a real control plane on loopback, simulated nodes."""

from components.clusters.local.cluster import LocalCluster, LocalClusterArgs

__all__ = ["LocalCluster", "LocalClusterArgs"]
