"""Finds the cluster components in a state or in a plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from workbench.engine.clouds.cluster_component import ClusterComponent, Group, NodeUpgrade, Rank
from workbench.engine.clouds.find import CLOUDS
from workbench.engine.pending import awaits_replacement
from workbench.report.events import STACK_TYPE, Stream

_PROVIDER: Final = "pulumi:providers:kubernetes"


def components_of_state(deployment: Mapping[str, Any], *, with_replaced: bool = False) -> list[ClusterComponent]:
    """Return the components in an exported deployment; ``with_replaced`` also those that are still to be deleted.

    Without those that were deleted before their replacement.
    """
    return _ordered(
        component
        for each in deployment.get("resources") or ()
        if (with_replaced or not each.get("delete")) and not awaits_replacement(each)
        for component in _read(each["urn"], each["type"], each.get("inputs") or {}, each.get("outputs") or {})
    )


def components_of_plan(stream: Stream) -> list[ClusterComponent]:
    """Return the components that a plan starts from: after its refresh, before any change."""
    found = {
        component.key: component
        for step in stream.steps
        if step.old and not step.old.delete and step.op != "refresh"
        for component in _read(step.urn, step.token, step.old.inputs, step.old.outputs)
    }
    return _ordered(found.values())


def node_upgrades(stream: Stream) -> list[NodeUpgrade]:
    """Return the groups whose nodes a plan replaces while the group stays."""
    found = list[NodeUpgrade]()
    for step in stream.steps:
        if step.op != "update" or not step.old or not step.new:
            continue
        before, after = step.old.inputs, step.new.inputs
        for component in _read(step.urn, step.token, before, step.old.outputs):
            if isinstance(component, Group) and component.is_resource:
                changed = tuple(key for key in component.replaced_by if before.get(key) != after.get(key))
                found += [NodeUpgrade(component, changed)] if changed else []
    return found


def drained_groups(stream: Stream) -> list[Group]:
    """Return the groups of a plan whose pods are evicted: their nodes are replaced, or the cloud drains deleted groups.

    A group that is deleted along with its cluster is not drained.
    """
    if _replaces_all_nodes(stream):
        return [component for component in components_of_plan(stream) if isinstance(component, Group)]
    gone = [step for step in stream.steps if step.op in ("delete", "delete-replaced") and step.old]
    read = [
        each for step in gone if step.old for each in _read(step.urn, step.token, step.old.inputs, step.old.outputs)
    ]
    deleted = [each for each in read if isinstance(each, Group) and each.is_resource and each.is_drained_on_deletion]
    deleted = [group for group in deleted if not group.holds_data]  # those are only removed from the state
    stays = cluster_of(read) is None
    return [*(upgrade.group for upgrade in node_upgrades(stream)), *(deleted if stays else ())]


def _replaces_all_nodes(stream: Stream) -> bool:
    return any(
        _at(step.old.inputs, path) != _at(step.new.inputs, path)
        for step in stream.steps
        if step.op == "update" and step.old and step.new
        for component in _read(step.urn, step.token, step.old.inputs, step.old.outputs)
        for path in component.replaces_all_nodes
    )


def _at(inputs: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Return the value at a path; an empty or absent one is None."""
    value: Any = inputs
    for key in path:
        value = (value or {}).get(key)
    return value or None


def created_groups(stream: Stream) -> list[Group]:
    """Return the groups that a plan creates, including replacements."""
    steps = [step for step in stream.steps if step.op in ("create", "create-replacement") and step.new]
    return [
        component
        for step in steps
        if step.new
        for component in _read(step.urn, step.token, step.new.inputs, step.new.outputs)
        if isinstance(component, Group) and component.is_resource
    ]


def cluster_of(components: Iterable[ClusterComponent]) -> ClusterComponent | None:
    """Return the cluster among the components; None if it does not exist yet."""
    return next((component for component in components if component.rank is Rank.CLUSTER), None)


def kubeconfig_of(deployment: Mapping[str, Any]) -> str | None:
    """Return the kubeconfig: the stack's output, else the input of its Kubernetes provider.

    None if the stack was never deployed far enough to have one. It contains no secret.
    """
    resources = deployment.get("resources") or ()
    sources = [
        *(each.get("outputs") or {} for each in resources if each["type"] == STACK_TYPE),
        *(each.get("inputs") or {} for each in resources if each["type"] == _PROVIDER),
    ]
    return next((text for source in sources if isinstance(text := source.get("kubeconfig"), str) and text), None)


def _read(urn: str, type_: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Iterator[ClusterComponent]:
    for known in CLOUDS.values():
        yield from known.components(urn, type_, inputs, outputs)


def _ordered(components: Iterable[ClusterComponent]) -> list[ClusterComponent]:
    """Return components in one order, without parts of a cluster that are also separate resources."""
    found = [*components]
    own = {each.name for each in found if isinstance(each, Group) and each.is_resource}
    found = [each for each in found if not isinstance(each, Group) or each.is_resource or each.name not in own]
    # The order in a state depends on when each resource was finished.
    return sorted(found, key=lambda component: (component.rank, component.key))
