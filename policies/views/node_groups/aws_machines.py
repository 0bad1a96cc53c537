"""AWS resources that affect the machines of node groups: their addresses, their tags, and whether they stop."""

from collections.abc import Iterator, Sequence
from typing import Final

from components.contract import autoscaler
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.resource import Resource, Stack
from policies.rule import Finding
from policies.values import NotJudgeableError, Value, some
from policies.views.node_groups.facts import NodeGroupFacts
from policies.views.type_tokens import LAUNCH_TEMPLATE, SCALING_GROUP

SCHEDULE: Final = "aws:autoscaling/schedule:Schedule"
TEMPLATE_FLAGS: Final = ("disableApiStop", "disableApiTermination")

_MADE_BY_TEMPLATE: Final = ("instance", "volume")
"""Billed resources that are tagged only through the launch template; a provider's default tags do not reach them."""

_ROLE_TAGS: Final = (LabelKey.ROLE.value, autoscaler.label_tag(LabelKey.ROLE.value, "")[0])


def subnet_addresses(subnet: Resource) -> Iterator[tuple[str, str]]:
    """Return the subnet and its input, if it assigns public addresses."""
    if subnet.props.at("mapPublicIpOnLaunch").flag():
        yield f"Subnet '{subnet.name}'", "mapPublicIpOnLaunch"


def template_addresses(template: Resource) -> Iterator[tuple[str, str]]:
    """Return the interfaces of a launch template that get public addresses, each with its input."""
    for interface in template.props.at("networkInterfaces").elements():
        if interface.at("associatePublicIpAddress").text() == "true":
            yield f"Launch template '{template.name}' ({interface.path})", "associatePublicIpAddress"


def template_tags(template: Resource) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Return what a launch template creates, each with its tags."""
    specifications = template.props.at("tagSpecifications").elements()
    for kind in _MADE_BY_TEMPLATE:
        own = tuple(spec.at("tags") for spec in specifications if spec.at("resourceType").text() == kind)
        yield f"tagSpecifications for {kind}", own


def data_risks(groups: Sequence[NodeGroupFacts], stack: Stack) -> Iterator[Finding]:
    """Check launch templates, Auto Scaling groups outside EKS's management, and schedules of both kinds of groups."""
    scaling_groups = _scaling_groups_of_data(stack)
    for scaling_group in scaling_groups:
        yield from _of_scaling_group(scaling_group)
    for group in groups:
        yield from _of_template(group, stack)
    urns = {group.resource.urn for group in groups} | {one.urn for one in scaling_groups}
    for schedule in _schedules(stack, urns) if urns else ():
        yield Finding(
            f"Schedule '{schedule.name}' resizes a group of data nodes; expected no schedule.",
            urn=schedule.urn,
        )


def _scaling_groups_of_data(stack: Stack) -> list[Resource]:
    """Return the Auto Scaling groups whose tags identify data nodes."""

    def says_so(tag: Value) -> bool:
        return tag.at("key").text() in _ROLE_TAGS and tag.at("value").text() == PoolRole.DATA

    return [one for one in stack if one.type == SCALING_GROUP and some(one.props.at("tags").elements(), says_so)]


def _of_scaling_group(group: Resource) -> Iterator[Finding]:
    name = f"Auto Scaling group '{group.name}' of data nodes"
    if not group.protect:
        yield Finding(f"{name} is not protected; expected the resource option protect: true.", urn=group.urn)
    if not group.props.at("protectFromScaleIn").flag():
        yield Finding(f"{name} has protectFromScaleIn off; expected on.", urn=group.urn)


def _of_template(group: NodeGroupFacts, stack: Stack) -> Iterator[Finding]:
    template = _launch_template(group, stack)
    if template is None:
        yield Finding(
            f"{group} has no launch template; expected one with stop and termination protection.",
            urn=group.resource.urn,
        )
        return
    for flag in TEMPLATE_FLAGS:
        if not template.props.at(flag).flag():
            yield Finding(
                f"Launch template '{template.name}' of {group} has {flag} off; expected on.", urn=template.urn
            )


def _launch_template(group: NodeGroupFacts, stack: Stack) -> Resource | None:
    """Return the launch template of an EKS group; None if the group names none and EKS creates one."""
    stated = group.resource.props.at("launchTemplate")
    if stated.is_absent:
        return None
    sources = group.resource.depends_on.get("launchTemplate", ())
    for resource in stack:
        if resource.type == LAUNCH_TEMPLATE and resource.urn in sources:
            return resource
    raise NotJudgeableError(stated.path, "is not created by this stack")


def _schedules(stack: Stack, urns: set[str]) -> Iterator[Resource]:
    """Return the schedules that resize one of the groups ``urns``."""
    for resource in stack:
        if resource.type == SCHEDULE:
            sources = resource.depends_on.get("autoscalingGroupName", ())
            if not sources:
                raise NotJudgeableError("autoscalingGroupName", "is a name, which may be that of any group")
            if urns.intersection(sources):
                yield resource
