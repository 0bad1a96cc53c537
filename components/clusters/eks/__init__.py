"""EKS: a managed control plane and managed node groups on AWS."""

from components.clusters.eks.component import EksCluster, EksClusterArgs

__all__ = ["EksCluster", "EksClusterArgs"]
