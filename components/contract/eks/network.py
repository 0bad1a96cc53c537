"""Where an EKS cluster lives: its VPC, its zones, and who reaches it from outside."""

import re
from ipaddress import IPv4Network
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, field_validator

from components.contract.aws import (
    NEVER_PUBLIC,
    PRIVATE_RANGES,
    SHARED_RANGE,
    SubnetId,
    VpcId,
    ipv4_network,
)
from components.contract.choices import ContractModel

VPC_PREFIXES: Final = (16, 20)
"""Largest and smallest VPC. 16 is AWS's limit; below 20 pods, which take addresses of the VPC, run out of them.

https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
"""

SERVICE_PREFIXES: Final = (12, 24)
"""Bounds of the service range: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html."""

ZONES_MAX: Final = 3
"""Zones for which the created network has an address plan: three quarters for nodes, the last one for the rest."""

PUBLIC_CIDRS_MAX: Final = 40
"""Ranges that may reach a public endpoint: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

PUBLIC_PREFIX_MIN: Final = 8
"""A range wider than this is the world by another name: two halves make 0.0.0.0/0."""


def _zone(letter: str) -> str:
    if not re.fullmatch("[a-f]", letter):
        raise ValueError("a zone is the last letter of its name: a for eu-west-1a")
    return letter


def _public_cidr(text: str) -> str:
    if ":" in text:
        raise ValueError("the cluster is IPv4: give IPv4 ranges")
    network = ipv4_network(text)
    if network.prefixlen < PUBLIC_PREFIX_MIN:
        raise ValueError(f"HE-01: is the world or a large part of it; give ranges of /{PUBLIC_PREFIX_MIN} or smaller")
    if any(network.overlaps(reserved) for reserved in NEVER_PUBLIC):
        raise ValueError("nobody comes from this range through the internet; drop it, the private endpoint is on")
    return text


def _bounded(text: str, bounds: tuple[int, int], ranges: tuple[IPv4Network, ...], noun: str) -> str:
    network, (widest, narrowest) = ipv4_network(text), bounds
    if not widest <= network.prefixlen <= narrowest:
        raise ValueError(f"a {noun} is /{widest} to /{narrowest}")
    if not any(network.subnet_of(private) for private in ranges):
        raise ValueError(f"a {noun} lies in {', '.join(map(str, ranges))}")
    return text


def _vpc_cidr(text: str) -> str:
    return _bounded(text, VPC_PREFIXES, (*PRIVATE_RANGES, SHARED_RANGE), "VPC")


def _service_cidr(text: str) -> str:
    return _bounded(text, SERVICE_PREFIXES, PRIVATE_RANGES, "service range")


Zone = Annotated[str, AfterValidator(_zone), Field(json_schema_extra={"pattern": "^[a-f]$"})]
PublicCidr = Annotated[str, AfterValidator(_public_cidr)]
VpcCidr = Annotated[str, AfterValidator(_vpc_cidr)]
ServiceCidr = Annotated[str, AfterValidator(_service_cidr)]


class CreatedNetwork(ContractModel):
    """A VPC of the cluster's own: private subnets for nodes, public ones for load balancers and NAT."""

    kind: Literal["created"] = Field(description="Whose network it is.", examples=["created"])
    cidr: VpcCidr = Field(description="Addresses of the VPC, /16 to /20.", examples=["10.20.0.0/16"])


class ExistingNetwork(ContractModel):
    """A VPC that somebody else owns. Nothing in it is changed; docs/eks.md lists what it must offer."""

    kind: Literal["existing"] = Field(description="Whose network it is.", examples=["existing"])
    vpc_id: VpcId = Field(description="The VPC.", examples=["vpc-0123456789abcdef0"])
    cidr: VpcCidr = Field(description="Addresses of the VPC, /16 to /20.", examples=["10.20.0.0/16"])
    node_subnet_ids: dict[Zone, SubnetId] = Field(
        description="The private subnet of each zone, by zone letter.",
        examples=[{"a": "subnet-0123456789abcdef0", "b": "subnet-0123456789abcdef1"}],
    )

    @field_validator("node_subnet_ids", mode="after")
    @classmethod
    def _differ(cls, subnets: dict[str, str]) -> dict[str, str]:
        if len(set(subnets.values())) < len(subnets):
            raise ValueError("one subnet cannot lie in two zones; give each zone its own")
        return subnets
