"""The embedded local cluster: a real control plane on loopback, simulated nodes."""

from components.clusters.local.component import LocalCluster, LocalClusterArgs

__all__ = ["LocalCluster", "LocalClusterArgs"]
