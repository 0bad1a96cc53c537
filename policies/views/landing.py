"""User work of a stack, and the node groups on which it may land."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from components.contract.environments import ClusterKind
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.resource import Resource, Stack
from policies.rule import Context
from policies.values import NotJudgeableError
from policies.views.claims import Claims, containers
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.node_groups.local import NODE
from policies.views.pods import PodFacts, pods

CHOOSING_KEYS: Final = (LabelKey.POOL, LabelKey.ROLE, LabelKey.LIFECYCLE)
"""Labels by which a pod chooses between user pools. Other keys are taken for fulfilled."""


Groups: TypeAlias = Callable[[], list[NodeGroupFacts]]
"""Node groups that are looked for when the first pod needs them, and once."""


def user_work(resource: Resource, context: Context) -> Iterator[PodFacts]:
    """Return the pods of user work that a resource is or makes."""
    return (pod for pod in pods(resource) if pod.is_user_work(context))


def user_groups(stack: Stack) -> Iterator[NodeGroupFacts]:
    """Return the node groups that user work may use."""
    return (group for resource in stack for group in node_groups(resource) if group.role and group.role.holds_user_work)


def selected(pod: PodFacts, key: LabelKey) -> str | None:
    """Return the value that the pod's node selector wants of a label."""
    return pod.spec.at("nodeSelector", key.value).text()


def may_land(pod: PodFacts, group: NodeGroupFacts) -> bool:
    """Return whether the group is one that the pod chose; on GPU groups land only pods that claim a device."""
    if group.role is PoolRole.GPU and not any(claims_device(claims) for claims in containers(pod)):
        return False
    wanted = ((key, selected(pod, key)) for key in CHOOSING_KEYS)
    return all(value is None or group.label(key) == value for key, value in wanted)


def claims_device(claims: Claims) -> bool:
    """Return whether a device is claimed. Only devices have a domain in front: nvidia.com/gpu, but cpu, memory."""
    return any("/" in name for name in claims.names)


def is_elastic(group: NodeGroupFacts) -> bool:
    """Return whether the autoscaler owns the group's size."""
    return _known(group, group.size_min) < _known(group, group.size_max)


def nodes_max(resource: Resource, group: NodeGroupFacts) -> int:
    """Return the most nodes that ``resource`` can give to its group; a simulated node is one of them."""
    is_node = group.kind is ClusterKind.LOCAL and resource.type == NODE
    return 1 if is_node else _known(group, group.size_max)


def _known(group: NodeGroupFacts, size: int | None) -> int:
    if size is None:
        raise NotJudgeableError(group.location or "the size", "is not stated")
    return size
