"""Resolves the pending operations that a killed run left in the state.

The engine only warns of them: the next update creates such a resource a second time, or fails because its name is in
use. So resources that may exist are entered into the state under the id that they must have, and the refresh at the
start of every update drops those that do not exist: https://github.com/pulumi/pulumi/issues/4265.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ResourceIdentity:
    """What a provider needs to read a resource that a killed run was creating."""

    id: str
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """Default: empty, if the id is enough."""


class UnresolvableError(Exception):
    """The state alone does not show whether a resource was created; the text is its URN."""


def operations(deployment: Mapping[str, Any]) -> list[str]:
    """Return descriptions of the pending operations, such as ``creating Namespace mlrun``."""
    return [
        f"{each['type']} {each['resource']['type'].rpartition(':')[2]} {each['resource']['urn'].rpartition('::')[2]}"
        for each in deployment.get("pending_operations") or []
    ]


def being_created(deployment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the resources that an interrupted run was creating."""
    return [each["resource"] for each in deployment.get("pending_operations") or [] if each["type"] == "creating"]


def awaits_replacement(resource: Mapping[str, Any]) -> bool:
    """Return whether a resource in a state was deleted before its replacement, which is still missing.

    A failed or interrupted replacement leaves such entries: https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/resource/deploy/step.go,
    ``DeleteStep``.
    """
    return bool(resource.get("pendingReplacement"))


def id_from_inputs(resource: Mapping[str, Any]) -> ResourceIdentity:
    """Return the id that follows from the inputs; the next refresh checks whether the resource exists.

    Raises
    ------
    UnresolvableError
        Its id cannot be derived from its inputs.
    """
    if not resource["type"].startswith("kubernetes:"):
        raise UnresolvableError(resource["urn"])
    metadata = resource["inputs"]["metadata"]
    return ResourceIdentity("/".join(name for name in (metadata.get("namespace"), metadata["name"]) if name))


def resolved(
    deployment: Mapping[str, Any], identify: Callable[[Mapping[str, Any]], ResourceIdentity | None] = id_from_inputs
) -> dict[str, Any]:
    """Return the deployment without pending operations; the next refresh drops what does not exist.

    An interrupted update or deletion needs only that refresh: its resource is already in the state.

    Parameters
    ----------
    deployment
        A stack's state.
    identify
        Returns the identity of a resource that was being created, None if it was not. Default: from its inputs.

    Raises
    ------
    UnresolvableError
        ``identify`` cannot decide it.
    """
    result = deepcopy(dict(deployment))
    begun = being_created(result)
    result.pop("pending_operations", None)
    resources = result.get("resources") or []
    for resource in filter(_is_cloud_resource, begun):
        if identity := identify(resource):
            outputs = {"outputs": dict(identity.outputs)} if identity.outputs else {}
            resources = entered({**resource, "id": identity.id, **outputs}, resources)
    result["resources"] = resources
    return result


def place_of(new: Mapping[str, Any], resources: Sequence[Mapping[str, Any]]) -> int:
    """Return the index for a new resource: that of the resource that it replaces, else the end."""
    places = (index for index, old in enumerate(resources) if old["urn"] == new["urn"] and not old.get("delete"))
    return next(places, len(resources))


def entered(new: dict[str, Any], resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the resources with a new one; a resource that it replaces is marked for deletion."""
    place = place_of(new, resources)
    if place == len(resources):
        return [*resources, new]
    before, old, after = resources[:place], resources[place], resources[place + 1 :]
    if awaits_replacement(old):  # also of the same id, if that is a name
        return [*before, new, *after]
    return resources if old.get("id") == new["id"] else [*before, new, {**old, "delete": True}, *after]


def _is_cloud_resource(resource: Mapping[str, Any]) -> bool:
    return bool(resource.get("custom")) and not resource["type"].startswith("pulumi:")
