"""Operations that a killed run left in the state, and the deployment without them.

The engine itself only warns of them: a resource that was being made is made a second time by the next update, or
refused because its name is taken. So what may exist is put into the state under the id that it must have, and the
refresh with which every update begins tells what is there: https://github.com/pulumi/pulumi/issues/4265.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any


class UnresolvableError(Exception):
    """Nobody can say from the state alone what became of a resource; the text names it."""


def operations(deployment: Mapping[str, Any]) -> list[str]:
    """Return the pending operations, in words such as ``creating Namespace mlrun``."""
    return [
        f"{each['type']} {each['resource']['type'].rpartition(':')[2]} {each['resource']['urn'].rpartition('::')[2]}"
        for each in deployment.get("pending_operations") or []
    ]


def resolved(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """Return the deployment with nothing pending; the next refresh drops from it what does not exist.

    An update or a deletion that was under way needs nothing but that refresh: its resource is in the state.

    Raises
    ------
    UnresolvableError
        A resource's id cannot be told from its inputs.
    """
    result = deepcopy(dict(deployment))
    known = {resource["urn"] for resource in result.get("resources") or []}
    begun = [each["resource"] for each in result.pop("pending_operations", None) or [] if each["type"] == "creating"]
    made = [resource for resource in begun if resource["urn"] not in known and _lives_outside(resource)]
    result["resources"] = [*(result.get("resources") or []), *({**each, "id": _id(each)} for each in made)]
    return result


def _lives_outside(resource: Mapping[str, Any]) -> bool:
    return bool(resource.get("custom")) and not resource["type"].startswith("pulumi:")


def _id(resource: Mapping[str, Any]) -> str:
    """Return the id under which a provider finds the resource."""
    if not resource["type"].startswith("kubernetes:"):
        raise UnresolvableError(resource["urn"])
    metadata = resource["inputs"]["metadata"]
    return "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
