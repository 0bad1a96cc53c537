"""Address plan of a created VPC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

PRIVATE_BITS = 2
"""A quarter of the VPC for the nodes of each zone, since pods use VPC addresses."""

PUBLIC_BITS = 6
"""A sixty-fourth of the VPC for the load balancers and NAT gateway of each zone."""


@dataclass(frozen=True, slots=True)
class AddressPlan:
    """Ranges by zone letter."""

    private: Mapping[str, str]
    public: Mapping[str, str]


def address_plan(vpc: IPv4Network, zones: Sequence[str]) -> AddressPlan:
    """Return the ranges of each zone's subnets.

    The last quarter holds the public subnets and spare addresses. Zones get their ranges in alphabetical order, so
    their order in the stack file does not matter.
    """
    *quarters, rest = vpc.subnets(prefixlen_diff=PRIVATE_BITS)
    small = rest.subnets(prefixlen_diff=PUBLIC_BITS - PRIVATE_BITS)
    ordered = sorted(zones)
    return AddressPlan(
        private={zone: str(subnet) for zone, subnet in zip(ordered, quarters, strict=False)},
        public={zone: str(subnet) for zone, subnet in zip(ordered, small, strict=False)},
    )
