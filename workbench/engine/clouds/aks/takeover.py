"""A system pool of its own takes over from the pool that a cluster was created with.

That pool is a part of the cluster in the state, so the engine cannot delete it. It is entered as a resource that the
program does not declare: one plan then creates its successor and deletes it afterwards, and a run that was killed
continues there.
"""

from collections.abc import Mapping
from typing import Any, Final

from components.contract.azure import AzureTag
from workbench.engine.clouds.aks.conditions import CLUSTER, POOL
from workbench.engine.clouds.fixed_choice import resources_of

POOLS: Final = "igz-clusters:clusters:AksNodeGroups"
"""Type of the component that all pools of their own belong to."""

ENTERED: Final = "created-with"
"""End of the logical name of the entered pool."""


def entered(deployment: Mapping[str, Any], created_with: str) -> dict[str, Any] | None:
    """Return a refreshed deployment with the pool that the cluster was created with as a resource.

    None if it is one already, or is gone, or if there are no pools of their own yet.
    """
    cluster = next(resources_of(deployment, CLUSTER), None)
    parent = next(resources_of(deployment, POOLS), None)
    profiles = ((cluster or {}).get("outputs") or {}).get("agentPoolProfiles") or ()
    profile = next((each for each in profiles if each.get("name") == created_with and not took_over(each)), None)
    if cluster is None or parent is None or profile is None:
        return None
    id_ = f"{cluster['id']}/agentPools/{created_with}"
    if any(str(each.get("id", "")).lower() == id_.lower() for each in resources_of(deployment, POOL)):
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
        "urn": f"urn:pulumi:{stack}::{project}::{chain}${POOL}::{name}-{ENTERED}",
        "custom": True,
        "id": id_,
        "type": POOL,
        "inputs": inputs,
        "outputs": {**inputs, "name": created_with},
        "parent": parent["urn"],
        "provider": cluster["provider"],
        "dependencies": [cluster["urn"]],
        "deletedWith": cluster["urn"],
    }
    return {**deployment, "resources": [*deployment["resources"], entry]}


def took_over(profile: Mapping[str, Any]) -> bool:
    """Return whether a pool in a cluster's list is a resource of its own that took over.

    A cluster that is created again has the pool that it was created with again, with its own name in that tag.
    """
    return (profile.get("tags") or {}).get(AzureTag.TOOK_OVER.value) not in (None, profile.get("name"))
