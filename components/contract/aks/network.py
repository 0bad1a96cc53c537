"""Network, zones and public access of an AKS cluster."""

import re
from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.azure import NEVER_IN_AKS, RegistryId, SubnetId
from components.contract.choices import ContractModel, Explained
from components.contract.ranges import (
    EVERYWHERE,
    NEVER_PUBLIC,
    PRIVATE_RANGES,
    SHARED_RANGE,
    bounded_network,
    differing,
    ipv4_network,
    public_range,
)

NETWORK_PREFIXES: Final = (12, 24)
"""Widest and narrowest range of a network.

Pods use no addresses of it; half of the narrowest still fits a hundred nodes.
"""

SUBNET_PREFIXES: Final = (12, 26)
"""Widest and narrowest subnet for nodes."""

POD_PREFIXES: Final = (9, 20)
"""Widest and narrowest range of pods. Each node takes a /24 of it, so the narrowest is enough for 16 nodes."""

POD_PREFIX_OF_NODE: Final = 24
"""https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay."""

SERVICE_PREFIXES: Final = (13, 24)
"""Bounds of the service range: https://learn.microsoft.com/azure/aks/azure-cni-overlay."""

DNS_ADDRESS: Final = 10
"""Index of the DNS address in the service range; the first address is the API's."""

CLUSTER_RANGES: Final = (*PRIVATE_RANGES, SHARED_RANGE)
"""Allowed ranges of networks, pods and Services; AKS supports no others."""

ADDRESSES_BESIDE_NODES: Final = 16
"""Number of addresses in the subnet that nodes cannot use.

Azure reserves five (https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq); a private cluster's API
uses one, and so does each internal load balancer.
"""

PUBLIC_RANGES_MAX: Final = 200
"""Maximum number of ranges that may reach a public endpoint: https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges."""


INGRESS_RANGES_MAX: Final = 200
"""Maximum number of ranges that may reach ingress. Azure allows 4,000 addresses and ranges in a security group.

https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits
"""


def _zone(name: str) -> str:
    if not re.fullmatch("[1-3]", name):
        raise ValueError("must be '1', '2' or '3', in quotes")
    return name


def _cluster_range(text: str, bounds: tuple[int, int], noun: str) -> str:
    network = bounded_network(text, bounds, CLUSTER_RANGES, noun)
    for kept in NEVER_IN_AKS:
        if network.overlaps(kept):
            raise ValueError(f"overlaps {kept}, which AKS reserves")
    return text


def _ranged(bounds: tuple[int, int], noun: str) -> AfterValidator:
    return AfterValidator(lambda text: _cluster_range(text, bounds, noun))


def _public_range(text: str) -> str:
    return public_range(text, "HA-01", "or remove all ranges to make the cluster private")


def _ingress_range(text: str) -> str:
    network = ipv4_network(text)
    if network != EVERYWHERE and any(network.overlaps(reserved) for reserved in NEVER_PUBLIC):
        raise ValueError("is a private range; remove it: connected networks reach the subnet without a rule")
    return text


Zone = Annotated[str, AfterValidator(_zone), Field(json_schema_extra={"pattern": "^[1-3]$"})]
IngressRange = Annotated[str, AfterValidator(_ingress_range)]
PublicRange = Annotated[str, AfterValidator(_public_range)]
NetworkCidr = Annotated[str, _ranged(NETWORK_PREFIXES, "network")]
SubnetCidr = Annotated[str, _ranged(SUBNET_PREFIXES, "node subnet")]
PodCidr = Annotated[str, _ranged(POD_PREFIXES, "pod range")]
ServiceCidr = Annotated[str, _ranged(SERVICE_PREFIXES, "service range")]


class Internet(StrEnum):
    """How nodes reach the internet."""

    NAT = "nat"
    """By a NAT gateway, or by AKS's load balancer if the API is public."""

    NONE = "none"
    """Not at all: AKS calls the cluster network isolated."""

    FIREWALL = "firewall"
    """By the device that the routes of the subnet lead to."""


OUTBOUND_TYPES: Final = {Internet.NONE: "none", Internet.FIREWALL: "userDefinedRouting"}
"""Outbound types of clusters for which AKS itself creates no outbound path: https://learn.microsoft.com/azure/aks/egress-outboundtype."""

InternetChoice = Annotated[
    Internet,
    Field(
        description=(
            "How nodes reach the internet: by a NAT gateway (AKS's load balancer if the API is public); in an existing "
            "network also not at all, or by a firewall that its routes lead to (docs/closed-networks.md). Fixed when "
            "the cluster is created."
        ),
        examples=["none"],
    ),
    Explained(
        "Images and public data are outside the network.",
        "The cluster's outbound type; with none, also where AKS's own images come from, and no container logs.",
    ),
]

BootstrapRegistry = Annotated[
    RegistryId | None,
    Field(
        description=(
            "Id of the container registry that caches AKS's own images, for `internet: none`. Fixed when the cluster "
            "is created."
        ),
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/images"
                "/providers/Microsoft.ContainerRegistry/registries/research"
            )
        ],
    ),
    Explained(
        "Nodes reach Microsoft's registry.",
        "Where AKS's own images come from, and the role AcrPull of the nodes on it.",
    ),
]


class CreatedNetwork(ContractModel):
    """A network that the stack creates, with a NAT gateway. Its second half is free for other uses."""

    kind: Literal["created"] = Field(
        description="Whether the stack creates the network or uses an existing one.", examples=["created"]
    )
    cidr: NetworkCidr = Field(description="CIDR range of the network.", examples=["10.30.0.0/16"])
    ingress_ranges: Annotated[
        Annotated[tuple[IngressRange, ...], AfterValidator(differing), Field(max_length=INGRESS_RANGES_MAX)] | None,
        Explained(
            "Nothing from the internet reaches load balancers, and rules that you add to the security group stay.",
            "All rules of the subnet's security group.",
        ),
    ] = Field(
        None,
        description="Public CIDR ranges that may reach load balancers on ports 80 and 443; empty means none.",
        examples=[["203.0.113.0/24"]],
    )
    internet: InternetChoice = Internet.NAT

    @field_validator("internet", mode="after")
    @classmethod
    def _by_its_gateway(cls, internet: Internet) -> Internet:
        if internet is not Internet.NAT:
            raise ValueError(
                "is for kind: existing, because the network must have its private endpoint or its route before the "
                "cluster (docs/closed-networks.md#no-internet-on-aks); a network of the stack has nat"
            )
        return internet

    @property
    def node_cidr(self) -> str:
        """Range of the subnet of nodes."""
        return str(next(ipv4_network(self.cidr).subnets()))


class ExistingNetwork(ContractModel):
    """An existing network. Nothing in it is changed; docs/aks.md lists what it must offer."""

    kind: Literal["existing"] = Field(
        description="Whether the stack creates the network or uses an existing one.", examples=["existing"]
    )
    cidr: NetworkCidr = Field(description="CIDR range of the network.", examples=["10.30.0.0/16"])
    node_subnet_id: SubnetId = Field(
        description="Id of the subnet of all nodes.",
        examples=[
            (
                "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/network"
                "/providers/Microsoft.Network/virtualNetworks/research/subnets/nodes"
            )
        ],
    )
    node_cidr: SubnetCidr = Field(description="CIDR range of that subnet.", examples=["10.30.0.0/20"])
    internet: InternetChoice = Internet.NAT
    registry_id: BootstrapRegistry = None

    @field_validator("node_cidr", mode="after")
    @classmethod
    def _lies_in_the_network(cls, text: str, info: ValidationInfo) -> str:
        network = info.data.get("cidr")
        if network and not ipv4_network(text).subnet_of(ipv4_network(network)):
            raise ValueError(f"is not inside network.cidr {network}")
        return text

    @field_validator("registry_id", mode="after")
    @classmethod
    def _where_nothing_else_is_reached(cls, registry: str | None, info: ValidationInfo) -> str | None:
        internet = info.data.get("internet")
        if registry is None and internet is Internet.NONE:
            raise ValueError("is required if internet is none: nodes get AKS's own images from this registry")
        if registry and internet in (Internet.NAT, Internet.FIREWALL):
            raise ValueError(f"is for internet: none, given {internet}; remove it")
        return registry


def is_isolated(network: CreatedNetwork | ExistingNetwork) -> bool:
    """Return whether nodes have no way to the internet, which AKS calls network isolated."""
    return network.internet is Internet.NONE


def registry_of(network: CreatedNetwork | ExistingNetwork) -> str | None:
    """Return the id of the registry with AKS's own images; None if they come from Microsoft's."""
    return network.registry_id if isinstance(network, ExistingNetwork) else None


def nodes_that_fit(cidr: str) -> int:
    """Return for how many nodes a subnet has addresses."""
    return IPv4Network(cidr).num_addresses - ADDRESSES_BESIDE_NODES


def nodes_with_pods(pod_cidr: str) -> int:
    """Return how many nodes a range of pods is large enough for."""
    return 1 << (POD_PREFIX_OF_NODE - IPv4Network(pod_cidr).prefixlen)
