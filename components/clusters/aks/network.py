"""A network created for the cluster. An existing network is referenced by its subnet's id and never changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native.network import (
    AddressSpaceArgs,
    NatGateway,
    NatGatewaySkuArgs,
    NetworkSecurityGroup,
    NetworkSecurityGroupArgs,
    PublicIPAddress,
    PublicIPAddressSkuArgs,
    SecurityRuleArgs,
    ServiceEndpointPropertiesFormatArgs,
    Subnet,
    SubResourceArgs,
    VirtualNetwork,
)

from components.base import PlatformComponent
from components.contract.aks.config import NODES_SUBNET, AksConfig
from components.contract.aks.network import CreatedNetwork

ADDRESS_ZONES: Final = ("1", "2", "3")
"""Zones of the NAT gateway's address, whatever zones the nodes use.

Azure puts an address of several zones into all of its region's (https://github.com/Azure/terraform-azurerm-caf-enterprise-scale/issues/447),
and refuses to change zones later. Every region that a stack file may name has three.
"""

IDLE_MINUTES: Final = 10
"""Idle timeout of connections through the NAT gateway; downloads of models may pause."""

STORAGE: Final = "Microsoft.Storage"
"""Service endpoint: nodes reach storage accounts of the region from their subnet, not through the NAT gateway."""

INGRESS_PORTS: Final = ("80", "443")
"""Ports of load balancers that may be opened to the internet."""

INGRESS_PRIORITY: Final = 1000
"""Leaves room for rules with precedence, such as a denial."""


@dataclass(frozen=True, kw_only=True)
class CreatedVirtualNetworkArgs:
    """Inputs of a network."""

    choices: AksConfig
    network: CreatedNetwork
    resource_group: pulumi.Input[str]
    tags: dict[str, str]
    is_production: bool
    """Whether the resources are protected from deletion."""
    has_storage: bool
    """Whether there are storage accounts that admit the nodes' subnet: of shared storage, or of backups."""


class CreatedVirtualNetwork(PlatformComponent):
    """A network with one subnet for all nodes; from the internet it lets in only what ``ingressRanges`` names.

    Pods have their own address range, so one subnet is enough for any number of zones. Nodes of a private cluster use a
    NAT gateway for egress. Other nodes use AKS's load balancer, whose address AKS adds to the authorized ranges of the
    API.
    """

    def __init__(self, name: str, args: CreatedVirtualNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksNetwork", name, None, opts)
        self._name, self._args = name, args
        choices = args.choices
        virtual_network = VirtualNetwork(
            f"{name}-network",
            resource_group_name=args.resource_group,
            virtual_network_name=choices.name,
            location=choices.location,
            address_space=AddressSpaceArgs(address_prefixes=[args.network.cidr]),
            tags=args.tags,
            opts=self.child(protect=args.is_production),
        )
        # Azure's own rules let in everything from connected networks and nothing from the internet. AKS opens the ports
        # of load balancers in its own group at the nodes, but not in this one: https://learn.microsoft.com/azure/aks/concepts-network-cni-overview.
        group = NetworkSecurityGroup(
            f"{name}-nodes",
            resource_group_name=args.resource_group,
            network_security_group_name=NODES_SUBNET,
            location=choices.location,
            security_rules=_ingress_rules(args.network.ingress_ranges),
            tags=args.tags,
            opts=self.child(),
        )
        subnet = Subnet(
            f"{name}-nodes",
            resource_group_name=args.resource_group,
            virtual_network_name=virtual_network.name,
            subnet_name=NODES_SUBNET,
            address_prefix=args.network.node_cidr,
            default_outbound_access=False,
            network_security_group=NetworkSecurityGroupArgs(id=group.id),
            nat_gateway=SubResourceArgs(id=self._nat().id) if choices.is_private else None,
            service_endpoints=[ServiceEndpointPropertiesFormatArgs(service=STORAGE)] if args.has_storage else None,
            opts=self.child(),
        )
        self.register_outputs({"subnetId": subnet.id})

    def _nat(self) -> NatGateway:
        args, choices = self._args, self._args.choices
        address = PublicIPAddress(
            f"{self._name}-nat",
            resource_group_name=args.resource_group,
            public_ip_address_name="nat",
            location=choices.location,
            sku=PublicIPAddressSkuArgs(name="Standard"),
            public_ip_allocation_method="Static",
            zones=list(ADDRESS_ZONES),
            tags=args.tags,
            # An address from an earlier release may record the two zones of its stack file.
            opts=self.child(ignore_changes=["zones"]),
        )
        return NatGateway(
            f"{self._name}-nat",
            resource_group_name=args.resource_group,
            nat_gateway_name="nat",
            location=choices.location,
            sku=NatGatewaySkuArgs(name="Standard"),
            public_ip_addresses=[SubResourceArgs(id=address.id)],
            idle_timeout_in_minutes=IDLE_MINUTES,
            tags=args.tags,
            opts=self.child(),
        )


def _ingress_rules(ranges: Sequence[str] | None) -> list[SecurityRuleArgs] | None:
    """Return all rules of the subnet's security group; with None Azure keeps the rules, which another owner manages."""
    if not ranges:
        return None if ranges is None else []
    return [
        SecurityRuleArgs(
            name="ingress",
            description="Load balancers of Services",
            priority=INGRESS_PRIORITY,
            direction="Inbound",
            access="Allow",
            protocol="Tcp",
            source_address_prefixes=list(ranges),
            source_port_range="*",
            destination_address_prefix="*",
            destination_port_ranges=list(INGRESS_PORTS),
        )
    ]
