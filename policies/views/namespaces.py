"""User namespaces as rules see them, with the defaults and limits that they impose on pods."""

from typing import Final

from components.contract.labels import TRUE, LabelKey
from policies.resource import Resource
from policies.values import Value
from policies.views.type_tokens import NAMESPACE, NAMESPACE_PATCH

LIMIT_RANGE: Final = "kubernetes:core/v1:LimitRange"
RESOURCE_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"

_SOURCES: Final = {
    "requests": ("defaultRequest", "default", "max", "min"),
    "limits": ("default", "max"),
}
"""Places where the API server looks for a default, in its order."""


def is_user_namespace(resource: Resource) -> bool:
    """Return whether a resource is a namespace labelled for user work, or a patch that labels an existing one."""
    mark = ("metadata", "labels", LabelKey.USER_WORKLOADS.value)
    return resource.type in (NAMESPACE, NAMESPACE_PATCH) and resource.props.at(*mark).text() == TRUE


def container_defaults(limit_range: Resource) -> list[Value]:
    """Return the entries of a LimitRange for containers."""
    items = limit_range.props.at("spec", "limits").elements()
    return [item for item in items if item.at("type").text() == "Container"]


def default(defaults: list[Value], side: str, name: str) -> Value | None:
    """Return the value that a container without a request or limit (``side``) of a resource gets; None if none."""
    places = (item.at(source, name) for item in defaults for source in _SOURCES[side])
    return next((place for place in places if not place.is_absent), None)


def default_in(limit_ranges: list[Resource], side: str, name: str) -> Value | None:
    """Return the default of ``side`` for a resource; None if no LimitRange sets one."""
    found = (default(container_defaults(limit_range), side, name) for limit_range in limit_ranges)
    return next((value for value in found if value), None)
