"""What a stack asks of a cluster, compared with what is there. Nobody is asked here."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from typing_extensions import override

from components.contract.environments import PlatformProfile
from components.contract.existing.cluster_inventory import ClusterInventory, SharedKind, SharedObject
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, WellKnownLabel
from components.contract.namespaces import NAMESPACE_MARKS
from components.contract.priorities import SystemPriority, UserPriority
from components.contract.quantities import parse_quantity
from components.contract.storage import DEFAULT_KEYS, storage_class
from components.contract.taints import Taint
from infra.config import StackConfig
from workbench.existing import taints
from workbench.existing.live import Live
from workbench.existing.objects import LiveObject
from workbench.existing.taints import Change

OLDEST_MINOR: Final = 30
"""Kubernetes 1.30 is the first with admission policies that are judged in the API server (v1):
https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/."""

MEMORY_SHARE: Final = Decimal("0.9")
"""Part of a machine's memory that its node reports at least: firmware and kernel keep the rest."""

_NAMED_MAX: Final = 5
"""Nodes that a message names."""


@dataclass(frozen=True)
class Blocker:
    """Something in the cluster that a change would have to fight."""

    where: str
    """An object of the cluster, or a key of the stack file."""
    there: str
    wanted: str
    step: str
    """What to do next."""

    @override
    def __str__(self) -> str:
        """Return place and comparison, and the step on a line of its own."""
        return f"- {self.where}: there is {self.there}; wanted {self.wanted}.\n  {self.step}"


@dataclass(frozen=True)
class Seen:
    """What was seen of a cluster, and what follows for a change.

    Parameters
    ----------
    sighting
        What the program has to know.
    refused
        All that stands in the way of a change; empty if it may go on.
    notes
        What the cluster lacks, and what is worth knowing.
    taints
        What is to be done about nodes' taints.
    wanted_taints
        By node, those that its pool wants it to have.
    uids
        By node of a pool, who it is.
    """

    sighting: ClusterInventory
    refused: tuple[Blocker, ...]
    notes: tuple[str, ...]
    taints: tuple[Change, ...]
    wanted_taints: Mapping[str, tuple[Taint, ...]]
    uids: Mapping[str, str]


def inspect(config: StackConfig, live: Live, made: Collection[str]) -> Seen:
    """Compare a stack with its cluster.

    Parameters
    ----------
    config
        The stack file's choices.
    live
        The cluster.
    made
        UIDs of the objects that the stack's own state calls made by it.
    """
    choices = config.cluster
    if not isinstance(choices, ExistingConfig):
        raise TypeError(f"a cluster of kind {choices.kind} is not looked at")
    groups = {group.pool: group for group in config.groups}
    pools = {pool: [node for node in live.nodes if _matches(node, choices, pool)] for pool in groups}
    wanted = {node.name: groups[pool].taints for pool, nodes in pools.items() for node in nodes}
    shared = list(_shared(config, choices))
    foreign = [each for each in shared if (it := live.shared.get(each[0])) and not (it.is_ours or it.uid in made)]
    refused = [
        *_of_version(live),
        *_of_counts(groups, pools),
        *(each for pool, nodes in pools.items() for node in nodes for each in _of_node(groups[pool], node)),
        *(each for what, spec in foreign for each in _of_shared(what, live.shared[what], spec)),
        *_of_default_class(choices, live),
    ]
    sighting = ClusterInventory(
        choices.cluster_id,
        {pool: tuple(node.name for node in nodes) for pool, nodes in pools.items()},
        frozenset(what for what, _ in foreign),
    )
    changes = (taints.change_of(node, wanted.get(node.name, ())) for node in live.nodes)
    return Seen(
        sighting,
        tuple(refused),
        tuple(_notes(choices, live, groups, pools, [what for what, _ in foreign])),
        tuple(change for change in changes if change.added or change.removed),
        wanted,
        {node.name: node.uid for nodes in pools.values() for node in nodes},
    )


def _matches(node: LiveObject, choices: ExistingConfig, pool: str) -> bool:
    return choices.nodes[pool].selector.items() <= node.labels.items()


def _of_version(live: Live) -> Iterator[Blocker]:
    if live.minor < OLDEST_MINOR:
        yield Blocker(
            "the API server",
            f"Kubernetes 1.{live.minor}",
            f"1.{OLDEST_MINOR} or newer, whose admission policies keep user work off the core nodes",
            "Ask the cluster's owner for an upgrade.",
        )


def _of_counts(groups: Mapping[str, NodeGroup], pools: Mapping[str, Sequence[LiveObject]]) -> Iterator[Blocker]:
    owners = Counter(node.name for nodes in pools.values() for node in nodes)
    for name in sorted(name for name, count in owners.items() if count > 1):
        both = " and ".join(pool for pool, nodes in pools.items() if any(node.name == name for node in nodes))
        yield Blocker(
            f"node {name}",
            f"a match of the selectors of pools {both}",
            "one pool a node",
            "Choose labels in cluster.nodes that tell them apart, or ask the owner to take one label away.",
        )
    for pool, nodes in pools.items():
        size = groups[pool].size
        if not size.min <= len(nodes) <= size.max:
            yield Blocker(
                f"pools.{pool}.size",
                f"{len(nodes)} nodes that its selector finds ({_named(nodes)})",
                f"{size} nodes",
                f"Correct the size, or cluster.nodes.{pool}.selector. `kubectl get nodes --show-labels` shows labels.",
            )


def _of_node(group: NodeGroup, node: LiveObject) -> Iterator[Blocker]:
    for key, value in group.labels.items():
        there = node.labels.get(key)
        others = node.others("metadata", "labels", key)
        if there is not None and there != value and others:
            yield Blocker(
                f"node {node.name}, label {key}",
                f"'{there}', set by {', '.join(others)}",
                f"'{value}', as pool '{group.pool}' has it",
                f"Change the pool or its selector. If the label is wrong: `kubectl label node {node.name} {key}-`, "
                "or whatever tool set it.",
            )
    for taint, rival in taints.rivals(node, group.taints):
        yield Blocker(
            f"node {node.name}, taint {taint.key}",
            f"{rival} of somebody else, and a node has one taint of a key and an effect",
            str(taint),
            f"Ask its owner to change it, or: `kubectl taint node {node.name} {rival}-`.",
        )
    machine, capacity = group.instances[0], node.content.get("status", {}).get("capacity") or {}
    offered = {key: parse_quantity(str(capacity[key])) for key in ("cpu", "memory") if key in capacity}
    memory = Decimal(machine.memory_mib) * 2**20
    if len(offered) > 1 and (offered["cpu"] < machine.vcpus or offered["memory"] < memory * MEMORY_SHARE):
        yield Blocker(
            f"node {node.name}, capacity",
            f"{capacity['cpu']} cores and {offered['memory'] / 2**30:.0f} GiB",
            f"{machine.vcpus} cores and about {machine.memory_mib // 1024} GiB, as pools.{group.pool} says",
            "Correct machine or instanceTypes: pods that fit on paper only would wait for ever.",
        )


def _shared(config: StackConfig, choices: ExistingConfig) -> Iterator[tuple[SharedObject, Mapping[str, Any]]]:
    """Yield what the stack makes of the kinds that are adopted, each with what it says."""
    system = () if config.profile is PlatformProfile.IGUAZIO else tuple(SystemPriority)
    for tier in (*UserPriority, *system):
        spec = {"value": tier.priority, "preemptionPolicy": tier.preemption_policy.value, "globalDefault": False}
        yield SharedObject(SharedKind.PRIORITY_CLASS, tier.value), spec
    for name in config.namespaces:
        yield SharedObject(SharedKind.NAMESPACE, name), {"labels": dict(NAMESPACE_MARKS)}
    if choice := choices.storage_class:
        said = storage_class(choice.provisioner, choice.parameters)
        yield SharedObject(SharedKind.STORAGE_CLASS, choice.name), {_camel(key): said[key] for key in said}


_DEFAULTS: Final[Mapping[str, Any]] = {
    "allowVolumeExpansion": False,
    "globalDefault": False,
    "parameters": {},
    "preemptionPolicy": "PreemptLowerPriority",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""What the API server means where an object says nothing."""


def _of_shared(what: SharedObject, live: LiveObject, spec: Mapping[str, Any]) -> Iterator[Blocker]:
    if live.content.get("status", {}).get("phase") == "Terminating":
        yield Blocker(
            f"{what.kind} {what.name}", "one that is being deleted", "one that stays", "Wait until it is gone."
        )
        return
    differing = []
    for key, wanted in spec.items():
        if key == "labels":
            # What is missing is added; what is there must agree, or somebody else's pods would be judged otherwise.
            rivals = {name: live.labels[name] for name in wanted if live.labels.get(name, wanted[name]) != wanted[name]}
            differing += [(name, there, wanted[name]) for name, there in rivals.items()]
        elif (there := live.content.get(key, _DEFAULTS.get(key))) != wanted:
            differing.append((key, there, wanted))
    if differing:
        yield Blocker(
            f"{what.kind} {what.name} of somebody else",
            ", ".join(f"{key} {there}" for key, there, _ in differing),
            ", ".join(f"{key} {wanted}" for key, _, wanted in differing),
            "Ask its owner to change it, or to give it another name. It is neither replaced nor changed from here.",
        )


def _of_default_class(choices: ExistingConfig, live: Live) -> Iterator[Blocker]:
    choice, defaults = choices.storage_class, _default_classes(live)
    if choice and (others := [name for name in defaults if name != choice.name]):
        yield Blocker(
            "cluster.storageClass",
            f"another default StorageClass, {', '.join(others)}",
            f"'{choice.name}' as the only one",
            f"Drop storageClass to use the cluster's own, or: `kubectl annotate storageclass {others[0]} "
            f"{' '.join(f'{key}-' for key in DEFAULT_KEYS)}`.",
        )


def _default_classes(live: Live) -> list[str]:
    classes = [each for what, each in live.shared.items() if what.kind is SharedKind.STORAGE_CLASS]
    return [each.name for each in classes if any(each.annotations.get(key) == TRUE for key in DEFAULT_KEYS)]


def _notes(
    choices: ExistingConfig,
    live: Live,
    groups: Mapping[str, NodeGroup],
    pools: Mapping[str, Sequence[LiveObject]],
    adopted: Sequence[SharedObject],
) -> Iterator[str]:
    for what in adopted:
        yield f"{what.kind} {what.name} was there and agrees: it stays its owner's, also after `destroy`."
        enforced = WellKnownLabel.POD_SECURITY_ENFORCE
        if what.kind is SharedKind.NAMESPACE and enforced not in live.shared[what].labels:
            yield f"Namespace {what.name} did not say {enforced}: its new pods must keep '{NAMESPACE_MARKS[enforced]}'."
    if not choices.storage_class and not _default_classes(live):
        yield (
            "No StorageClass is the default, so claims of the MLRun CE chart would wait: give cluster.storageClass, "
            f"or ask the owner to annotate one with {DEFAULT_KEYS[0]}=true."
        )
    for what, there in live.shared.items():
        if what.kind is SharedKind.PRIORITY_CLASS and there.content.get("globalDefault"):
            yield (
                f"PriorityClass {what.name} is the cluster's default: pods that name no class get its value "
                f"{there.content.get('value')}, beside {UserPriority.LOW.priority} to {UserPriority.HIGH.priority} of "
                "the classes for user work. Let every pod name its class."
            )
    if any(group.gpu_resource for group in groups.values()) and not live.adds_tolerations:
        seen = "could not be tried" if live.adds_tolerations is None else "is off"
        yield (
            f"The admission plug-in ExtendedResourceToleration {seen}. Where it is off, pods that ask for a GPU must "
            "tolerate its taint themselves: start the API server with "
            "--enable-admission-plugins=ExtendedResourceToleration."
        )
    if not live.has_metrics:
        yield "Nothing serves resource metrics: install metrics-server, or no HorizontalPodAutoscaler scales by load."
    if choices.autoscaler and not live.has_autoscaler:
        yield "cluster.autoscaler says that sizes move, and nothing in the cluster calls itself an autoscaler."
    for pool, nodes in pools.items():
        yield from _notes_of_pool(groups[pool], nodes)


def _notes_of_pool(group: NodeGroup, nodes: Sequence[LiveObject]) -> Iterator[str]:
    if group.is_elastic:
        labels = ",".join(f"{key}={value}" for key, value in group.labels.items())
        yield (
            f"Pool '{group.pool}' grows by itself, and a new node has the pool's labels after the next `up` only. "
            f"Let its owner give them to new nodes: {labels}."
        )
    closed: dict[str, list[LiveObject]] = {}
    for node in nodes:
        for taint in taints.foreign(node, group.taints):
            closed.setdefault(taint, []).append(node)
    for taint, where in closed.items():
        yield (
            f"Pool '{group.pool}': the taint {taint} of somebody else, which nothing of ours tolerates, is on "
            f"{_named(where)}."
        )
    if resource := group.gpu_resource:
        gpus = group.instances[0].gpus
        lacking = [node for node in nodes if _offered(node, resource) < gpus]
        if lacking:
            yield (
                f"Pool '{group.pool}': {_named(lacking)} offer fewer than {gpus} of {resource}: install driver and "
                "device plug-in of its maker."
            )


def _offered(node: LiveObject, resource: str) -> int:
    return int((node.content.get("status", {}).get("allocatable") or {}).get(resource, 0))


def _named(nodes: Sequence[LiveObject]) -> str:
    names = [node.name for node in nodes]
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return (", ".join(names[:_NAMED_MAX]) or "none") + more


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
