"""VPC, zones and public access of an EKS cluster."""

import re
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, field_validator

from components.contract.aws import SubnetId, VpcId
from components.contract.choices import ContractModel, Explained
from components.contract.ranges import (
    EVERYWHERE,
    PRIVATE_RANGES,
    SHARED_RANGE,
    bounded_network,
    ipv4_network,
    public_range,
)

VPC_PREFIXES: Final = (16, 20)
"""Largest and smallest VPC.

AWS allows at most a /16; below a /20, pods, which use VPC addresses, run out of them.
https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
"""

VPC_RANGES: Final = (*PRIVATE_RANGES, SHARED_RANGE)
"""Allowed ranges of a VPC that the stack creates; AWS also allows the shared range."""

POD_PREFIXES: Final = (16, 20)
"""Largest and smallest range of pods, a second block of the VPC: AWS's bounds for such blocks."""

SERVICE_PREFIXES: Final = (12, 24)
"""Bounds of the service range: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html."""

ZONES_MAX: Final = 3
"""Number of zones in the created network's address plan: three quarters for nodes, the last quarter for the rest."""

PUBLIC_CIDRS_MAX: Final = 40
"""Maximum number of ranges that may reach a public endpoint: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""


CLIENT_PREFIXES: Final = (8, 32)
"""Widest and narrowest range that may reach the private endpoint."""

CLIENT_CIDRS_MAX: Final = 50
"""Maximum number of ranges that may reach the private endpoint, each an ingress rule of the cluster's security group.

AWS allows 60 per group by default; EKS and the load balancers of Services need the rest.
https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
"""


def _zone(letter: str) -> str:
    if not re.fullmatch("[a-f]", letter):
        raise ValueError("must be the letter of a zone: a for eu-west-1a")
    return letter


def _public_cidr(text: str) -> str:
    return public_range(text, "HE-01", "the private endpoint is on")


def _client_cidr(text: str) -> str:
    # Connected networks may use public addresses too: a security group compares only the source address.
    network = bounded_network(text, CLIENT_PREFIXES, (EVERYWHERE,), "range of API clients")
    if network.is_loopback or network.is_link_local or network.is_multicast or network.is_reserved:
        raise ValueError("holds no addresses of clients in other networks; remove it")
    return text


def _vpc_cidr(text: str) -> str:
    return str(bounded_network(text, VPC_PREFIXES, VPC_RANGES, "VPC"))


def _pod_cidr(text: str) -> str:
    # Of the ranges that AWS allows as a second block of any VPC, only this one is private:
    # https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html#add-cidr-block-restrictions.
    return str(bounded_network(text, POD_PREFIXES, (SHARED_RANGE,), "pod range"))


def _service_cidr(text: str) -> str:
    return str(bounded_network(text, SERVICE_PREFIXES, PRIVATE_RANGES, "service range"))


Zone = Annotated[str, AfterValidator(_zone), Field(json_schema_extra={"pattern": "^[a-f]$"})]
PublicCidr = Annotated[str, AfterValidator(_public_cidr)]
ClientCidr = Annotated[str, AfterValidator(_client_cidr)]
VpcCidr = Annotated[str, AfterValidator(_vpc_cidr)]
ServiceCidr = Annotated[str, AfterValidator(_service_cidr)]

PrefixDelegation = Annotated[
    bool,
    Field(
        strict=True,
        description="Whether nodes get addresses of pods in prefixes of 16. Fixed when the cluster is created.",
        examples=[True],
    ),
    Explained(
        "Single addresses suffice for most pods, and a small network has too few prefixes.",
        "Pods a node may have: 110, or 250 from 30 vCPUs on.",
    ),
]

PodRange = Annotated[
    Annotated[str, AfterValidator(_pod_cidr)] | None,
    Field(
        description="CIDR range of pods, /16 to /20 in 100.64.0.0/10. Fixed when the cluster is created.",
        examples=["100.64.0.0/16"],
    ),
    Explained(
        "Pods use addresses of the VPC, so that other networks reach them.",
        "Subnets in which pods get their addresses; nodes keep theirs.",
    ),
]


class Internet(StrEnum):
    """How nodes reach the internet."""

    NAT = "nat"
    NONE = "none"
    """Not at all: the VPC has no gateway, so load balancers are not reachable from the internet either."""


class CreatedNetwork(ContractModel):
    """A VPC that the stack creates: private subnets for nodes, public ones for load balancers and NAT."""

    kind: Literal["created"] = Field(
        description="Whether the stack creates the VPC or uses an existing one.", examples=["created"]
    )
    cidr: VpcCidr = Field(description="CIDR range of the VPC, /16 to /20.", examples=["10.20.0.0/16"])
    internet: Annotated[
        Internet,
        Explained(
            "Images and public data are outside AWS.",
            "Public subnets, internet gateway and NAT gateways, or none of them.",
        ),
    ] = Field(
        Internet.NAT,
        description="How nodes reach the internet: by NAT gateways, or not at all (docs/closed-networks.md).",
        examples=["none"],
    )


class ExistingNetwork(ContractModel):
    """An existing VPC. Nothing in it is changed; docs/eks.md lists what it must offer."""

    kind: Literal["existing"] = Field(
        description="Whether the stack creates the VPC or uses an existing one.", examples=["existing"]
    )
    vpc_id: VpcId = Field(description="The VPC.", examples=["vpc-0123456789abcdef0"])
    cidr: VpcCidr = Field(description="CIDR range of the VPC, /16 to /20.", examples=["10.20.0.0/16"])
    node_subnet_ids: dict[Zone, SubnetId] = Field(
        description="Id of the private subnet of each zone, by zone letter.",
        examples=[{"a": "subnet-0123456789abcdef0", "b": "subnet-0123456789abcdef1"}],
    )

    @field_validator("node_subnet_ids", mode="after")
    @classmethod
    def _differ(cls, subnets: dict[str, str]) -> dict[str, str]:
        if len(set(subnets.values())) < len(subnets):
            raise ValueError("lists one subnet for two zones; use a subnet per zone")
        return subnets


def is_closed(network: CreatedNetwork | ExistingNetwork) -> bool:
    """Return whether the stack creates a VPC without a way to the internet."""
    return isinstance(network, CreatedNetwork) and network.internet is Internet.NONE


def prefixes_of(cidr: str, zones: int) -> int:
    """Return how many prefixes of 16 addresses the subnets of pods have, each a quarter of the range.

    AWS reserves the first four addresses and the last one of a subnet, so that two prefixes are lost.
    https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
    """
    return zones * (ipv4_network(cidr).num_addresses // 4 // 16 - 2)


def pod_range_problem(cidr: str, network: CreatedNetwork | ExistingNetwork | None, *, has_prefixes: bool) -> str:
    """Return what is wrong with a range of pods; empty if nothing is.

    Parameters
    ----------
    network
        The network; None if it is invalid.
    has_prefixes
        Whether prefix delegation is on.
    """
    if isinstance(network, ExistingNetwork):
        return (
            "is for a VPC that the stack creates; remove it, and tag subnets for pods in yours "
            "(docs/closed-networks.md#addresses)"
        )
    if not has_prefixes:
        return "needs prefixDelegation: true; otherwise nodes accept more pods than they have addresses for"
    if network and ipv4_network(network.cidr).overlaps(ipv4_network(cidr)):
        return f"overlaps network.cidr {network.cidr}; change one"
    return ""
