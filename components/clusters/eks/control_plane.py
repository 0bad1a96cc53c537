"""The EKS control plane: keys, logs and access."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_aws.cloudwatch import LogGroup
from pulumi_aws.eks import (
    AccessEntry,
    AccessPolicyAssociation,
    AccessPolicyAssociationAccessScopeArgs,
    Cluster,
    ClusterAccessConfigArgs,
    ClusterEncryptionConfigArgs,
    ClusterEncryptionConfigProviderArgs,
    ClusterKubernetesNetworkConfigArgs,
    ClusterUpgradePolicyArgs,
    ClusterVpcConfigArgs,
)
from pulumi_aws.kms import Alias, Key
from pulumi_aws.vpc import SecurityGroupIngressRule

from components.base import PlatformComponent
from components.clusters.eks.endpoints import HTTPS
from components.clusters.eks.identity import CLUSTER_POLICIES, RoleArgs, ServiceRole
from components.clusters.eks.network import Network
from components.contract.aws import control_plane_logs, role_path
from components.contract.eks.access import Access, policy_arn
from components.contract.eks.config import LOG_TYPES, EksConfig
from components.contract.environments import ENVIRONMENT_TAG, Environment

KEY_DELETION_DAYS: Final = 30
"""Longest delay before a key is deleted; without it every Secret is unreadable: https://docs.aws.amazon.com/kms/latest/developerguide/deleting-keys.html."""


@dataclass(frozen=True, kw_only=True)
class ControlPlaneArgs:
    """Inputs of the control plane."""

    choices: EksConfig
    network: Network
    environment: Environment
    """Tag on the cluster; in production the cluster and its key are protected from deletion."""
    log_retention_days: int

    @property
    def is_production(self) -> bool:
        """Whether the resources are protected from deletion."""
        return self.environment is Environment.PROD


class ControlPlane(PlatformComponent):
    """An EKS cluster with its role, its key, its logs, its access entries and access to its private endpoint."""

    cluster: Cluster
    security_group: pulumi.Output[str]
    """The security group that EKS creates for the control plane and the nodes."""
    access: tuple[pulumi.Resource, ...]
    """Objects in the cluster depend on these, so that a destroy can still access the cluster."""

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksControlPlane", name, None, opts)
        self._name, self._args = name, args
        choices = args.choices
        role = ServiceRole(
            f"{name}-role",
            RoleArgs(
                service="eks.amazonaws.com",
                managed_policies=CLUSTER_POLICIES,
                permissions_boundary=choices.permissions_boundary_arn,
            ),
            self.child(),
        )
        logs = LogGroup(
            f"{name}-logs",
            # EKS writes to the group of this name. If it does not exist, EKS creates it, without a retention.
            name=control_plane_logs(choices.name),
            retention_in_days=args.log_retention_days,
            opts=self.child(),
        )
        self.cluster = Cluster(
            name,
            name=choices.name,
            role_arn=role.arn,
            version=choices.version,
            vpc_config=ClusterVpcConfigArgs(
                subnet_ids=list(args.network.node_subnet_ids.values()),
                endpoint_private_access=True,
                endpoint_public_access=not choices.is_private,
                public_access_cidrs=list(choices.public_access_cidrs) or None,
            ),
            kubernetes_network_config=ClusterKubernetesNetworkConfigArgs(
                ip_family="ipv4", service_ipv4_cidr=choices.service_cidr
            ),
            encryption_config=ClusterEncryptionConfigArgs(
                resources=["secrets"],
                provider=ClusterEncryptionConfigProviderArgs(key_arn=choices.secrets_key_arn or self._key()),
            ),
            enabled_cluster_log_types=list(LOG_TYPES),
            access_config=ClusterAccessConfigArgs(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            # EKS's default CNI, proxy and DNS would conflict with the add-ons.
            bootstrap_self_managed_addons=False,
            deletion_protection=args.is_production,
            # After the end of standard support, EKS upgrades the cluster instead of charging six times the price.
            upgrade_policy=ClusterUpgradePolicyArgs(support_type="STANDARD"),
            tags={ENVIRONMENT_TAG: args.environment.value},
            opts=self.child(depends_on=[role, logs, *args.network.ranges], protect=args.is_production),
        )
        self.security_group = self.cluster.vpc_config.apply(lambda network: network.cluster_security_group_id or "")
        self.access = (*self._entries(choices.access), *self._client_rules(choices.api_client_cidrs))
        self.register_outputs({"name": self.cluster.name, "endpoint": self.cluster.endpoint})

    def _key(self) -> pulumi.Output[str]:
        key = Key(
            f"{self._name}-secrets",
            description=f"Secrets of the EKS cluster {self._args.choices.name}",
            enable_key_rotation=True,
            deletion_window_in_days=KEY_DELETION_DAYS,
            opts=self.child(protect=self._args.is_production),
        )
        Alias(
            f"{self._name}-secrets",
            name=f"alias/eks/{self._args.choices.name}",
            target_key_id=key.key_id,
            opts=self.child(),
        )
        return key.arn

    def _entries(self, access: Access) -> tuple[pulumi.Resource, ...]:
        made: list[pulumi.Resource] = []
        for key, choice in access.all_entries.items():
            # EKS has one entry per role. The resource is named after the role, so an entry that is renamed in the stack
            # file, or swaps roles with another, keeps its resource.
            name = f"{self._name}-{role_path(choice.role_arn)}"
            formerly = f"{self._name}-{key}"  # up to release 0.2.0
            entry = AccessEntry(
                name,
                cluster_name=self.cluster.name,
                principal_arn=choice.role_arn,
                # Sent even if empty: EKS keeps the groups of an entry if the list is left out.
                kubernetes_groups=list(choice.groups),
                type="STANDARD",
                opts=self.child(formerly=formerly),
            )
            made.append(entry)
            if choice.level is None:
                continue
            made.append(
                AccessPolicyAssociation(
                    name,
                    cluster_name=self.cluster.name,
                    principal_arn=choice.role_arn,
                    policy_arn=policy_arn(choice.level),
                    access_scope=AccessPolicyAssociationAccessScopeArgs(
                        type="namespace" if choice.namespaces else "cluster",
                        namespaces=list(choice.namespaces) or None,
                    ),
                    # Role and policy identify an association: deleting one with an old scope would delete the new one.
                    opts=self.child(formerly=formerly, depends_on=[entry], delete_before_replace=True),
                )
            )
        return tuple(made)

    def _client_rules(self, cidrs: Sequence[str]) -> Iterator[pulumi.Resource]:
        """Let clients in at the private endpoint: EKS's own group admits only the nodes, which are its members."""
        for cidr in cidrs:
            yield SecurityGroupIngressRule(
                f"{self._name}-api-{cidr.replace('/', '-')}",
                security_group_id=self.security_group,
                description="Kubernetes API",
                ip_protocol="tcp",
                from_port=HTTPS,
                to_port=HTTPS,
                cidr_ipv4=cidr,
                opts=self.child(),
            )
