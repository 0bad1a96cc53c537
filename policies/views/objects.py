"""Names and namespaces of Kubernetes objects."""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from policies.resource import Resource, Stack
from policies.values import NotJudgeableError

ByNamespace: TypeAlias = Callable[[str], list[Resource]]
"""Objects of one type by namespace."""


def known_name(resource: Resource) -> str:
    """Return the name of an object, empty while it is unknown; a fixed name is never unknown."""
    metadata = resource.props.at("metadata")
    unknown = metadata.is_unknown or metadata.at("name").is_unknown
    return "" if unknown else metadata.at("name").text() or ""


def name_of(resource: Resource) -> str:
    """Return the name of an object; Kubernetes objects always have one, so an absent name counts as unknown."""
    name = resource.props.at("metadata", "name").text()
    if name is None:
        raise NotJudgeableError("metadata.name", "is not shown")
    return name


def namespace_of(resource: Resource) -> str:
    """Return the namespace of an object; ``default`` if it sets none, as in the API server."""
    return resource.props.at("metadata", "namespace").text() or "default"


def by_namespace(stack: Stack, kind: str) -> ByNamespace:
    """Return a finder for the objects of one type; it searches once, at the first query."""

    @cache
    def found() -> dict[str, list[Resource]]:
        objects: dict[str, list[Resource]] = {}
        for resource in stack:
            if resource.type == kind:
                objects.setdefault(namespace_of(resource), []).append(resource)
        return objects

    return lambda namespace: found().get(namespace, [])
