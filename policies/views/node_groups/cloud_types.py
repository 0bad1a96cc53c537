"""Resource types of a cloud, by their function in a cluster."""

from dataclasses import dataclass

from policies.resource import Finders
from policies.views.node_groups.facts import NodeGroupFacts
from policies.views.node_groups.spelled import SpelledGroup


@dataclass(frozen=True, kw_only=True)
class CloudTypes:
    """Patterns of type tokens."""

    group: str
    """Type of the resource that is one node group."""
    view: type[SpelledGroup]
    """View of that resource as a node group."""
    finders: Finders[NodeGroupFacts]
    """Finders of node groups, by the resource that contains them."""
    clusters: tuple[str, ...]
    keys: tuple[str, ...]
    """Types of encryption keys, without which the data that they encrypted is lost."""
    networks: tuple[str, ...]
    disks: tuple[str, ...]
    """Everything that keeps data."""
    logs: tuple[str, ...]
