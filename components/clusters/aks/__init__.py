"""AKS: a managed control plane and agent pools on Azure."""

from components.clusters.aks.component import AksCluster, AksClusterArgs

__all__ = ["AksCluster", "AksClusterArgs"]
