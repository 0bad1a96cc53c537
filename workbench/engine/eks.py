"""What EKS itself says about the parts of a cluster: the state has no health, and of add-ons not even a status."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from workbench.engine.parts import ADDON, CLUSTER, GROUP, Part

ACTIVE: Final = "ACTIVE"

MOVING: Final = frozenset({"CREATING", "UPDATING", "DELETING", "PENDING"})
"""EKS works on it, and refuses changes until it is done."""

NEVER_MADE: Final = frozenset({"CREATE_FAILED", "DELETE_FAILED", "FAILED"})
"""It does not come back by itself: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html."""


@dataclass(frozen=True)
class Condition:
    """How a part is now.

    Parameters
    ----------
    status
        EKS's word; empty if it is not there, or nobody knows.
    issues
        Why, in EKS's words, each with its code.
    """

    status: str
    issues: tuple[str, ...] = ()

    @property
    def is_in_order(self) -> bool:
        """Whether nothing is to be said about it."""
        return self.status in (ACTIVE, "")


Conditions = Mapping[str, Condition]
"""By URN."""


def condition(part: Part, conditions: Conditions) -> Condition:
    """Return how ``part`` is: as EKS said, else as the state has it."""
    return conditions.get(part.urn) or Condition(part.status)


class LookUp(Protocol):
    """Asks AWS."""

    def __call__(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return an answer, empty if what was asked about is not there."""


def conditions(parts: Iterable[Part], look_up: LookUp) -> dict[str, Condition]:
    """Ask EKS about each part. What is not there has no status: nobody waits for what the state says of it."""
    return {part.urn: _ask(look_up, part) for part in parts}


def _ask(look_up: LookUp, part: Part) -> Condition:
    ask = {
        CLUSTER: ("describe_cluster", {"name": part.name}, "cluster"),
        ADDON: ("describe_addon", {"clusterName": part.cluster, "addonName": part.name}, "addon"),
        GROUP: ("describe_nodegroup", {"clusterName": part.cluster, "nodegroupName": part.name}, "nodegroup"),
    }
    operation, parameters, key = ask[part.type]
    told = look_up("eks", operation, **parameters).get(key) or {}
    issues = (told.get("health") or {}).get("issues") or ()
    return Condition(told.get("status", ""), tuple(map(_words, issues)))


def _words(issue: Mapping[str, Any]) -> str:
    where = ", ".join(issue.get("resourceIds") or ())
    return f"{issue.get('code', '?')}: {issue.get('message', '')}" + (f" ({where})" if where else "")
