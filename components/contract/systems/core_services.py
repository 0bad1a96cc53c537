"""Values that place a chart's core services on clusters whose admission does not: before Kubernetes 1.36."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from components.contract.labels import TRUE, LabelKey
from components.contract.pools import PoolRole
from components.contract.priorities import SystemPriority


@dataclass(frozen=True)
class CoreService:
    """A core service of a chart.

    Parameters
    ----------
    path
        Path of its values, keys joined by dots; empty for the chart's own root.
    labels
        Key below ``path`` of the pod's labels. Default: the chart has none.
    is_text
        Whether its selector is YAML in a string, which the chart passes through ``tpl``.
    """

    path: str
    labels: str | None = None
    is_text: bool = False


def within(chart: str, services: Iterable[CoreService]) -> tuple[CoreService, ...]:
    """Return the services of a chart with the paths that they have in a chart that contains it."""
    return tuple(replace(each, path=f"{chart}.{each.path}") for each in services)


def placement(services: Iterable[CoreService]) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each service's node selector, and of class and mark if its chart accepts labels.

    The system class is set together with the mark: PR-05 refuses pods that have only the class.
    """
    selector = {LabelKey.ROLE.value: PoolRole.INITIAL.value}
    for each in services:
        yield _below(each.path, "nodeSelector"), _text(selector) if each.is_text else dict(selector)
        if each.labels:
            yield _below(each.path, "priorityClassName"), SystemPriority.MEDIUM.value
            yield _below(each.path, each.labels), {LabelKey.CORE_SERVICE.value: TRUE}


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _text(selector: Mapping[str, str]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in selector.items())
