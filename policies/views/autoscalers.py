"""Autoscalers of nodes: the Cluster Autoscaler, its kwok provider on the local cluster, or Karpenter."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract import autoscaler
from policies.resource import Resource, Stack
from policies.values import some
from policies.views.node_groups import NodeGroupFacts
from policies.views.pods import PodFacts, pods
from policies.views.type_tokens import CONFIG_MAP, DEPLOYMENT

KARPENTER_POOL: Final = re.compile(r"kubernetes:karpenter\.sh/v\w+:NodePool")
TAG: Final = "aws:autoscaling/tag:Tag"

SET_BY_EKS: Final = autoscaler.TAG_PREFIX
"""Prefix of the tags that EKS itself sets on every managed group's Auto Scaling group.

https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
"""

_DISCOVERY: Final = re.compile(rf"--{autoscaler.DISCOVERY_FLAG}=asg:tag=(.+)")


def missing_for(group: NodeGroupFacts, stack: Stack) -> str | None:
    """Return what an elastic group lacks to be scaled; None if nothing.

    AKS scales its pools itself. Existing nodes and their autoscaler belong to the cluster's owner. Karpenter does not
    discover groups by tags, so groups are not checked with it.
    """
    if group.is_scaled_elsewhere:
        return None
    if group.is_simulated:
        found = some(stack, lambda one: _is_named(one, CONFIG_MAP, autoscaler.CONFIG))
        return None if found else f"the autoscaler's ConfigMap {autoscaler.CONFIG}"
    if some(stack, lambda one: bool(KARPENTER_POOL.fullmatch(one.type))):
        return None
    if not some(stack, _is_cluster_autoscaler):
        return f"a Deployment {autoscaler.NAME}"
    wanted = [tag for one in stack if _is_cluster_autoscaler(one) for tag in _discovery_tags(one)]
    if not wanted:
        return f"an autoscaler with the flag --{autoscaler.DISCOVERY_FLAG}"
    absent = [tag for tag in wanted if not tag.startswith(SET_BY_EKS) and not _is_tagged(group, tag, stack)]
    return f"the tag {absent[0]} of its Auto Scaling group" if absent else None


def _is_named(resource: Resource, token: str, name: str) -> bool:
    return resource.type == token and resource.props.at("metadata", "name").text() == name


def _is_cluster_autoscaler(resource: Resource) -> bool:
    return _is_named(resource, DEPLOYMENT, autoscaler.NAME)


def _discovery_tags(deployment: Resource) -> Iterator[str]:
    """Return the tags by which the autoscaler finds groups, ``KEY`` or ``KEY=VALUE``."""
    for argument in (text for pod in pods(deployment) for text in _arguments(pod)):
        if match := _DISCOVERY.fullmatch(argument):
            yield from match[1].split(",")


def _arguments(pod: PodFacts) -> Iterator[str]:
    for container in pod.containers():
        for key in ("command", "args"):
            yield from (argument.text() or "" for argument in container.at(key).elements())


def _is_tagged(group: NodeGroupFacts, wanted: str, stack: Stack) -> bool:
    key, has_value, value = wanted.partition("=")

    def is_it(resource: Resource) -> bool:
        # The group's name is EKS's own, so only the engine knows to which group the tag belongs.
        if resource.type != TAG or group.resource.urn not in resource.depends_on.get("autoscalingGroupName", ()):
            return False
        tag = resource.props.at("tag")
        return tag.at("key").text() == key and (not has_value or tag.at("value").text() == value)

    return some(stack, is_it)
