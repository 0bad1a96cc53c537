"""Objects that a plan would create although they exist and belong to another owner."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.engine.conflict import Conflict
from workbench.engine.declared_fields import Difference, differing
from workbench.engine.kubectl import Api
from workbench.engine.live_objects import LiveObject, ObjectKey, key_of
from workbench.report.event_payloads import State
from workbench.report.events import Stream

_MAKES: Final = frozenset({"create"})
_PATCH: Final = "Patch"


def created_by(deployment: Mapping[str, Any]) -> frozenset[str]:
    """Return the UIDs of the objects that a stack created, without those that it only patches."""
    return frozenset(
        str(uid)
        for each in deployment.get("resources") or ()
        if each["type"].startswith("kubernetes:") and not each["type"].endswith(_PATCH)
        if (uid := ((each.get("outputs") or {}).get("metadata") or {}).get("uid"))
    )


def objects_to_create(stream: Stream) -> dict[ObjectKey, Mapping[str, Any]]:
    """Return the manifests of the objects of built-in kinds that a plan creates."""
    planned = [
        step.new
        for step in stream.steps
        if step.op in _MAKES and step.new and step.token.startswith("kubernetes:") and not step.token.endswith(_PATCH)
    ]
    return {key_of(state.inputs): state.inputs for state in planned if _is_built_in(state)}


def collisions(api: Api, to_create: Mapping[ObjectKey, Mapping[str, Any]], created: frozenset[str]) -> list[Conflict]:
    """Return objects that a plan would overwrite: applying an existing foreign object would take over its ownership.

    Parameters
    ----------
    api
        Access to the cluster.
    to_create
        The objects that a plan creates, from ``objects_to_create``.
    created
        UIDs of objects that the stack created; these are not collisions, even if the state lost them.

    Raises
    ------
    UserError
        The cluster does not answer.
    """
    if not to_create:
        return []
    names = [
        {"apiVersion": each["apiVersion"], "kind": each["kind"], "metadata": _place(each)}
        for each in to_create.values()
    ]
    request = json.dumps({"apiVersion": "v1", "kind": "List", "items": names})
    answer = api.run("get", "-f", "-", "--ignore-not-found", "-o", "json", "--show-managed-fields", stdin=request)
    result = json.loads(answer or "{}")
    live = result.get("items", [result] if result else [])
    return [
        _conflict(LiveObject(each), to_create[key])
        for each in live
        if (key := key_of(each)) in to_create and not LiveObject(each).is_ours and LiveObject(each).uid not in created
    ]


def _is_built_in(state: State) -> bool:
    # kubectl fails for kinds that the cluster does not have yet, and no object of those can exist.
    group = str(state.inputs["apiVersion"]).rpartition("/")[0]
    return "." not in group or group.endswith(".k8s.io")


def _place(manifest: Mapping[str, Any]) -> dict[str, str]:
    metadata = manifest["metadata"]
    return {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}


def _conflict(live: LiveObject, declared: Mapping[str, Any]) -> Conflict:
    different = list(differing(declared, live.content))
    place = live.content["metadata"].get("namespace")
    return Conflict(
        f"{live.kind} {f'{place}/' if place else ''}{live.name}",
        f"an object of another owner ({_listed(different, 1)})"
        if different
        else "an object of another owner with the same content",
        f"one of this stack ({_listed(different, 2)})" if different else "one of this stack",
        "Ask its owner to delete or rename it, or rename ours in the stack file. It is never overwritten.",
    )


def _listed(differing: Sequence[Difference], side: int) -> str:
    return ", ".join(f"{each[0]} {json.dumps(each[side])[:60]}" for each in differing[:3])
