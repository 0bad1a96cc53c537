"""Resource types of a cloud, by their function in a cluster, and readers for rules about all clouds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from policies.resource import Finders, Stack
from policies.rule import Finding
from policies.values import Value
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
    cluster_input: str
    """Input by which that resource names its cluster."""
    clusters: tuple[str, ...]
    keys: tuple[str, ...]
    """Types of encryption keys, without which the data that they encrypted is lost."""
    networks: tuple[str, ...]
    disks: tuple[str, ...]
    """Everything that keeps data."""
    logs: tuple[str, ...]
    tagged: tuple[str, ...]
    """Other types than clusters and groups that have tags."""
    tagged_parts: Finders[tuple[str, tuple[Value, ...]]]
    """Finders of parts with their own tags: the part's name in messages, and its maps of tags."""
    public_addresses: Finders[tuple[str, str]]
    """Finders of settings that give nodes public addresses: the owner, and the input to set to false."""
    data_risks: Callable[[Sequence[NodeGroupFacts], Stack], Iterator[Finding]]
    """Finds settings outside the groups that can stop, replace or remove data nodes.

    Takes the cloud's groups of data nodes, which may be none, and the whole stack.
    """
