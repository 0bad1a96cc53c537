"""Taints and the tolerations that answer them. ``spelling`` says how each cloud writes them.

A toleration is only ever made from the taint it answers, so the two cannot drift.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from typing_extensions import override

from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.instances import ARM64
from components.contract.labels import OWN_DOMAIN, LabelKey
from components.contract.lifecycle import Lifecycle


class TaintEffect(StrEnum):
    """What a taint does to pods that do not tolerate it; Kubernetes spelling."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    """One taint. A value is always given: two clouds cannot spell a taint without one."""

    key: str
    value: str
    effect: TaintEffect = TaintEffect.NO_SCHEDULE

    def to_kubernetes(self) -> dict[str, str]:
        """Return the entry of ``Node.spec.taints``."""
        return {"key": self.key, "value": self.value, "effect": self.effect.value}

    def toleration(self) -> dict[str, str]:
        """Return the pod toleration that answers exactly this taint.

        The full four-field form: MLRun and Nuclio remove tolerations by comparing whole objects.
        """
        return {"key": self.key, "operator": "Equal", "value": self.value, "effect": self.effect.value}

    @override
    def __str__(self) -> str:
        """Return ``key=value:Effect``, as kubectl prints it."""
        return f"{self.key}={self.value}:{self.effect}"


OWN_SPOT_TAINT: Final = Taint(LabelKey.LIFECYCLE.value, Lifecycle.SPOT.label_value)
"""On spot nodes where the cloud leaves the choice to us."""

AKS_SPOT_TAINT: Final = Taint("kubernetes.azure.com/scalesetpriority", "spot")
"""AKS adds it to every spot pool and lets nobody remove it: https://learn.microsoft.com/azure/aks/spot-node-pool."""

SPOT_TAINTS: Final = (OWN_SPOT_TAINT, AKS_SPOT_TAINT)
"""Every taint that says that a node is a spot node."""

ARM_TAINT: Final = Taint(f"{OWN_DOMAIN}/arch", ARM64)
"""On ARM nodes for user work where amd64 nodes take the same pods, as GKE taints its ARM nodes.

Images are mostly built for amd64 only, and on an ARM node their containers end with ``exec format error``. The key is
not ``kubernetes.io/arch``, which GKE uses: EKS reserves that prefix for itself
(https://github.com/alphagov/govuk-infrastructure/pull/1264).
"""

GPU_TAINT_VALUE: Final = "present"
"""The value that V3IO's daemons and NVIDIA's node feature discovery tolerate."""


def gpu_taint(resource: str) -> Taint:
    """Return the taint of nodes that offer ``resource``.

    The key is the resource's name, because the API server's plug-in ``ExtendedResourceToleration``
    gives a pod that asks for the resource the toleration for exactly that key.
    """
    return Taint(resource, GPU_TAINT_VALUE)


def spot_taint(kind: ClusterKind, profile: PlatformProfile) -> Taint | None:
    """Return the taint that every spot node of a cluster carries, None where there must be none.

    V3IO's daemons tolerate AKS's taint but not ours, so ``iguazio`` elsewhere than on AKS goes without.
    """
    if kind is ClusterKind.AKS:
        return AKS_SPOT_TAINT
    return None if profile is PlatformProfile.IGUAZIO else OWN_SPOT_TAINT
