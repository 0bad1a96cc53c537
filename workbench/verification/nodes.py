"""Nodes: pool, lifecycle, labels, taints and number."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, AnnotationKey, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.local.config import LocalConfig
from components.contract.pools import PoolRole
from components.contract.taints import AKS_SPOT_TAINT
from workbench.engine.declared_fields import spelled
from workbench.engine.live_objects import LiveObject
from workbench.engine.pool_status import group_of
from workbench.report.drift import STATES_TAINTS
from workbench.verification.contract import Contract
from workbench.verification.deviation import Deviation, Outcome, Place
from workbench.verification.snapshot import Snapshot

_CAPACITY_TYPES: Final = ("eks.amazonaws.com/capacityType", "karpenter.sh/capacity-type", AKS_SPOT_TAINT.key)
"""Labels with which providers state the lifecycle of a node.

https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html, https://karpenter.sh/docs/concepts/nodepools/,
https://learn.microsoft.com/azure/aks/spot-node-pool. AKS sets its label on spot nodes only.
"""

_CONTROL_PLANE: Final = "node-role.kubernetes.io/control-plane"

_STARTING: Final = re.compile(r".*/agent-not-ready$|.*cluster-autoscaler\.kubernetes\.io/")
"""Taints that a node has until an agent on it is ready."""


STARTS: Final = timedelta(minutes=10)
"""How long a node may be starting or missing before that is a deviation (assumed)."""


@dataclass(frozen=True)
class Member:
    """A node and its pool.

    Parameters
    ----------
    node
        The node.
    pool
        None if it belongs to none.
    group
        Its group; None if that is unknown, since several groups of the pool fit.
    """

    node: LiveObject
    pool: str | None
    group: NodeGroup | None

    def place(self, path: str = "") -> Place:
        """Return the place of a field of the node."""
        return Place("Node", self.node.name, path=path)


def members(contract: Contract, snapshot: Snapshot) -> list[Member]:
    """Return all nodes, each with its pool; those of a control plane only if they belong to one."""
    found = (_member(contract, node) for node in snapshot.of("Node"))
    return [each for each in found if each.pool or _CONTROL_PLANE not in each.node.labels]


def _member(contract: Contract, node: LiveObject) -> Member:
    pool, group = _pool(contract, node)
    of_pool = contract.pools.get(pool or "", ())
    found = next((each for each in of_pool if each.name == group), of_pool[0] if len(of_pool) == 1 else None)
    return Member(node, pool if of_pool else None, found)


def _pool(contract: Contract, node: LiveObject) -> tuple[str | None, str | None]:
    """Return the pool and the group of a node; what created it counts more than labels, which users may change."""
    choices = contract.config.cluster
    if isinstance(choices, ExistingConfig):
        fits = (pool for pool, each in choices.nodes.items() if each.selector.items() <= node.labels.items())
        return next(fits, None), None
    declared = contract.declared.get(("Node", "", node.name))
    if declared:
        return declared["metadata"]["labels"].get(LabelKey.POOL), None
    group = group_of(dict(node.content), contract.groups_in_the_cloud, contract.recorded)
    pools = {each.name: each.pool for each in contract.config.groups}
    return pools.get(group or "", node.labels.get(LabelKey.POOL)), group


def provider_lifecycle(node: LiveObject) -> Lifecycle | None:
    """Return the lifecycle that the provider states on a node; None if it states none."""
    stated = [node.labels.get(each) for each in _CAPACITY_TYPES] + [node.annotations.get(AnnotationKey.CAPACITY_TYPE)]
    texts = [each.lower().replace("_", "-") for each in stated if each]
    known = {each.value: each for each in Lifecycle}
    return next((known[each] for each in texts if each in known), None)


def lifecycles(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every node has the lifecycle label of its pool, and its provider agrees."""
    found = members(contract, snapshot)
    deviations = (each for member in found if member.pool for each in _lifecycle(contract, member))
    return Outcome(f"{len(found)} nodes", tuple(deviations))


def _lifecycle(contract: Contract, member: Member) -> Iterator[Deviation]:
    group = contract.pools[member.pool or ""][0]
    wanted, label = group.lifecycle, member.node.labels.get(LabelKey.LIFECYCLE)
    if label != wanted.label_value:
        yield Deviation(
            member.place(spelled("metadata.labels", LabelKey.LIFECYCLE)),
            f"is '{label}'" if label else "is missing",
            f"'{wanted.label_value}' in pool '{group.pool}'",
            f"{_restore(contract)} By hand: `kubectl label node {member.node.name} --overwrite "
            f"{LabelKey.LIFECYCLE}={wanted.label_value}`.",
        )
    stated = provider_lifecycle(member.node)
    if stated and stated.label_value != wanted.label_value and group.role is not PoolRole.INITIAL:
        yield Deviation(
            member.place("lifecycle"),
            f"the provider says {stated}",
            f"{wanted} instances in pool '{group.pool}'",
            f"Find out who made the node. {contract.up}",
        )


def _restore(contract: Contract) -> str:
    """Return how a node gets its labels and taints back."""
    if isinstance(contract.config.cluster, ExistingConfig | LocalConfig):
        return contract.up
    return f"{contract.up} A cloud gives labels and taints to new nodes only: replace the node if it still differs."


def is_starting(node: LiveObject, snapshot: Snapshot) -> bool:
    """Return whether a node is so new that kubelet, driver and agents may not have reported yet."""
    return _since(str(node.content["metadata"].get("creationTimestamp", "")), snapshot) < STARTS


def _since(text: str, snapshot: Snapshot) -> timedelta:
    """Return how long ago a time of the API server was; very long without one."""
    return snapshot.taken - datetime.fromisoformat(text) if text else timedelta.max


def readiness(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every node of a pool is ready, or is starting."""
    found = [each for each in members(contract, snapshot) if each.pool]
    deviations = (each for member in found for each in _not_ready(member, snapshot))
    return Outcome(f"{len(found)} nodes", tuple(deviations))


def _not_ready(member: Member, snapshot: Snapshot) -> Iterator[Deviation]:
    conditions = member.node.content.get("status", {}).get("conditions") or ()
    for each in conditions:
        if each["type"] == "Ready" and each["status"] != TRUE.capitalize():
            long = _since(str(each.get("lastTransitionTime", "")), snapshot)
            if long > STARTS:
                why = f": {each['message']}" if each.get("message") else ""
                yield Deviation(
                    member.place("status.conditions[Ready]"),
                    f"is {each['status']} for more than {STARTS.seconds // 60} minutes{why}",
                    "a node that is ready",
                    f"See `kubectl describe node {member.node.name}`. If it does not come back, replace it.",
                )


def labels(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every node has the labels of its pool, except that of the lifecycle."""
    found = [each for each in members(contract, snapshot) if each.pool]
    deviations = (
        Deviation(
            member.place(spelled("metadata.labels", key)),
            f"is '{live}'" if live is not None else "is missing",
            f"'{value}' in pool '{member.pool}'",
            _restore(contract),
        )
        for member in found
        for key, value in contract.pools[member.pool or ""][0].labels.items()
        if key != LabelKey.LIFECYCLE and (live := member.node.labels.get(key)) != value
    )
    return Outcome(f"{len(found)} nodes in {len(contract.pools)} pools", tuple(deviations))


def taints(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every node has the taints of its pool, and others only on an existing cluster: its owner's."""
    found = [each for each in members(contract, snapshot) if each.pool]
    deviations = (each for member in found for each in _taints(contract, member))
    return Outcome(f"{len(found)} nodes in {len(contract.pools)} pools", tuple(deviations))


def _taints(contract: Contract, member: Member) -> Iterator[Deviation]:
    live = {
        (each["key"], each.get("value", ""), each["effect"])
        for each in member.node.content.get("spec", {}).get("taints") or ()
    }
    wanted = {(each.key, each.value, each.effect.value) for each in contract.pools[member.pool or ""][0].taints}
    for each in sorted(wanted - live):
        yield Deviation(
            member.place("spec.taints"),
            f"lacks {_text(each)}",
            f"that taint in pool '{member.pool}'",
            _restore(contract),
        )
    if isinstance(contract.config.cluster, ExistingConfig):
        return
    for each in sorted(live - wanted):
        if not STATES_TAINTS.match(each[0]) and not _STARTING.match(each[0]):
            yield Deviation(
                member.place("spec.taints"),
                f"has {_text(each)}, which the platform's pods do not tolerate",
                f"{', '.join(map(_text, sorted(wanted))) or 'no taint'} in pool '{member.pool}'",
                f"If it has no purpose: `kubectl taint node {member.node.name} {_text(each)}-`.",
            )


def _text(taint: tuple[str, str, str]) -> str:
    key, value, effect = taint
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def counts(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every group has a number of nodes within its bounds; the initial group has a check of its own."""
    if why := contract.unsettled(snapshot.taken):
        return Outcome("", absent=why)
    groups = [group for group in contract.config.groups if group.role is not PoolRole.INITIAL]
    found = members(contract, snapshot)
    return Outcome(f"{len(groups)} groups", tuple(each for group in groups for each in _count(contract, group, found)))


def _count(contract: Contract, group: NodeGroup, found: Sequence[Member]) -> Iterator[Deviation]:
    there = {each.node.name for each in found if each.group == group}
    size = group.size.model_copy(update={"min": min(group.minimums)})
    if size.min <= len(there) <= size.max:
        return
    lost = [
        node
        for (kind, _, node), manifest in contract.declared.items()
        if kind == "Node" and node not in there and manifest["metadata"]["labels"].get(LabelKey.POOL) == group.pool
    ]
    for place in [Place("Node", each) for each in lost] or [Place("Group", group.name)]:
        problem = f"does not exist: group '{group.name}' has {len(there)} nodes" if lost else f"has {len(there)} nodes"
        yield Deviation(place, problem, f"{size} nodes", _resize(contract, group))


def _resize(contract: Contract, group: NodeGroup) -> str:
    if isinstance(contract.config.cluster, ExistingConfig):
        return "Correct the size or cluster.nodes in the stack file, or ask the owner for nodes."
    who = "autoscaler" if group.is_elastic else "provider"
    return f"If the {who} does not correct it within minutes: {contract.up}"


def initial_group(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that the initial group has as many nodes as declared, and all are on-demand."""
    (group,) = (group for group in contract.config.groups if group.role is PoolRole.INITIAL)
    found = [each for each in members(contract, snapshot) if each.pool == group.pool]
    spot = (
        Deviation(
            each.place("lifecycle"),
            "the provider says spot",
            "on-demand instances for core services",
            f"Replace the node. {contract.up}",
        )
        for each in found
        if provider_lifecycle(each.node) is Lifecycle.SPOT
    )
    count = () if contract.unsettled(snapshot.taken) else tuple(_count(contract, group, found))
    return Outcome(f"{len(found)} nodes of pool '{group.pool}'", (*count, *spot))


def strays(contract: Contract, snapshot: Snapshot) -> Outcome:
    """Check that every node belongs to a pool; on an existing cluster, nodes of its owner need not."""
    found = members(contract, snapshot)
    is_existing = isinstance(contract.config.cluster, ExistingConfig)
    deviations = tuple(
        Deviation(
            member.place(),
            f"belongs to no pool of the stack: its label {LabelKey.POOL} is {repr(label) if label else 'missing'}",
            f"one of {', '.join(contract.pools)}",
            "Remove the node, or the label that our pools set."
            if is_existing
            else "Remove the node: this stack did not make it.",
        )
        for member in found
        if not member.pool and (bool(label := member.node.labels.get(LabelKey.POOL)) or not is_existing)
    )
    owned = sum(not each.pool for each in found) - len(deviations)
    return Outcome(f"{len(found)} nodes{f', {owned} of them of the owner' if owned else ''}", deviations)
