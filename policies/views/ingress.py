"""Ingress rules of nodes, in every form in which AWS declares them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from policies.resource import Finders, Resource, find_in
from policies.rule import EachOf
from policies.values import Value, some
from policies.views.node_groups.eks import NODE_GROUP
from policies.views.ranges import is_world

SSH_PORT: Final = 22

_TCP: Final = ("tcp", "6")
_ALL: Final = ("-1", "all")
"""Spellings of protocols: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_IpPermission.html."""


@dataclass(frozen=True, slots=True)
class Ingress:
    """One rule that lets traffic in."""

    name: str
    """Logical name of the resource that contains it."""
    place: str
    """Path inside the resource; empty if the resource is the rule."""
    protocol: Value
    ports: tuple[Value, Value]
    """First and last port, both included."""
    ranges: tuple[Value, ...]
    """Source address ranges; empty for security groups."""

    @override
    def __str__(self) -> str:
        """Return the start of every message about the rule."""
        return f"'{self.name}'" + (f" ({self.place})" if self.place else "")

    def opens(self, port: int) -> bool:
        """Return whether TCP traffic to ``port`` is allowed in. A rule without ports covers all of them."""
        protocol = self.protocol.text()
        if protocol in _ALL:
            return True
        first, last = (bound.integer() for bound in self.ports)
        return protocol in _TCP and (first is None or last is None or first <= port <= last)

    def is_for_the_world(self) -> bool:
        """Return whether it allows traffic from the internet."""
        return some(self.ranges, is_world)


def _inline(resource: Resource) -> Iterator[Ingress]:
    for rule in resource.props.at("ingress").elements():
        yield _of(resource, rule, rule.path)


def _single(resource: Resource) -> Iterator[Ingress]:
    if resource.props.at("type").text() == "ingress":
        yield _of(resource, resource.props, "")


def _of(resource: Resource, rule: Value, place: str) -> Ingress:
    ranges = (*rule.at("cidrBlocks").elements(), *rule.at("ipv6CidrBlocks").elements())
    return Ingress(resource.name, place, rule.at("protocol"), (rule.at("fromPort"), rule.at("toPort")), ranges)


def _of_one_range(resource: Resource) -> Iterator[Ingress]:
    rule = resource.props
    ranges = tuple(cidr for cidr in (rule.at("cidrIpv4"), rule.at("cidrIpv6")) if not cidr.is_absent)
    yield Ingress(resource.name, "", rule.at("ipProtocol"), (rule.at("fromPort"), rule.at("toPort")), ranges)


def _remote_access(resource: Resource) -> Iterator[Ingress]:
    # https://docs.aws.amazon.com/eks/latest/APIReference/API_RemoteAccessConfig.html
    access = resource.props.at("remoteAccess")
    if access.is_absent or access.at("ec2SshKey").is_absent or access.at("sourceSecurityGroupIds").elements():
        return
    port, world = Value(SSH_PORT, access.path), Value("0.0.0.0/0", access.path)
    yield Ingress(resource.name, access.path, Value("tcp", access.path), (port, port), (world,))


_FINDERS: Final[Finders[Ingress]] = {
    "aws:ec2/(securityGroup:SecurityGroup|defaultSecurityGroup:DefaultSecurityGroup)": _inline,
    "aws:ec2/securityGroupRule:SecurityGroupRule": _single,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _of_one_range,
    NODE_GROUP: _remote_access,
}
"""Finders of ingress rules, by pattern of the resource's type token."""


def _ingresses(resource: Resource) -> Iterator[Ingress]:
    return find_in(resource, _FINDERS)


INGRESSES: Final = EachOf(
    noun="each ingress rule",
    types=re.compile("|".join(_FINDERS)),
    find=_ingresses,
)
