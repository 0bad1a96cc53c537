"""Contents of an existing cluster, read just before the program runs.

The program itself does not query the cluster; `igz-clusters` does and passes the result in a file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from components.contract.egress import API_PORTS, AllowedEgress, to_api_server

INVENTORY_VARIABLE: Final = "IGZ_CLUSTERS_INVENTORY"
"""Variable with the path of the file; set by ``igz-clusters``."""


class SharedKind(StrEnum):
    """Kinds of objects that are adopted if the cluster already has them; Kubernetes spelling."""

    NAMESPACE = "Namespace"
    PRIORITY_CLASS = "PriorityClass"
    STORAGE_CLASS = "StorageClass"


class SharedObject(NamedTuple):
    """An existing cluster-scoped object that matches ours."""

    kind: SharedKind
    name: str


@dataclass(frozen=True)
class ClusterInventory:
    """What the program needs to know about the live cluster."""

    cluster_id: str
    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the nodes of each pool; a pool without an entry has none."""
    adopted: frozenset[SharedObject] = frozenset()
    mutates: bool = False
    """Whether its API server offers MutatingAdmissionPolicy. Default: False, as before Kubernetes 1.36."""
    api_server: tuple[str, ...] = ()
    """Ranges of the Service ``kubernetes`` and its endpoints; empty if they could not be read."""
    api_ports: tuple[int, ...] = API_PORTS
    """TCP ports of both."""

    @property
    def egress(self) -> tuple[AllowedEgress, ...]:
        """Egress of user pods to this cluster's API server."""
        return (to_api_server(*self.api_server, ports=self.api_ports),) if self.api_server else ()

    def to_json(self) -> str:
        """Return the content of the file."""
        nodes = {pool: list(names) for pool, names in self.nodes.items()}
        adopted = sorted([each.kind.value, each.name] for each in self.adopted)
        document = {
            "clusterId": self.cluster_id,
            "nodes": nodes,
            "adopted": adopted,
            "mutates": self.mutates,
            "apiServer": self.api_server,
            "apiPorts": self.api_ports,
        }
        return json.dumps(document, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "ClusterInventory":
        """Parse a file.

        Raises
        ------
        ValueError
            If ``to_json`` did not write the text.
        """
        try:
            document = json.loads(text)
            return cls(
                str(document["clusterId"]),
                {str(pool): tuple(map(str, names)) for pool, names in document["nodes"].items()},
                frozenset(SharedObject(SharedKind(kind), str(name)) for kind, name in document["adopted"]),
                document["mutates"] is True,
                tuple(map(str, document["apiServer"])),
                tuple(map(int, document["apiPorts"])),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it is not a cluster inventory: {error}") from None
