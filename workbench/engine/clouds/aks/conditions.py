"""What AKS itself says about the parts of a cluster."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Rank

CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
POOL: Final = "azure-native:containerservice:AgentPool"

_ENDED: Final = frozenset({"Succeeded", "Failed", "Canceled"})
"""With any service of Azure the only words after which nothing goes on.

https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/async-api-reference.md
"""


class AksCondition(Condition):
    """How AKS says that a part is. Nothing is lost for good: AKS tries again whenever it is told to."""

    active = "Succeeded"

    @property
    @override
    def is_moving(self) -> bool:
        return is_moving(self.status)

    @property
    @override
    def is_lost(self) -> bool:
        return False

    @property
    @override
    def may_pass(self) -> bool:
        return self.is_moving


def is_moving(status: str) -> bool:
    """Return whether Azure is at work, by a resource's ``provisioningState``."""
    return bool(status) and status not in _ENDED


class LookUp(Protocol):
    """Asks Azure."""

    def __call__(self, type_: str, id_: str) -> dict[str, Any]:
        """Return what is of a type of Pulumi's and has an ARM id, empty if it is not there."""


def conditions(parts: Iterable[ClusterComponent], cluster_id: str, look_up: LookUp) -> dict[str, Condition]:
    """Ask AKS about each part. What is not there has no status: nobody waits for what the state says of it.

    Parameters
    ----------
    parts
        The cluster and its pools, the one that it was made with among them.
    cluster_id
        ARM id of the cluster.
    look_up
        Asks Azure.
    """
    return {part.key: condition_of(_ask(part, cluster_id, look_up).get("properties") or {}) for part in parts}


def _ask(part: ClusterComponent, cluster_id: str, look_up: LookUp) -> dict[str, Any]:
    if part.rank is Rank.CLUSTER:
        return look_up(CLUSTER, cluster_id)
    return look_up(POOL, f"{cluster_id}/agentPools/{part.name}")


def condition_of(told: Mapping[str, Any]) -> AksCondition:
    """Return the condition that the properties of a cluster or a pool tell."""
    error = (told.get("status") or {}).get("provisioningError") or {}
    issues = (f"{error.get('code', '?')}: {error.get('message', '')}",) if error else ()
    return AksCondition(str(told.get("provisioningState") or ""), issues)
