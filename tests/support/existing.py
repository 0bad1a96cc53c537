"""Stacks on an existing cluster: a document, and what may be seen of such a cluster."""

from typing import Any

from components.contract.existing.cluster_inventory import ClusterInventory, SharedObject
from components.contract.existing.config import ExistingConfig
from infra.config import StackConfig, parse
from support.edits import edited

CLUSTER_ID = "3f1c9a52-7d0e-4b7c-9a35-0c2f8f6d1e77"
MACHINE = {"vcpus": 8, "memoryGib": 32}

DOCUMENT: dict[str, Any] = {
    "schemaVersion": 1,
    "environment": "dev",
    "cluster": {
        "kind": "existing",
        "context": "on-prem",
        "clusterId": CLUSTER_ID,
        "nodes": {
            "initial": {"selector": {"rack": "core"}},
            "workload": {"selector": {"rack": "compute"}},
            "gpu": {"selector": {"rack": "gpu"}, "taint": True},
        },
    },
    "pools": {
        "initial": {"role": "initial", "size": {"min": 1, "max": 1}, "machine": MACHINE},
        "workload": {"role": "workload", "size": {"min": 2, "max": 2}, "machine": MACHINE},
        "gpu": {"role": "gpu", "size": {"min": 1, "max": 1}, "machine": {**MACHINE, "gpus": 2}},
    },
}


def document(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a right document with changes at paths such as ``cluster.nodes.gpu``; None removes what is there."""
    return edited(DOCUMENT, changes or {})


def config(changes: dict[str, Any] | None = None) -> StackConfig:
    return parse(document(changes))


def sighting_of(config: StackConfig, *adopted: SharedObject) -> ClusterInventory | None:
    """Return what is seen where every pool has its fewest nodes, but at least one; None where a cluster is made."""
    if not isinstance(config.cluster, ExistingConfig):
        return None
    nodes = {
        name: tuple(f"{name}-{index}" for index in range(max(pool.size.min, 1))) for name, pool in config.pools.items()
    }
    return ClusterInventory(config.cluster.cluster_id, nodes, frozenset(adopted))
