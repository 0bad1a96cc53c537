"""Compares a stack's requirements with a live cluster. Pure: makes no API calls."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from components.contract.environments import PlatformProfile
from components.contract.existing.cluster_inventory import ClusterInventory, SharedKind, SharedObject
from components.contract.existing.config import OLDEST_MINOR, ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.placement import FIRST_MUTATING_MINOR
from components.contract.priorities import USER_PRIORITY_LIMIT, SystemPriority, UserPriority
from components.contract.quantities import parse_quantity
from components.contract.storage import DEFAULT_KEYS, storage_class
from components.contract.taints import Taint
from infra.config import StackConfig
from workbench.engine.conflict import Conflict
from workbench.engine.live_objects import LiveObject
from workbench.existing import claims, taints
from workbench.existing.advice import default_classes, named, notes
from workbench.existing.live import LiveCluster
from workbench.existing.taints import Change

MEMORY_SHARE: Final = Decimal("0.9")
"""Smallest share of a machine's memory that its node reports; firmware and kernel take the rest."""


@dataclass(frozen=True)
class Inspection:
    """Result of comparing a stack with its cluster.

    Parameters
    ----------
    inventory
        What the program needs to know about the cluster.
    blockers
        All conflicts; empty if a change may proceed.
    notes
        Missing features and other advice.
    taints
        Changes of nodes' taints.
    desired_taints
        Taints that each node should have, by node name.
    uids
        UID of each node in a pool, by node name.
    """

    inventory: ClusterInventory
    blockers: tuple[Conflict, ...]
    notes: tuple[str, ...]
    taints: tuple[Change, ...]
    desired_taints: Mapping[str, tuple[Taint, ...]]
    uids: Mapping[str, str]


def inspect(config: StackConfig, live: LiveCluster, created: Collection[str]) -> Inspection:
    """Compare a stack with its live cluster.

    Parameters
    ----------
    config
        The stack file.
    live
        The cluster.
    created
        UIDs of the objects that the stack created.
    """
    choices = config.cluster
    if not isinstance(choices, ExistingConfig):
        raise TypeError(f"a cluster of kind {choices.kind} is not inspected")
    groups = {group.pool: group for group in config.groups}
    pools = {pool: [node for node in live.nodes if _matches(node, choices, pool)] for pool in groups}
    desired = {node.name: groups[pool].taints for pool, nodes in pools.items() for node in nodes}
    shared = list(_shared(config, choices))
    foreign = [each for each in shared if (it := live.shared.get(each[0])) and not (it.is_ours or it.uid in created)]
    blockers = [
        *_of_version(choices, live),
        *_of_counts(groups, pools),
        *(each for pool, nodes in pools.items() for node in nodes for each in _of_node(groups[pool], node)),
        *(each for what, spec in foreign for each in _of_shared(what, live.shared[what], spec)),
        *_of_class_order(dict(foreign), live),
        *_of_default_class(choices, live),
        *claims.conflicts(config, live),
    ]
    inventory = ClusterInventory(
        choices.cluster_id,
        {pool: tuple(node.name for node in nodes) for pool, nodes in pools.items()},
        frozenset(what for what, _ in foreign),
        live.mutates,
        live.api_server,
        live.api_ports,
    )
    changes = (taints.change_of(node, desired.get(node.name, ())) for node in live.nodes)
    return Inspection(
        inventory,
        tuple(blockers),
        (*notes(choices, live, groups, pools, [what for what, _ in foreign]), *claims.notes(config, live)),
        tuple(change for change in changes if change.added or change.removed),
        desired,
        {node.name: node.uid for nodes in pools.values() for node in nodes},
    )


def _matches(node: LiveObject, choices: ExistingConfig, pool: str) -> bool:
    return choices.nodes[pool].selector.items() <= node.labels.items()


def _of_version(choices: ExistingConfig, live: LiveCluster) -> Iterator[Conflict]:
    if choices.mutating_admission and not live.mutates:
        yield Conflict(
            "cluster.mutatingAdmission",
            f"the API server, Kubernetes 1.{live.minor}, offers no MutatingAdmissionPolicy",
            f"Kubernetes 1.{FIRST_MUTATING_MINOR} or newer with that feature on",
            "Set it to false or remove it, or ask the cluster's owner to upgrade.",
        )
    if live.minor < OLDEST_MINOR:
        yield Conflict(
            "the API server",
            f"Kubernetes 1.{live.minor}",
            f"1.{OLDEST_MINOR} or newer, for the admission policies that keep user pods off the core nodes",
            "Ask the cluster's owner to upgrade it.",
        )


def _of_counts(groups: Mapping[str, NodeGroup], pools: Mapping[str, Sequence[LiveObject]]) -> Iterator[Conflict]:
    owners = Counter(node.name for nodes in pools.values() for node in nodes)
    for name in sorted(name for name, count in owners.items() if count > 1):
        both = " and ".join(pool for pool, nodes in pools.items() if any(node.name == name for node in nodes))
        yield Conflict(
            f"node {name}",
            f"it matches the selectors of pools {both}",
            "one pool per node",
            "Use labels in cluster.nodes that match a single pool, or ask the owner to remove one of the labels.",
        )
    for pool, nodes in pools.items():
        size = groups[pool].size
        if not size.min <= len(nodes) <= size.max:
            yield Conflict(
                f"pools.{pool}.size",
                f"{len(nodes)} nodes match its selector ({named(nodes)})",
                f"{size} nodes",
                f"Correct the size or cluster.nodes.{pool}.selector; see `kubectl get nodes --show-labels`.",
            )


def _of_metadata(
    group: NodeGroup, node: LiveObject, what: str, wanted: Mapping[str, str], live: Mapping[str, str]
) -> Iterator[Conflict]:
    verb = {"annotation": "annotate"}.get(what, what)
    for key, value in wanted.items():
        others = node.other_managers("metadata", f"{what}s", key)
        if live.get(key, value) != value and others:
            yield Conflict(
                f"node {node.name}, {what} {key}",
                f"'{live[key]}', set by {', '.join(others)}",
                f"'{value}' for pool '{group.pool}'",
                f"Change the pool or its selector. If the {what} is wrong: `kubectl {verb} node {node.name} {key}-`, "
                "or remove it with the tool that set it.",
            )


def _of_node(group: NodeGroup, node: LiveObject) -> Iterator[Conflict]:
    yield from _of_metadata(group, node, "label", group.labels, node.labels)
    yield from _of_metadata(group, node, "annotation", group.annotations, node.annotations)
    for taint, rival in taints.conflicting_taints(node, group.taints):
        yield Conflict(
            f"node {node.name}, taint {taint.key}",
            f"{rival} of another owner; a node can have only one taint per key and effect",
            str(taint),
            f"Ask its owner to change it, or: `kubectl taint node {node.name} {rival}-`.",
        )
    machine, capacity = group.instances[0], node.content.get("status", {}).get("capacity") or {}
    offered = {key: parse_quantity(str(capacity[key])) for key in ("cpu", "memory") if key in capacity}
    memory = Decimal(machine.memory_mib) * 2**20
    if len(offered) > 1 and (offered["cpu"] < machine.vcpus or offered["memory"] < memory * MEMORY_SHARE):
        yield Conflict(
            f"node {node.name}, capacity",
            f"{capacity['cpu']} cores and {offered['memory'] / 2**30:.0f} GiB",
            f"{machine.vcpus} cores and about {machine.memory_mib // 1024} GiB for pools.{group.pool}",
            "Correct machine or instanceTypes; otherwise large pods stay Pending.",
        )


def _shared(config: StackConfig, choices: ExistingConfig) -> Iterator[tuple[SharedObject, Mapping[str, Any]]]:
    """Yield the stack's objects of the adoptable kinds with their declared fields."""
    system = () if config.profile is PlatformProfile.IGUAZIO else tuple(SystemPriority)
    for tier in (*UserPriority, *system):
        spec: dict[str, Any] = {"preemptionPolicy": tier.preemption_policy.value, "globalDefault": False}
        if isinstance(tier, SystemPriority):  # the values of user classes are their owner's: see _of_class_order
            spec["value"] = tier.priority
        yield SharedObject(SharedKind.PRIORITY_CLASS, tier.value), spec
    for name, namespace in config.namespaces.items():
        yield SharedObject(SharedKind.NAMESPACE, name), {"labels": namespace.marks(config.policies.admission)}
    if choice := choices.storage_class:
        fields = storage_class(choice.provisioner, choice.parameters)
        yield SharedObject(SharedKind.STORAGE_CLASS, choice.name), {_camel(key): fields[key] for key in fields}


def _of_class_order(foreign: Collection[SharedObject], live: LiveCluster) -> Iterator[Conflict]:
    """Yield a conflict if the values of user classes, those of other owners included, have another order than ours."""
    classes = {tier: SharedObject(SharedKind.PRIORITY_CLASS, tier.value) for tier in UserPriority}
    adopted = {tier: int(live.shared[what].content["value"]) for tier, what in classes.items() if what in foreign}
    values = [adopted.get(tier, tier.priority) for tier in UserPriority]
    if adopted and not all(a < b for a, b in pairwise((-1, *values, USER_PRIORITY_LIMIT))):
        yield Conflict(
            f"PriorityClass {', '.join(adopted)} of another owner",
            ", ".join(f"{tier} {value}" for tier, value in zip(UserPriority, values, strict=True)),
            f"0 <= {' < '.join(UserPriority)} < {USER_PRIORITY_LIMIT}",
            "Ask its owner to change the value. igz-clusters neither replaces nor changes it.",
        )


_DEFAULTS: Final[Mapping[str, Any]] = {
    "allowVolumeExpansion": False,
    "globalDefault": False,
    "parameters": {},
    "preemptionPolicy": "PreemptLowerPriority",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""The API server's defaults of fields that an object leaves out."""


def _of_shared(what: SharedObject, live: LiveObject, spec: Mapping[str, Any]) -> Iterator[Conflict]:
    if live.content.get("status", {}).get("phase") == "Terminating":
        yield Conflict(f"{what.kind} {what.name}", "it is being deleted", "an active one", "Wait until it is deleted.")
        return
    differing = []
    for key, declared in spec.items():
        if key == "labels":
            # Missing labels are added. Those of others must match: a change would affect the owner's pods.
            differing_labels = {
                name: live.labels[name]
                for name in declared
                if live.labels.get(name, declared[name]) != declared[name]
                and live.other_managers("metadata", "labels", name)
            }
            differing += [(name, current, declared[name]) for name, current in differing_labels.items()]
        elif (current := live.content.get(key, _DEFAULTS.get(key))) != declared:
            differing.append((key, current, declared))
    if differing:
        yield Conflict(
            f"{what.kind} {what.name} of another owner",
            ", ".join(f"{key} {current}" for key, current, _ in differing),
            ", ".join(f"{key} {declared}" for key, _, declared in differing),
            "Ask its owner to change or rename it. igz-clusters neither replaces nor changes it.",
        )


def _of_default_class(choices: ExistingConfig, live: LiveCluster) -> Iterator[Conflict]:
    choice, defaults = choices.storage_class, default_classes(live)
    if choice and (others := [name for name in defaults if name != choice.name]):
        yield Conflict(
            "cluster.storageClass",
            f"another default StorageClass, {', '.join(others)}",
            f"'{choice.name}' as the only default",
            f"Remove storageClass to use the cluster's default, or: `kubectl annotate storageclass {others[0]} "
            f"{' '.join(f'{key}-' for key in DEFAULT_KEYS)}`.",
        )


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
