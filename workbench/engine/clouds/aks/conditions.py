"""Conditions of cluster components, as AKS reports them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Rank

CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
POOL: Final = "azure-native:containerservice:AgentPool"

_ENDED: Final = frozenset({"Succeeded", "Failed", "Canceled"})
"""The terminal provisioning states of every Azure service.

https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/async-api-reference.md
"""


_SWITCHING: Final = frozenset({"Stopping", "Starting"})
"""Provisioning states of a cluster whose API may not answer: https://learn.microsoft.com/azure/aks/start-stop-cluster."""


class AksCondition(Condition):
    """Condition that AKS reports. Never lost for good: AKS retries on any update command."""

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
    """Return whether Azure is still working on a resource, by its ``provisioningState``."""
    return bool(status) and status not in _ENDED


class LookUp(Protocol):
    """Queries Azure."""

    def __call__(self, type_: str, id_: str) -> dict[str, Any]:
        """Return the resource of a Pulumi type with an ARM id; empty if it does not exist."""


def conditions(components: Iterable[ClusterComponent], cluster_id: str, look_up: LookUp) -> dict[str, Condition]:
    """Return the condition of each component from AKS. One that does not exist has no status.

    Parameters
    ----------
    components
        The cluster and its pools, including the one that it was created with.
    cluster_id
        ARM id of the cluster.
    look_up
        Queries Azure.
    """
    return {
        component.key: condition_of(_ask(component, cluster_id, look_up).get("properties") or {})
        for component in components
    }


def _ask(component: ClusterComponent, cluster_id: str, look_up: LookUp) -> dict[str, Any]:
    if component.rank is Rank.CLUSTER:
        return look_up(CLUSTER, cluster_id)
    return look_up(POOL, f"{cluster_id}/agentPools/{component.name}")


def condition_of(answer: Mapping[str, Any]) -> AksCondition:
    """Return the condition in the properties of a cluster or pool."""
    error = (answer.get("status") or {}).get("provisioningError") or {}
    issues = (f"{error.get('code', '?')}: {error.get('message', '')}",) if error else ()
    state, power = str(answer.get("provisioningState") or ""), (answer.get("powerState") or {}).get("code")
    return AksCondition(state, issues, sleeps=power == "Stopped" or state in _SWITCHING)
