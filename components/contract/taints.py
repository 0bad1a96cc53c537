"""Taints and their tolerations.

``spelling`` defines how each cloud writes them. A toleration is always derived from its taint, so the two cannot
diverge.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from typing_extensions import override

from components.contract.instances import ARM64
from components.contract.labels import OWN_DOMAIN, LabelKey
from components.contract.lifecycle import Lifecycle


class TaintEffect(StrEnum):
    """Effect of a taint on pods that do not tolerate it; Kubernetes spelling."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    """One taint. It always has a value, because two clouds cannot express a taint without one."""

    key: str
    value: str
    effect: TaintEffect = TaintEffect.NO_SCHEDULE

    def to_kubernetes(self) -> dict[str, str]:
        """Return the entry of ``Node.spec.taints``."""
        return {"key": self.key, "value": self.value, "effect": self.effect.value}

    def toleration(self) -> dict[str, str]:
        """Return the pod toleration for exactly this taint.

        It has all four fields, because MLRun and Nuclio remove tolerations by comparing whole objects.
        """
        return {"key": self.key, "operator": "Equal", "value": self.value, "effect": self.effect.value}

    @override
    def __str__(self) -> str:
        """Return ``key=value:Effect``, as kubectl prints it."""
        return f"{self.key}={self.value}:{self.effect}"


OWN_SPOT_TAINT: Final = Taint(LabelKey.LIFECYCLE.value, Lifecycle.SPOT.label_value)
"""Taint of spot nodes on clouds that add none themselves."""

AKS_SPOT_TAINT: Final = Taint("kubernetes.azure.com/scalesetpriority", "spot")
"""Taint that AKS adds to every spot pool and does not let users remove: https://learn.microsoft.com/azure/aks/spot-node-pool."""

ARM_TAINT: Final = Taint(f"{OWN_DOMAIN}/arch", ARM64)
"""Taint of ARM nodes for user work if amd64 nodes accept the same pods, as GKE taints its ARM nodes.

Images are mostly built for amd64 only, and on an ARM node their containers fail with ``exec format error``. The key is
not ``kubernetes.io/arch``, which GKE uses: EKS reserves that prefix for itself
(https://github.com/alphagov/govuk-infrastructure/pull/1264).
"""

GPU_TAINT_VALUE: Final = "present"
"""The value that V3IO's daemons and NVIDIA's node feature discovery tolerate."""


def gpu_taint(resource: str) -> Taint:
    """Return the taint of nodes that offer ``resource``.

    The key is the resource's name, because the API server's plug-in ``ExtendedResourceToleration`` adds the toleration
    for exactly that key to pods that request the resource.
    """
    return Taint(resource, GPU_TAINT_VALUE)
