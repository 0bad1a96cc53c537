"""Operations that a killed run left in the state, and the deployment without them.

The engine itself only warns of them: a resource that was being made is made a second time by the next update, or
refused because its name is taken. So what may exist is put into the state under the id that it must have, and the
refresh with which every update begins tells what is there: https://github.com/pulumi/pulumi/issues/4265.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Made:
    """What a provider needs to read a resource that a killed run was making."""

    id: str
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """Default: the id is enough."""


class UnresolvableError(Exception):
    """Nobody can say from the state alone what became of a resource; the text names it."""


def operations(deployment: Mapping[str, Any]) -> list[str]:
    """Return the pending operations, in words such as ``creating Namespace mlrun``."""
    return [
        f"{each['type']} {each['resource']['type'].rpartition(':')[2]} {each['resource']['urn'].rpartition('::')[2]}"
        for each in deployment.get("pending_operations") or []
    ]


def by_inputs(resource: Mapping[str, Any]) -> Made:
    """Return what the inputs alone say about a resource; whether it exists is for the next refresh to tell.

    Raises
    ------
    UnresolvableError
        Its id is no function of its inputs.
    """
    if not resource["type"].startswith("kubernetes:"):
        raise UnresolvableError(resource["urn"])
    metadata = resource["inputs"]["metadata"]
    return Made("/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part))


def resolved(
    deployment: Mapping[str, Any], made: Callable[[Mapping[str, Any]], Made | None] = by_inputs
) -> dict[str, Any]:
    """Return the deployment with nothing pending; the next refresh drops from it what does not exist.

    An update or a deletion that was under way needs nothing but that refresh: its resource is in the state.

    Parameters
    ----------
    deployment
        A stack's state.
    made
        Says what became of a resource that was being made, None if it was not. Default: what its inputs say.

    Raises
    ------
    UnresolvableError
        ``made`` cannot say it.
    """
    result = deepcopy(dict(deployment))
    begun = [each["resource"] for each in result.pop("pending_operations", None) or [] if each["type"] == "creating"]
    resources = result.get("resources") or []
    for resource in filter(_lives_outside, begun):
        if identity := made(resource):
            outputs = {"outputs": dict(identity.outputs)} if identity.outputs else {}
            resources = _entered({**resource, "id": identity.id, **outputs}, resources)
    result["resources"] = resources
    return result


def _entered(new: dict[str, Any], resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the resources with a new one; in place of one that it replaces, which is still to be deleted."""
    for index, old in enumerate(resources):
        if old["urn"] == new["urn"] and not old.get("delete"):
            if old.get("id") == new["id"]:
                return resources
            # Deleted before its replacement, it is only a note that the replacement is missing.
            replaced = [] if old.get("pendingReplacement") else [{**old, "delete": True}]
            return [*resources[:index], new, *replaced, *resources[index + 1 :]]
    return [*resources, new]


def _lives_outside(resource: Mapping[str, Any]) -> bool:
    return bool(resource.get("custom")) and not resource["type"].startswith("pulumi:")
