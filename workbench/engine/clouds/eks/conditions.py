"""Conditions of cluster components as EKS reports them; the state has no health, and no status of add-ons."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Rank

_MOVING: Final = frozenset({"CREATING", "UPDATING", "DELETING", "PENDING"})

_LOST: Final = frozenset({"CREATE_FAILED", "DELETE_FAILED", "FAILED"})
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html."""


class EksCondition(Condition):
    """Condition that EKS reports."""

    active = "ACTIVE"

    @property
    @override
    def is_moving(self) -> bool:
        return self.status in _MOVING

    @property
    @override
    def is_lost(self) -> bool:
        return self.status in _LOST

    @property
    @override
    def may_pass(self) -> bool:
        # An add-on is degraded until its pods run on a node.
        return self.is_moving or self.status == "DEGRADED"


class LookUp(Protocol):
    """Queries AWS."""

    def __call__(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return the response; empty if the resource does not exist."""


def conditions(components: Iterable[ClusterComponent], look_up: LookUp) -> dict[str, Condition]:
    """Return the condition of each component from EKS. One that does not exist has no status."""
    return {component.key: _ask(look_up, component) for component in components}


def _ask(look_up: LookUp, component: ClusterComponent) -> Condition:
    requests = {
        Rank.CLUSTER: ("describe_cluster", {"name": component.name}, "cluster"),
        Rank.ADDON: ("describe_addon", {"clusterName": component.cluster, "addonName": component.name}, "addon"),
        Rank.GROUP: (
            "describe_nodegroup",
            {"clusterName": component.cluster, "nodegroupName": component.name},
            "nodegroup",
        ),
    }
    operation, parameters, key = requests[component.rank]
    answer = look_up("eks", operation, **parameters).get(key) or {}
    issues = (answer.get("health") or {}).get("issues") or ()
    size = (answer.get("scalingConfig") or {}).get("desiredSize")
    return EksCondition(answer.get("status", ""), tuple(map(_words, issues)), sleeps=size == 0)


def _words(issue: Mapping[str, Any]) -> str:
    where = ", ".join(issue.get("resourceIds") or ())
    return f"{issue.get('code', '?')}: {issue.get('message', '')}" + (f" ({where})" if where else "")
