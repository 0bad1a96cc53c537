"""Tags of cloud resources, in each cloud's own place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from policies.resource import Resource
from policies.rule import EachOf
from policies.values import Value, some
from policies.views.clusters import EKS_CLUSTER
from policies.views.node_groups.aks import AGENT_POOL, MANAGED_CLUSTER
from policies.views.node_groups.eks import NODE_GROUP
from policies.views.type_tokens import KMS_KEY, LAUNCH_TEMPLATE, SUBNET

_MADE_BY_TEMPLATE: Final = ("instance", "volume")
"""Billed resources that are tagged only through the launch template; a provider's default tags do not reach them."""


@dataclass(frozen=True, slots=True)
class Tagged:
    """A taggable resource, or a part of one."""

    name: str
    """Logical name of the resource."""
    part: str
    """The part of the resource, such as its instances; empty for the whole resource."""
    maps: tuple[Value, ...]
    """Places of the tags; each map counts."""

    @override
    def __str__(self) -> str:
        """Return the start of every message about the thing."""
        return f"'{self.name}'" + (f" ({self.part})" if self.part else "")

    def says(self, key: str) -> bool:
        """Return whether the tag has a value, which may still be unknown."""
        return some(self.maps, lambda tags: tags.at(key).is_unknown or bool(tags.at(key).text()))


def _tagged(resource: Resource) -> Iterator[Tagged]:
    # From pulumi-aws 7 on the plug-in's check adds tagsAll: the resource's tags over the provider's default tags, which
    # stand nowhere else. Source: pulumi/pulumi-aws, provider/tags.go.
    yield Tagged(resource.name, "", (resource.props.at("tags"), resource.props.at("tagsAll")))
    if resource.type == LAUNCH_TEMPLATE:
        specifications = resource.props.at("tagSpecifications").elements()
        for kind in _MADE_BY_TEMPLATE:
            own = tuple(spec.at("tags") for spec in specifications if spec.at("resourceType").text() == kind)
            yield Tagged(resource.name, f"tagSpecifications for {kind}", own)
    for profile in resource.props.at("agentPoolProfiles").elements():
        yield Tagged(resource.name, profile.path, (profile.at("tags"),))


_TYPES: Final = (
    EKS_CLUSTER,
    NODE_GROUP,
    LAUNCH_TEMPLATE,
    SUBNET,
    "aws:ec2/(vpc:Vpc|securityGroup:SecurityGroup)",
    KMS_KEY,
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:iam/role:Role",
    MANAGED_CLUSTER,
    AGENT_POOL,
    r"azure-native:resources(/v\w+)?:ResourceGroup",
    r"azure-native:network(/v\w+)?:VirtualNetwork",
)

TAGGED: Final = EachOf(
    noun="each taggable cloud resource",
    types=re.compile("|".join(_TYPES)),
    find=_tagged,
)
