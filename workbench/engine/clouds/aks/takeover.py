"""A separate system pool takes over from the pool that a cluster was created with.

That pool is a part of the cluster in the state, so the engine cannot delete it. Once its successor works, it is entered
as a resource that the program does not declare, and the next plan deletes it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from workbench.engine.clouds.aks.conditions import CLUSTER, POOL, AksCondition
from workbench.engine.clouds.fixed_choice import resources_of

POOLS: Final = "igz-clusters:clusters:AksNodeGroups"
"""Type of the component that all separate pools belong to."""

ENTERED: Final = "-created-with"
"""End of the logical name of the entered pool."""


def entered(deployment: Mapping[str, Any], created_with: str) -> dict[str, Any] | None:
    """Return a refreshed deployment with the pool that the cluster was created with as a resource.

    None if it is one already, or is gone, or if no other system pool works yet.
    """
    cluster = next(resources_of(deployment, CLUSTER), None)
    parent = next(resources_of(deployment, POOLS), None)
    profiles = ((cluster or {}).get("outputs") or {}).get("agentPoolProfiles") or ()
    profile = next((each for each in profiles if each.get("name") == created_with), None)
    pools = [*resources_of(deployment, POOL)]
    if cluster is None or parent is None or profile is None or not any(map(_works, pools)):
        return None
    id_ = f"{cluster['id']}/agentPools/{created_with}"
    if any(str(each.get("id", "")).lower() == id_.lower() for each in pools):
        return None
    stack, project, chain, name = parent["urn"].removeprefix("urn:pulumi:").split("::", 3)
    known = {**cluster.get("inputs", {}), **(cluster.get("outputs") or {})}
    inputs = {
        "resourceGroupName": known["resourceGroupName"],
        "resourceName": known["resourceName"],
        "agentPoolName": created_with,
        **{key: value for key, value in profile.items() if key != "name" and value is not None},
    }
    entry = {
        "urn": f"urn:pulumi:{stack}::{project}::{chain}${POOL}::{name}{ENTERED}",
        "custom": True,
        "id": id_,
        "type": POOL,
        "inputs": inputs,
        "outputs": {**inputs, "name": created_with},
        "parent": parent["urn"],
        "provider": cluster["provider"],
        # AKS deletes one pool at a time: this one before those that the same plan replaces.
        "dependencies": [cluster["urn"], *(each["urn"] for each in pools)],
        "deletedWith": cluster["urn"],
    }
    return {**deployment, "resources": [*deployment["resources"], entry]}


def unfit_successors(deployment: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return the system pools that do not work, while a predecessor is still to be deleted."""
    pools = [each for each in deployment.get("resources") or () if each["type"] == POOL and _is_system(each)]
    going = [each for each in pools if each.get("delete") or each["urn"].endswith(ENTERED)]
    yield from (each for each in pools if going and each not in going and not _works(each))


def _is_system(pool: Mapping[str, Any]) -> bool:
    return (pool.get("inputs") or {}).get("mode") == "System"


def _works(pool: Mapping[str, Any]) -> bool:
    is_ended = (pool.get("outputs") or {}).get("provisioningState") == AksCondition.active
    return _is_system(pool) and is_ended and not pool["urn"].endswith(ENTERED)
