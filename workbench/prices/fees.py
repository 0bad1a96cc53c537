"""What the clouds charge for a control plane, in addition to the nodes."""

from dataclasses import dataclass
from datetime import date
from typing import Final

from components.contract.environments import ClusterKind, Environment


@dataclass(frozen=True, slots=True)
class Fee:
    """The fee for a control plane.

    Parameters
    ----------
    name
        What is charged, such as ``EKS control plane``.
    usd_per_hour
        USD per hour, the same in all regions.
    date
        The day on which it was read.
    source
        The page with the figure.
    """

    name: str
    usd_per_hour: float
    date: date
    source: str


_READ_ON: Final = date(2026, 11, 23)

EKS: Final = Fee(
    "EKS control plane, standard support",
    0.10,
    _READ_ON,
    "https://aws.amazon.com/blogs/containers/amazon-eks-extended-support-for-kubernetes-versions-pricing/",
)
"""A minor version in extended support costs 0.60; stack files allow none of those."""

AKS_FREE: Final = Fee(
    "AKS control plane, tier Free", 0.0, _READ_ON, "https://learn.microsoft.com/azure/aks/free-standard-pricing-tiers"
)
"""The tier of clusters in development, ``components/clusters/aks/control_plane.py``."""

AKS_STANDARD: Final = Fee(
    "AKS control plane, tier Standard",
    0.10,
    _READ_ON,
    "https://techcommunity.microsoft.com/blog/appsonazureblog/aks-introduces-uptime-sla/1350832",
)
"""The tier of clusters in production. The tier Premium costs 0.60 (assumed); these programs do not use it."""


def fee_of(kind: ClusterKind, environment: Environment) -> Fee | None:
    """Return the fee for the control plane of a cluster; None for local and existing ones."""
    match kind:
        case ClusterKind.EKS:
            return EKS
        case ClusterKind.AKS:
            return AKS_STANDARD if environment is Environment.PROD else AKS_FREE
        case _:
            return None
