"""What the engine does not see when it destroys a cluster: what keeps it from it, and what it would leave behind."""

from collections.abc import Mapping
from typing import Any, Final

from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import Group
from workbench.engine.cluster_components import cluster_of, parts_of_state

ATTEMPTS: Final = 4
"""Runs of the engine, as long as the cloud says that something is still in use."""

PAUSES: Final = (30.0, 60.0, 120.0)
"""Seconds between them. Network interfaces of what is gone are collected within minutes."""

PATIENCE: Final = 600.0
"""Seconds within which the controllers of load balancers and volumes are done."""

PAUSE: Final = 5.0

UNREACHABLE: Final = "PULUMI_K8S_DELETE_UNREACHABLE"
"""The engine's own switch for a cluster that is lost: what was in it is dropped from the state unseen.

https://www.pulumi.com/registry/packages/kubernetes/installation-configuration/.
"""


def objects_of(deployment: Mapping[str, Any]) -> frozenset[tuple[str, str, str]]:
    """Return kind, namespace and name of the objects that the stack itself made in the cluster."""
    return frozenset(
        (each["type"].rpartition(":")[2].lower(), metadata.get("namespace") or "default", metadata.get("name") or "")
        for each in deployment.get("resources") or ()
        if each["type"].startswith("kubernetes:")
        and isinstance(metadata := (each.get("inputs") or {}).get("metadata"), Mapping)
    )


def kept_back(deployment: Mapping[str, Any], stack: str) -> list[Blocker]:
    """Return everything in a state that a destroy would stop at, or stumble over halfway."""
    resources = sorted(deployment.get("resources") or (), key=lambda each: str(each["urn"]))
    parts = parts_of_state(deployment)
    groups = {part.key: part for part in parts if isinstance(part, Group)}
    found = []
    for each in resources:
        urn, part = each["urn"], groups.get(each["urn"])
        if part and each.get("retainOnDelete"):
            found.append(
                Blocker(
                    str(part),
                    f"is kept when the stack goes, since its nodes hold data; {part.with_its_cluster}",
                    "it goes by hand only, with all data on its nodes",
                    f"{part.delete}; once it is gone, the next `destroy` takes it out of the state.",
                )
            )
        elif each.get("protect"):
            found.append(
                Blocker(
                    urn.rpartition("::")[2],
                    f"is protected ({each['type']})",
                    "it goes only after somebody unprotected it",
                    f"`pulumi state unprotect --stack {stack} --yes '{urn}'`",
                )
            )
    cluster = cluster_of(parts)
    return [*found, *cluster.locks] if cluster else found
