"""User namespaces as rules see them, with what they give to pods and keep from them."""

from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

from components.contract.labels import TRUE, LabelKey
from policies.resource import Resource, Stack
from policies.values import NotJudgeableError, Value

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
LIMIT_RANGE: Final = "kubernetes:core/v1:LimitRange"
RESOURCE_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"

ByNamespace: TypeAlias = Callable[[str], list[Resource]]
"""Objects of one type by namespace."""

_SOURCES: Final = {
    "requests": ("defaultRequest", "default", "max", "min"),
    "limits": ("default", "max"),
}
"""Where the API server looks for a default, in its order."""


def is_user_namespace(resource: Resource) -> bool:
    """Return whether a resource is a namespace that is marked for user work."""
    mark = ("metadata", "labels", LabelKey.USER_WORKLOADS.value)
    return resource.type == NAMESPACE and resource.props.at(*mark).text() == TRUE


def name_of(resource: Resource) -> str:
    """Return the name of an object; Kubernetes objects always have one, so none means that it is not shown."""
    name = resource.props.at("metadata", "name").text()
    if name is None:
        raise NotJudgeableError("metadata.name", "is not shown")
    return name


def namespace_of(resource: Resource) -> str:
    """Return the namespace of an object; ``default`` if it names none, as the API server has it."""
    return resource.props.at("metadata", "namespace").text() or "default"


def by_namespace(stack: Stack, kind: str) -> ByNamespace:
    """Return what finds the objects of one type; it looks at the first question, and once."""

    @cache
    def found() -> dict[str, list[Resource]]:
        objects: dict[str, list[Resource]] = {}
        for resource in stack:
            if resource.type == kind:
                objects.setdefault(namespace_of(resource), []).append(resource)
        return objects

    return lambda namespace: found().get(namespace, [])


def container_defaults(limit_range: Resource) -> list[Value]:
    """Return what a LimitRange says about containers."""
    items = limit_range.props.at("spec", "limits").elements()
    return [item for item in items if item.at("type").text() == "Container"]


def default(defaults: list[Value], side: str, name: str) -> Value | None:
    """Return what a container gets that states no request or limit (``side``) of a resource; None if nothing."""
    places = (item.at(source, name) for item in defaults for source in _SOURCES[side])
    return next((place for place in places if not place.is_absent), None)


def default_in(limit_ranges: list[Resource], side: str, name: str) -> Value | None:
    """Return the default of ``side`` for a resource; None if no LimitRange gives it one."""
    found = (default(container_defaults(limit_range), side, name) for limit_range in limit_ranges)
    return next((value for value in found if value), None)
