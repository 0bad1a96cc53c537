"""Data nodes as rules see them: their groups, and everything else that could stop or replace their machines."""

from collections.abc import Iterator
from typing import Final

from components.contract import autoscaler
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.resource import Resource, Stack
from policies.values import NotJudgeableError, Value, some
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.type_tokens import LAUNCH_TEMPLATE, SCALING_GROUP

SCHEDULE: Final = "aws:autoscaling/schedule:Schedule"

_ROLE_TAGS: Final = (LabelKey.ROLE.value, autoscaler.label_tag(LabelKey.ROLE.value, "")[0])


def data_groups(stack: Stack) -> list[NodeGroupFacts]:
    """Return the groups of data nodes that a stack can lose.

    Data nodes of the local cluster hold no data: their machines are simulated. Those of an existing cluster belong to
    its owner: no change of the stack stops or replaces them.
    """
    found = (group for resource in stack for group in node_groups(resource))
    return [group for group in found if group.makes_machines and group.role is PoolRole.DATA]


def scaling_groups_of_data(stack: Stack) -> list[Resource]:
    """Return the Auto Scaling groups outside EKS's management whose tags identify data nodes."""

    def says_so(tag: Value) -> bool:
        return tag.at("key").text() in _ROLE_TAGS and tag.at("value").text() == PoolRole.DATA

    return [one for one in stack if one.type == SCALING_GROUP and some(one.props.at("tags").elements(), says_so)]


def launch_template(group: NodeGroupFacts, stack: Stack) -> Resource | None:
    """Return the launch template of an EKS group; None if the group names none and EKS creates one."""
    stated = group.resource.props.at("launchTemplate")
    if stated.is_absent:
        return None
    sources = group.resource.depends_on.get("launchTemplate", ())
    for resource in stack:
        if resource.type == LAUNCH_TEMPLATE and resource.urn in sources:
            return resource
    raise NotJudgeableError(stated.path, "is not created by this stack")


def schedules(stack: Stack, urns: set[str]) -> Iterator[Resource]:
    """Return the schedules that resize one of the groups ``urns``."""
    for resource in stack:
        if resource.type == SCHEDULE:
            sources = resource.depends_on.get("autoscalingGroupName", ())
            if not sources:
                raise NotJudgeableError("autoscalingGroupName", "is a name, which may be that of any group")
            if urns.intersection(sources):
                yield resource
