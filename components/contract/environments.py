"""What a cluster is for and which platform will run on it: one of each per stack."""

from enum import StrEnum
from typing import Final


class Environment(StrEnum):
    """What the cluster is for. Development and production never share one (Iguazio best practices)."""

    DEV = "dev"
    """Interactive work and experiments; interruptions are acceptable."""

    PROD = "prod"
    """Work that others rely on; no development runs here."""


ENVIRONMENT_TAG: Final = "environment"
"""Tag of the clusters of all clouds and of their node groups; its value is an ``Environment``."""


class PlatformProfile(StrEnum):
    """Which software the cluster is prepared for."""

    MLRUN_CE = "mlrun-ce"
    """The open-source MLRun Community Edition chart."""

    IGUAZIO = "iguazio"
    """The full platform with V3IO, whose daemons tolerate four taints only."""


class ServerOwner(StrEnum):
    """Who makes the servers of a full Iguazio platform."""

    PROVAZIO = "provazio"
    """The platform's installer (Iguazio best practices): we make no node group and adopt its priority classes."""

    PULUMI = "pulumi"
    """This stack; an explicit choice."""


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
