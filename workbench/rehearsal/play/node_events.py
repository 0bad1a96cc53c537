"""Events that affect nodes: reclaimed spot nodes, failures, refused capacity and rolling upgrades."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from workbench.rehearsal.cluster.simulated import ApiError
from workbench.rehearsal.play.agenda import Steps
from workbench.rehearsal.play.chronicle import is_elastic
from workbench.rehearsal.play.observed import ObservedNode
from workbench.rehearsal.play.site import Site
from workbench.rehearsal.scenario.events import CapacityRefused, NodeFailure, RollingUpgrade, SpotReclaim
from workbench.rehearsal.scenario.places import Place, is_in

UNNOTICED: Final = 50.0
"""Seconds until the controller manager counts a silent node as lost (kubernetes v1.36.3,
``pkg/controller/nodelifecycle/config/v1alpha1/defaults.go``, ``NodeMonitorGracePeriod``)."""

REPLACED: Final = 600.0
"""Seconds until a cloud replaces a machine that has failed: assumed, for checks of its health and a grace period."""

RETRY: Final = 30.0
"""Seconds between two attempts to start a node that the cloud refuses, or to evict a pod that a budget protects."""

DRAIN: Final = 900.0
"""Seconds after which the upgrade of a group gives up on pods that cannot be evicted: 15 minutes on EKS
(https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html), assumed elsewhere."""

_LOOK: Final = 15.0
"""Seconds between two checks of a node that starts or is being emptied."""


def spot_reclaim(site: Site, event: SpotReclaim) -> Steps:
    """Reclaim spot nodes: cordon them at the notice, and remove them with their pods at its end.

    A handler that cordons is assumed on every kind of cluster: EKS has one for its groups, aws-node-termination-handler
    and AKS do the same. Whether it also drains depends on its settings, so pods stay until the end of the notice. A
    group of fixed size gets another node; of elastic ones the autoscaler decides. Karpenter drains its own nodes at the
    notice (aws/karpenter-provider-aws 0175586b, ``pkg/controllers/interruption/controller.go``).
    """
    nodes = _chosen(site, event.place, event.nodes)
    site.chronicle.happened(event.event, _took("notice for", nodes, event.place.text), _names(nodes))
    for node in nodes:
        site.chronicle.mark_node(node.name, event.event)
        site.cordon(node)
        site.release(node)
    if not nodes:
        return
    yield event.notice
    for node in nodes:
        site.remove(node)
    site.chronicle.happened(event.event, _took("took", nodes, event.place.text), _names(nodes))
    yield from _replaced(site, nodes)


def node_failure(site: Site, event: NodeFailure) -> Steps:
    """Stop nodes: first unnoticed, then not ready; the controller manager evicts their pods; new nodes replace them."""
    nodes = _chosen(site, event.place, event.nodes)
    site.chronicle.happened(event.event, _took("broke", nodes, event.place.text), _names(nodes))
    for node in nodes:
        site.chronicle.mark_node(node.name, event.event)
        site.freeze(node)
    if not nodes:
        return
    yield UNNOTICED
    for node in nodes:
        site.break_down(node)
    yield REPLACED - UNNOTICED
    for node in nodes:
        site.remove(node)
    yield from _replaced(site, nodes)


def capacity_refused(site: Site, event: CapacityRefused) -> Steps:
    """Let the cloud start no nodes of a place for a time.

    The API server refuses the nodes that the autoscaler creates, so that its ``IncreaseSize`` fails and the group backs
    off, without a node. In AWS a group without capacity backs off too, once the autoscaler has seen the failed
    activity, and its placeholders are removed (kubernetes/autoscaler 1959f5f6,
    ``cloudprovider/aws/auto_scaling_groups.go`` and ``clusterstate/clusterstate.go``,
    ``handleInstanceCreationErrors``): a minute or two later than here.
    """
    groups = [group.name for group in site.cluster.groups if is_in(group, event.place)]
    site.capacity.refuse(groups)
    site.chronicle.happened(event.event, f"no new node of {', '.join(groups) or 'no group'}")
    yield event.lasts
    site.capacity.restore(groups)
    again = [group for group in groups if not site.capacity.lacks(group)]
    site.chronicle.happened(event.event, f"new nodes of {', '.join(again) or 'no group'} again")


def rolling_upgrade(site: Site, event: RollingUpgrade) -> Steps:
    """Replace every node of a place, one at a time: a new one, then the old one is drained and deleted.

    Elastic groups are replaced too. An upgrade gives up if pods of a node cannot be evicted in time, as on EKS. Nodes
    of Karpenter are replaced by Karpenter itself, as far as its budgets allow.
    """
    nodes = sorted(site.chronicle.nodes_in(event.place), key=lambda each: each.name)
    site.chronicle.happened(event.event, _took("upgrades", nodes, event.place.text), _names(nodes))
    if own := [each for each in nodes if each.node_pool]:
        yield from _drifted(site, event, own)
    for node in nodes:
        if node.node_pool:
            continue
        if node.gone is not None or node.is_leaving:
            continue
        while (name := site.replace(node)) is None:
            yield RETRY
        while not ((new := site.chronicle.node(name)) and (new.is_ready or new.gone is not None)):
            yield _LOOK
        site.cordon(node)
        site.chronicle.mark_node(node.name, event.event)
        began = site.clock.now
        while not _is_empty(site, node):
            if site.clock.now - began > DRAIN:
                site.chronicle.happened(
                    event.event, f"gave up: pods of {node.name} may not be evicted in 15m", [node.name]
                )
                return
            yield _LOOK
        site.remove(node)
    if nodes:
        site.chronicle.happened(event.event, _took("upgraded", nodes, event.place.text), _names(nodes))


def _drifted(site: Site, event: RollingUpgrade, nodes: list[ObservedNode]) -> Steps:
    """Let Karpenter replace nodes; wait until all are gone, or none was removed for as long as an upgrade waits."""
    for node in nodes:
        site.chronicle.mark_node(node.name, event.event)
    for pool in dict.fromkeys(each.node_pool for each in nodes):
        site.renew(pool)
    began, left = site.clock.now, len(nodes)
    while there := [each for each in nodes if each.gone is None]:
        if len(there) < left:
            began, left = site.clock.now, len(there)
        if site.clock.now - began > DRAIN:
            text = f"Karpenter has not replaced {', '.join(_names(there))} in 15m"
            site.chronicle.happened(event.event, text, _names(there))
            return
        yield _LOOK


def _is_empty(site: Site, node: ObservedNode) -> bool:
    """Evict the pods that may be evicted; return whether only pods of DaemonSets were left."""
    left = [pod for pod in site.chronicle.on_node(node.name) if pod.kind != "daemon-set"]
    for pod in left:
        metadata = {"name": pod.name, "namespace": pod.namespace}
        try:
            site.cluster.api.create({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata})
        except ApiError as error:
            if error.status not in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
                raise
    return not left


def _replaced(site: Site, nodes: Iterable[ObservedNode]) -> Steps:
    """Start replacements for nodes of fixed-size groups; for elastic groups, the autoscaler decides."""
    for node in nodes:
        while not is_elastic(node.manifest) and site.replace(node) is None:
            yield RETRY


def _chosen(site: Site, place: Place, count: int | str) -> list[ObservedNode]:
    nodes = site.chronicle.nodes_in(place)
    return nodes if count == "all" else nodes[: int(count)]


def _names(nodes: Iterable[ObservedNode]) -> list[str]:
    return [each.name for each in nodes]


def _took(verb: str, nodes: list[ObservedNode], place: str) -> str:
    return f"{verb} {', '.join(_names(nodes))}" if nodes else f"found no node: {place}"
