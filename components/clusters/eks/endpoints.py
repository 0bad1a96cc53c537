"""VPC endpoints for AWS services."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_aws.ec2 import SecurityGroup, VpcEndpoint
from pulumi_aws.vpc import SecurityGroupIngressRule

from components.base import PlatformComponent

INTERFACE_SERVICES: Final = (
    "autoscaling",  # Cluster Autoscaler
    "ec2",  # CNI, EBS CSI driver, Cluster Autoscaler
    "ecr.api",  # image pulls
    "ecr.dkr",
    "eks",  # Cluster Autoscaler, for managed groups
    "eks-auth",  # Pod Identity
    "elasticloadbalancing",  # load balancers of services
    "logs",
    "sts",
)
"""Services that nodes and add-ons call: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html."""

FILE_SYSTEMS: Final = "elasticfilesystem"
"""Service that the EFS driver calls: https://docs.aws.amazon.com/efs/latest/ug/efs-vpc-endpoints.html."""

HTTPS: Final = 443


@dataclass(frozen=True, kw_only=True)
class PrivateEndpointsArgs:
    """Inputs of the endpoints."""

    vpc_id: pulumi.Input[str]
    cidr: str
    pod_cidr: str | None
    region: str
    subnet_ids: Sequence[pulumi.Input[str]]
    route_table_ids: Sequence[pulumi.Input[str]]
    has_interfaces: bool
    """Whether to create interface endpoints in addition to the free gateway to S3."""
    more_services: Sequence[str] = ()
    """Services with an interface endpoint in addition to ``INTERFACE_SERVICES``."""


class PrivateEndpoints(PlatformComponent):
    """A gateway to S3, which holds image layers, and interface endpoints if the API is private."""

    def __init__(self, name: str, args: PrivateEndpointsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksEndpoints", name, None, opts)
        VpcEndpoint(
            f"{name}-s3",
            vpc_id=args.vpc_id,
            service_name=f"com.amazonaws.{args.region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=args.route_table_ids,
            tags={"Name": f"{name}-s3"},
            opts=self.child(),
        )
        if args.has_interfaces:
            group = self._security_group(name, args)
            for service in (*INTERFACE_SERVICES, *args.more_services):
                VpcEndpoint(
                    f"{name}-{service}",
                    vpc_id=args.vpc_id,
                    service_name=f"com.amazonaws.{args.region}.{service}",
                    vpc_endpoint_type="Interface",
                    subnet_ids=args.subnet_ids,
                    security_group_ids=[group.id],
                    private_dns_enabled=True,
                    tags={"Name": f"{name}-{service}"},
                    opts=self.child(),
                )
        self.register_outputs({})

    def _security_group(self, name: str, args: PrivateEndpointsArgs) -> SecurityGroup:
        group = SecurityGroup(
            name,
            vpc_id=args.vpc_id,
            description="AWS services, from inside the VPC",
            tags={"Name": name},
            opts=self.child(),
        )
        for rule, source, cidr in _sources(name, args):
            SecurityGroupIngressRule(
                rule,
                security_group_id=group.id,
                description=f"HTTPS from {source}",
                ip_protocol="tcp",
                from_port=HTTPS,
                to_port=HTTPS,
                cidr_ipv4=cidr,
                opts=self.child(),
            )
        return group


def _sources(name: str, args: PrivateEndpointsArgs) -> Iterator[tuple[str, str, str]]:
    """Yield name, source and range of each rule."""
    yield name, "the VPC", args.cidr
    if args.pod_cidr:
        yield f"{name}-pods", "pods", args.pod_cidr
