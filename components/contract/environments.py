"""Environment of a cluster and its platform; a stack has one cluster and one platform."""

from enum import StrEnum
from typing import Final


class Environment(StrEnum):
    """Environment of the cluster. Development and production never share one (Iguazio best practices)."""

    DEV = "dev"
    """Interactive work and experiments; interruptions are acceptable."""

    PROD = "prod"
    """Work that others rely on; no development runs here."""


ENVIRONMENT_TAG: Final = "environment"
"""Tag of the clusters of all clouds and of their node groups; its value is an ``Environment``."""


class PlatformProfile(StrEnum):
    """Platform software that the cluster is prepared for."""

    MLRUN_CE = "mlrun-ce"
    """The open-source MLRun Community Edition chart."""

    IGUAZIO = "iguazio"
    """The full platform with V3IO, whose daemons tolerate only four taints."""


class ServerOwner(StrEnum):
    """Who creates the servers of a full Iguazio platform."""

    PROVAZIO = "provazio"
    """The platform's installer (Iguazio best practices): we create no node groups and adopt its priority classes."""

    PULUMI = "pulumi"
    """This stack; must be chosen explicitly."""


class ClusterKind(StrEnum):
    """Kind of cluster."""

    LOCAL = "local"
    """Real control plane on loopback, simulated nodes."""

    EKS = "eks"
    AKS = "aks"
    EXISTING = "existing"


class Provider(StrEnum):
    """Who sells a machine type."""

    AWS = "aws"
    AZURE = "azure"
    OWN = "own"
    """No cloud: a stack file describes the machine."""
