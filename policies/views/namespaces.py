"""User namespaces as rules see them, with what they give to pods and keep from them."""

from collections.abc import Iterable, Iterator
from typing import Final

from components.contract.labels import TRUE, LabelKey
from policies.resource import Resource, Stack
from policies.values import NotJudgeableError, Value

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
LIMIT_RANGE: Final = "kubernetes:core/v1:LimitRange"
RESOURCE_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"

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


def of_type(stack: Stack, kind: str) -> list[Resource]:
    """Return the objects of one type."""
    return [resource for resource in stack if resource.type == kind]


def within(objects: Iterable[Resource], namespace: str) -> Iterator[Resource]:
    """Return the objects that are in a namespace."""
    return (resource for resource in objects if namespace_of(resource) == namespace)


def container_defaults(limit_range: Resource) -> list[Value]:
    """Return what a LimitRange says about containers."""
    items = limit_range.props.at("spec", "limits").elements()
    return [item for item in items if item.at("type").text() == "Container"]


def default(defaults: list[Value], side: str, name: str) -> Value | None:
    """Return what a container gets that states no request or limit (``side``) of a resource; None if nothing."""
    places = (item.at(source, name) for item in defaults for source in _SOURCES[side])
    return next((place for place in places if not place.is_absent), None)


def default_in(limit_ranges: Iterable[Resource], namespace: str, side: str, name: str) -> Value | None:
    """Return the namespace's default of ``side`` for a resource; None if no LimitRange gives it one."""
    found = (default(container_defaults(r), side, name) for r in within(limit_ranges, namespace))
    return next((value for value in found if value), None)
