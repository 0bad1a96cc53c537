"""Resource types of a cloud, by what they are to a cluster."""

from dataclasses import dataclass

from policies.resource import Finders
from policies.views.node_groups.facts import NodeGroupFacts
from policies.views.node_groups.spelled import SpelledGroup


@dataclass(frozen=True, kw_only=True)
class CloudTypes:
    """Patterns of type tokens."""

    group: str
    """Of the resource that is one node group."""
    view: type[SpelledGroup]
    """View of that resource as a node group."""
    finders: Finders[NodeGroupFacts]
    """What finds node groups, by the resource that holds them."""
    clusters: tuple[str, ...]
    keys: tuple[str, ...]
    """With them goes what they encrypted."""
    networks: tuple[str, ...]
    disks: tuple[str, ...]
    """Everything that keeps data."""
    logs: tuple[str, ...]
