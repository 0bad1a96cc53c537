"""Type tokens that several rules and views use; those with alternatives or a version are patterns."""

from typing import Final

EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
SUBNET: Final = "aws:ec2/subnet:Subnet"
SCALING_GROUP: Final = "aws:autoscaling/group:Group"
KMS_KEY: Final = "aws:kms/key:Key"

ADMISSION_POLICY: Final = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
ADMISSION_BINDING: Final = f"{ADMISSION_POLICY}Binding"

CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"
NAMESPACE_PATCH: Final = "kubernetes:core/v1:NamespacePatch"
"""Patch of an existing namespace."""

DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
SERVICES: Final = "kubernetes:apps/v1:(Deployment|StatefulSet)"
"""Controllers of long-running pods."""

DISRUPTION_BUDGET: Final = "kubernetes:policy/v1:PodDisruptionBudget"
NUCLIO_FUNCTION: Final = r"kubernetes:nuclio\.io/v1beta1:NuclioFunction"


def azure_native(modules: str, names: str) -> str:
    """Return the pattern of azure-native's type tokens in any of its packages; alternatives are separated by ``|``.

    The API's version is part of the module, or of the package's name in packages of one version:
    https://www.pulumi.com/registry/packages/azure-native/from-v2-to-v3/.
    """
    return rf"azure-native(_\w+)?:(?i:{modules})(/v\w+)?:({names})"
