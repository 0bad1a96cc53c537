"""Finds what blocks the destruction of a cluster; the engine itself would notice it only halfway through."""

from collections.abc import Mapping
from typing import Any, Final

from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import Group
from workbench.engine.cluster_components import cluster_of, components_of_state

PATIENCE: Final = 600.0
"""Seconds to wait for the controllers of load balancers and volumes."""

PAUSE: Final = 5.0

UNREACHABLE: Final = "PULUMI_K8S_DELETE_UNREACHABLE"
"""The provider's switch for an unreachable cluster: drops its objects from the state without deleting them.

https://www.pulumi.com/registry/packages/kubernetes/installation-configuration/.
"""


def objects_of(deployment: Mapping[str, Any]) -> frozenset[tuple[str, str, str]]:
    """Return kind, namespace and name of the Kubernetes objects in the stack's state."""
    return frozenset(
        (each["type"].rpartition(":")[2].lower(), metadata.get("namespace") or "default", metadata.get("name") or "")
        for each in deployment.get("resources") or ()
        if each["type"].startswith("kubernetes:")
        and isinstance(metadata := (each.get("inputs") or {}).get("metadata"), Mapping)
    )


def deletion_blockers(deployment: Mapping[str, Any], stack: str) -> list[Blocker]:
    """Return everything in a state that blocks a destroy."""
    resources = sorted(deployment.get("resources") or (), key=lambda each: str(each["urn"]))
    components = components_of_state(deployment)
    groups = {component.key: component for component in components if isinstance(component, Group)}
    blockers = []
    for each in resources:
        urn, component = each["urn"], groups.get(each["urn"])
        if component and each.get("retainOnDelete"):
            blockers.append(
                Blocker(
                    str(component),
                    f"is kept on destroy because its nodes hold data; {component.on_cluster_deletion}",
                    "it can only be deleted by hand, with all data on its nodes",
                    f"{component.delete}; once it is deleted, the next `destroy` removes it from the state.",
                )
            )
        elif each.get("protect"):
            blockers.append(
                Blocker(
                    urn.rpartition("::")[2],
                    f"is protected ({each['type']})",
                    "it must be unprotected before it can be deleted",
                    f"`pulumi state unprotect --stack {stack} --yes '{urn}'`",
                )
            )
    cluster = cluster_of(components)
    return [*blockers, *cluster.locks] if cluster else blockers
