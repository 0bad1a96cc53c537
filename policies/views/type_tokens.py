"""Type tokens that several rules and views use; those with alternatives or a version are patterns."""

from typing import Final

EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
SUBNET: Final = "aws:ec2/subnet:Subnet"
SCALING_GROUP: Final = "aws:autoscaling/group:Group"
KMS_KEY: Final = "aws:kms/key:Key"

CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"
NAMESPACE_PATCH: Final = "kubernetes:core/v1:NamespacePatch"
"""Patch of an existing namespace."""

DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
SERVICES: Final = "kubernetes:apps/v1:(Deployment|StatefulSet)"
"""Controllers of long-running pods."""

NUCLIO_FUNCTION: Final = r"kubernetes:nuclio\.io/v1beta1:NuclioFunction"
