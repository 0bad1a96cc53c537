"""Whether state and cluster hold the same, and nothing is under way."""

import json
from typing import Any

from components.contract.ownership import FIELD_MANAGER
from support.cluster import Cluster


def assert_whole(cluster: Cluster) -> None:
    """Fail unless nothing is to be changed, pending or locked, and the cluster holds what the state says."""
    digest = json.loads(cluster.command("preview", "--json").stdout)
    assert digest["changeSummary"].keys() == {"same"}
    assert not cluster.state().get("pending_operations")
    assert list((cluster.data / "state" / ".pulumi" / "locks").rglob("*.json")) == []
    assert objects_of(cluster.state()) == objects_in(cluster)


def objects_of(deployment: dict[str, Any]) -> set[tuple[str, str]]:
    """Return kind and id of the objects in a state."""
    resources = deployment["resources"]
    return {(r["inputs"]["kind"], r["id"]) for r in resources if r["type"].startswith("kubernetes:")}


def objects_in(cluster: Cluster) -> set[tuple[str, str]]:
    """Return kind and id of the objects in a cluster that we apply."""
    kinds = cluster.kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    owned = [item for item in cluster.get(",".join(kinds), "-A")["items"] if _is_ours(item)]
    return {(item["kind"], _object_id(item["metadata"])) for item in owned}


def _is_ours(item: dict[str, Any]) -> bool:
    return (item["metadata"].get("annotations") or {}).get("pulumi.com/patchFieldManager") == FIELD_MANAGER


def _object_id(metadata: dict[str, Any]) -> str:
    return "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
