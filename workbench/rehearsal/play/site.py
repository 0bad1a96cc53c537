"""What events do to nodes: cordon, empty, delete and replace them."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from components.contract.labels import OWN_DOMAIN, AnnotationKey, WellKnownLabel
from workbench.rehearsal.cluster.capacity import Capacity
from workbench.rehearsal.cluster.simulated import ApiError, SimulatedCluster
from workbench.rehearsal.play import labels
from workbench.rehearsal.play.agenda import Clock
from workbench.rehearsal.play.chronicle import Chronicle, is_elastic
from workbench.rehearsal.play.observed import LEAVING, ObservedNode

_PASSING: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/", LEAVING,
                   "DeletionCandidateOfClusterAutoscaler")  # fmt: skip
"""Taints that describe the current state of a node, not its group."""

_BROKEN: Final = {"metadata": {"annotations": {AnnotationKey.SIMULATE.value: "not-ready"}}}

_OF_ONE_NODE: Final = (AnnotationKey.SIMULATE.value, AnnotationKey.STARTS_AT.value)
"""Annotations that describe only one node."""

_KARPENTER: Final = "/apis/karpenter.sh/v1"

_RENEWED: Final = f"{OWN_DOMAIN}/renewed"

_PASSED: Final = {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}
"""Statuses of a request whose object was deleted or changed in the meantime."""


@dataclass
class Site:
    """The cluster on which events act.

    Parameters
    ----------
    cluster, chronicle, clock
        The cluster, what is known about it, and the time.
    """

    cluster: SimulatedCluster
    chronicle: Chronicle
    clock: Clock
    capacity: Capacity = field(init=False)
    """Groups for which the cloud currently starts no nodes."""
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.capacity = Capacity(self.cluster.api)

    def cordon(self, node: ObservedNode) -> None:
        """Keep new pods off a node."""
        quietly(self.cluster.api.patch, path_of(node.name), {"spec": {"unschedulable": True}})

    def break_down(self, node: ObservedNode) -> None:
        """Let a node stop reporting that it is ready."""
        quietly(lambda: self.cluster.api.patch(path_of(node.name), _BROKEN))

    def freeze(self, node: ObservedNode) -> None:
        """Keep all pods of a node from ending: the node has stopped, but its simulated pods would continue."""
        endless = {"metadata": {"annotations": {labels.RUN_FOR: labels.ENDLESS}}}
        for pod in self.chronicle.on_node(node.name):
            if pod.run_for:
                quietly(self.cluster.api.patch, pod.path, endless)

    def remove(self, node: ObservedNode) -> None:
        """Remove a node with its pods, like a machine that is switched off."""
        for pod in self.chronicle.on_node(node.name):
            quietly(self.cluster.api.delete, pod.path, grace=0)
        self.release(node)
        quietly(self.cluster.api.delete, path_of(node.name))
        if node.node_pool:  # a machine that is gone cannot be drained
            for path in (path_of(node.name), _claim_of(node)):
                quietly(self.cluster.api.patch, path, {"metadata": {"finalizers": None}})

    def release(self, node: ObservedNode) -> bool:
        """Let Karpenter drain a node of its own at once and remove it; return whether it is one."""
        return bool(node.node_pool) and quietly(self.cluster.api.delete, _claim_of(node))

    def renew(self, pool: str) -> None:
        """Change the template of a Karpenter NodePool, so that Karpenter replaces each of its nodes."""
        changed = {"metadata": {"annotations": {_RENEWED: str(next(self._numbers))}}}
        self.cluster.api.patch(f"{_KARPENTER}/nodepools/{pool}", {"spec": {"template": changed}})

    def replace(self, node: ObservedNode) -> str | None:
        """Start a node of the same group, as a cloud does to keep a group's size; return its name.

        Return None if the cloud refuses it now. The node is ready after the usual start-up time.
        """
        if self.capacity.lacks(node.group):
            return None
        pace = self.cluster.pace
        made = copy_of(node, f"{node.group}-r{next(self._numbers)}", pace.real_text(pace.node_start))
        try:
            self.cluster.api.create(made)
        except ApiError as error:
            if error.status == HTTPStatus.UNPROCESSABLE_ENTITY:  # the autoscaler gets the same answer without capacity
                return None
            if error.status != HTTPStatus.CONFLICT:  # created by an earlier attempt of this request
                raise
        return str(made["metadata"]["name"])


def _claim_of(node: ObservedNode) -> str:
    """Return the path of the NodeClaim of a node of Karpenter; both have the same name."""
    return f"{_KARPENTER}/nodeclaims/{node.name}"


def path_of(node: str) -> str:
    """Return the path of a node at the API server."""
    return f"/api/v1/nodes/{node}"


def quietly(call: Callable[..., Any], *arguments: Any, **options: Any) -> bool:
    """Make a call whose object may have been deleted or changed in the meantime; return whether it took effect."""
    try:
        call(*arguments, **options)
    except ApiError as error:
        if error.status not in _PASSED:
            raise
        return False
    return True


def copy_of(node: ObservedNode, name: str, starts_in: str) -> dict[str, Any]:
    """Return a new node like another one.

    Parameters
    ----------
    node
        The other node.
    name
        The new node's name.
    starts_in
        Real time until it is ready, such as ``1500ms``.
    """
    metadata, spec = node.manifest["metadata"], node.manifest.get("spec", {})
    annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key not in _OF_ONE_NODE}
    annotations[AnnotationKey.STARTS_IN.value] = starts_in
    taints = [each for each in spec.get("taints", ()) if not each["key"].startswith(_PASSING)]
    made: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**metadata.get("labels", {}), WellKnownLabel.HOSTNAME.value: name},
            "annotations": annotations,
        },
        "spec": {"taints": taints} if taints else {},
    }
    if is_elastic(node.manifest):  # the autoscaler identifies its nodes by this
        made["spec"]["providerID"] = f"kwok:{name}"
    return made
