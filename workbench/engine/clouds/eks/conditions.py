"""What EKS itself says about the parts of a cluster: the state has no health, and of add-ons not even a status."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Rank

_MOVING: Final = frozenset({"CREATING", "UPDATING", "DELETING", "PENDING"})

_LOST: Final = frozenset({"CREATE_FAILED", "DELETE_FAILED", "FAILED"})
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html."""


class EksCondition(Condition):
    """How EKS says that a part is."""

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
        # An add-on is degraded until a node takes its pods.
        return self.is_moving or self.status == "DEGRADED"


class LookUp(Protocol):
    """Asks AWS."""

    def __call__(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return an answer, empty if what was asked about is not there."""


def conditions(parts: Iterable[ClusterComponent], look_up: LookUp) -> dict[str, Condition]:
    """Ask EKS about each part. What is not there has no status: nobody waits for what the state says of it."""
    return {part.key: _ask(look_up, part) for part in parts}


def _ask(look_up: LookUp, part: ClusterComponent) -> Condition:
    ask = {
        Rank.CLUSTER: ("describe_cluster", {"name": part.name}, "cluster"),
        Rank.ADDON: ("describe_addon", {"clusterName": part.cluster, "addonName": part.name}, "addon"),
        Rank.GROUP: ("describe_nodegroup", {"clusterName": part.cluster, "nodegroupName": part.name}, "nodegroup"),
    }
    operation, parameters, key = ask[part.rank]
    told = look_up("eks", operation, **parameters).get(key) or {}
    issues = (told.get("health") or {}).get("issues") or ()
    return EksCondition(told.get("status", ""), tuple(map(_words, issues)))


def _words(issue: Mapping[str, Any]) -> str:
    where = ", ".join(issue.get("resourceIds") or ())
    return f"{issue.get('code', '?')}: {issue.get('message', '')}" + (f" ({where})" if where else "")
