"""Advice on a live cluster: missing features and settings that do not block a change."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.contract.existing.cluster_inventory import SharedKind, SharedObject
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, WellKnownLabel
from components.contract.namespaces import BASELINE_LEVEL
from components.contract.priorities import UserPriority
from components.contract.storage import DEFAULT_KEYS
from workbench.engine.live_objects import LiveObject
from workbench.existing import taints
from workbench.existing.live import LiveCluster

_NAMED_MAX: Final = 5
"""Maximum number of nodes that a message names."""


def notes(
    choices: ExistingConfig,
    live: LiveCluster,
    groups: Mapping[str, NodeGroup],
    pools: Mapping[str, Sequence[LiveObject]],
    adopted: Sequence[SharedObject],
) -> Iterator[str]:
    """Return advice for the user, one sentence each.

    Parameters
    ----------
    choices
        The cluster section of the stack file.
    live
        The cluster.
    groups
        Node group by pool.
    pools
        Nodes by pool.
    adopted
        Objects of other owners that the stack adopts.
    """
    for what in adopted:
        settings = _settings(what, live.shared[what])
        yield f"{what.kind} {what.name} already exists with {settings}; it is kept, even after `destroy`."
        enforced = WellKnownLabel.POD_SECURITY_ENFORCE
        if what.kind is SharedKind.NAMESPACE and enforced not in live.shared[what].labels:
            yield f"Namespace {what.name} had no {enforced}: new pods there must meet '{BASELINE_LEVEL}'."
    if not choices.storage_class and not default_classes(live):
        yield (
            "The cluster has no default StorageClass, so claims of the MLRun CE chart stay Pending: set "
            f"cluster.storageClass, or ask the owner to annotate one with {DEFAULT_KEYS[0]}=true."
        )
    classes = {each.name: each.content for what, each in live.shared.items() if what.kind is SharedKind.PRIORITY_CLASS}
    lowest, highest = (classes.get(t, {}).get("value", t.priority) for t in (UserPriority.LOW, UserPriority.HIGH))
    for name, content in classes.items():
        if content.get("globalDefault"):
            yield (
                f"PriorityClass {name} is the cluster's default: pods without a class get its priority "
                f"{content.get('value')}; user classes range from {lowest} to {highest}. Set priorityClassName "
                "on every pod."
            )
    if any(group.gpu_resource for group in groups.values()) and not live.adds_tolerations:
        status = "could not be tested" if live.adds_tolerations is None else "is off"
        yield (
            f"The admission plug-in ExtendedResourceToleration {status}. Without it, GPU pods must declare the "
            "toleration themselves. To enable it, start the API server with "
            "--enable-admission-plugins=ExtendedResourceToleration."
        )
    yield from _missing(choices, live)
    for pool, nodes in pools.items():
        yield from _notes_of_pool(groups[pool], nodes)


def _settings(what: SharedObject, current: LiveObject) -> str:
    ours = {tier.value: tier.priority for tier in UserPriority}.get(what.name)
    if (value := current.content.get("value")) is not None and ours not in (None, value):
        return f"value {value}, ours would be {ours}"
    return "matching settings"


def _missing(choices: ExistingConfig, live: LiveCluster) -> Iterator[str]:
    if not live.api_server:
        yield (
            "The Service kubernetes and its EndpointSlice in the namespace default could not be read, so user pods do "
            "not reach the API server: get the right to read them, or set namespaces.NAME.apiServerCidrs."
        )
    if not live.has_metrics:
        yield "Resource metrics are missing: install metrics-server, or HorizontalPodAutoscalers cannot scale by load."
    if choices.autoscaler and not live.has_autoscaler:
        yield "cluster.autoscaler is set, but the cluster has no deployment named cluster-autoscaler or karpenter."


def _notes_of_pool(group: NodeGroup, nodes: Sequence[LiveObject]) -> Iterator[str]:
    if group.is_elastic:
        labels = ",".join(f"{key}={value}" for key, value in group.labels.items())
        yield (
            f"Pool '{group.pool}' is autoscaled, but a new node gets the pool's labels only at the next `up`. "
            f"Ask the owner to set them on new nodes: {labels}."
        )
    closed: dict[str, list[LiveObject]] = {}
    for node in nodes:
        for taint in taints.foreign(node, group.taints):
            closed.setdefault(taint, []).append(node)
    for taint, where in closed.items():
        yield (
            f"Pool '{group.pool}': the taint {taint} of another owner, which our pods do not tolerate, is on "
            f"{named(where)}."
        )
    for resource, count in group.devices.items():
        how = f" with the settings for {group.sharing.label} (docs/gpus.md)" if group.sharing else ""
        lacking = [node for node in nodes if _offered(node, resource) < count]
        if lacking:
            yield (
                f"Pool '{group.pool}': {named(lacking)} offer fewer than {count} of {resource}: install the vendor's "
                f"driver and device plug-in{how}."
            )


def _offered(node: LiveObject, resource: str) -> int:
    return int((node.content.get("status", {}).get("allocatable") or {}).get(resource, 0))


def default_classes(live: LiveCluster) -> list[str]:
    """Return the names of the default StorageClasses."""
    classes = [each for what, each in live.shared.items() if what.kind is SharedKind.STORAGE_CLASS]
    return [each.name for each in classes if any(each.annotations.get(key) == TRUE for key in DEFAULT_KEYS)]


def named(nodes: Sequence[LiveObject]) -> str:
    """Return the names of nodes for a message; at most five, then a count."""
    names = [node.name for node in nodes]
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return (", ".join(names[:_NAMED_MAX]) or "none") + more
