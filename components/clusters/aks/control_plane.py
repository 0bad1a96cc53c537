"""The AKS control plane: keys, upgrades and access."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native.containerservice import (
    AzureKeyVaultKmsArgs,
    ContainerServiceNetworkProfileArgs,
    MaintenanceConfiguration,
    MaintenanceWindowArgs,
    ManagedCluster,
    ManagedClusterAADProfileArgs,
    ManagedClusterAddonProfileArgs,
    ManagedClusterAPIServerAccessProfileArgs,
    ManagedClusterAutoUpgradeProfileArgs,
    ManagedClusterBootstrapProfileArgs,
    ManagedClusterHTTPProxyConfigArgs,
    ManagedClusterIdentityArgs,
    ManagedClusterOIDCIssuerProfileArgs,
    ManagedClusterPropertiesAutoScalerProfileArgs,
    ManagedClusterSecurityProfileArgs,
    ManagedClusterSecurityProfileWorkloadIdentityArgs,
    ManagedClusterSKUArgs,
    ResourceIdentityType,
    ScheduleArgs,
    UserAssignedIdentityArgs,
    WeeklyScheduleArgs,
)

from components.base import PlatformComponent
from components.clusters.aks.identity import CLUSTER_USER, ClusterIdentities, Grant, Principal, role_assignment
from components.clusters.aks.logs import LogWorkspace, keep_logs
from components.clusters.aks.node_groups import initial_profile
from components.contract.aks.access import PrincipalKind, role_id
from components.contract.aks.autoscaling import autoscaler_profile
from components.contract.aks.config import AksConfig
from components.contract.aks.http_proxy import http_proxy_config, trusted_certificates
from components.contract.aks.maintenance import NodeImageChannel, UpgradeChannel
from components.contract.aks.network import OUTBOUND_TYPES, is_isolated, registry_of
from components.contract.azure import key_address
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.names import composed
from components.contract.pools import PoolRole

WINDOWS: Final = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")
"""Names that AKS requires for the maintenance windows: https://learn.microsoft.com/azure/aks/planned-maintenance."""

SYSTEM_ZONE: Final = "system"
"""AKS creates and manages the private DNS zone of the API."""


@dataclass(frozen=True, kw_only=True)
class ControlPlaneArgs:
    """Inputs of the control plane."""

    choices: AksConfig
    environment: Environment
    """Production gets the paid tier and protection from deletion."""
    groups: tuple[NodeGroup, ...]
    identities: ClusterIdentities
    logs: LogWorkspace
    resource_group: pulumi.Input[str]
    tags: dict[str, str]

    @property
    def is_production(self) -> bool:
        """Whether the resources are protected from deletion."""
        return self.environment is Environment.PROD

    @property
    def initial_group(self) -> NodeGroup:
        """The group that is created with the cluster."""
        return next(group for group in self.groups if group.role is PoolRole.INITIAL)


class ControlPlane(PlatformComponent):
    """An AKS cluster with its initial pool, maintenance window, logs and role assignments of its users."""

    cluster: ManagedCluster
    access: tuple[pulumi.Resource, ...]
    """Objects in the cluster depend on these, so that a destroy can still access the cluster."""
    windows: tuple[pulumi.Resource, ...]
    """Maintenance window; upgradable resources depend on it."""
    principal_id: pulumi.Output[str]
    """Object id of its identity."""

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksControlPlane", name, None, opts)
        self._name, self._args = name, args
        self.principal_id = args.identities.control_plane.principal_id
        everywhere = list(self._assignments())
        self.cluster = self._cluster()
        self.access = (*everywhere, *self._assignments_in_namespaces())
        self.windows = tuple(self._window(window) for window in WINDOWS)
        keep_logs(name, self.cluster, args.logs, self.child())
        self.register_outputs({"name": self.cluster.name})

    def _cluster(self) -> ManagedCluster:
        args, choices = self._args, self._args.choices
        identities = args.identities
        return ManagedCluster(
            self._name,
            resource_group_name=args.resource_group,
            resource_name_=choices.name,
            location=choices.location,
            node_resource_group=choices.node_resource_group,
            sku=ManagedClusterSKUArgs(name="Base", tier="Standard" if args.is_production else "Free"),
            kubernetes_version=choices.version,
            dns_prefix=choices.name,
            identity=ManagedClusterIdentityArgs(
                type=ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identities.control_plane.id]
            ),
            identity_profile={
                "kubeletidentity": UserAssignedIdentityArgs(
                    resource_id=identities.kubelet.id,
                    client_id=identities.kubelet.client_id,
                    object_id=identities.kubelet.principal_id,
                )
            },
            agent_pool_profiles=[initial_profile(args.initial_group, choices, args.tags)],
            api_server_access_profile=_api(choices),
            network_profile=_network(choices),
            enable_rbac=True,
            disable_local_accounts=True,
            aad_profile=ManagedClusterAADProfileArgs(
                managed=True,
                enable_azure_rbac=True,
                tenant_id=choices.tenant_id,
                admin_group_object_ids=list(choices.access.admin_group_ids),
            ),
            oidc_issuer_profile=ManagedClusterOIDCIssuerProfileArgs(enabled=True),
            security_profile=ManagedClusterSecurityProfileArgs(
                workload_identity=ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True),
                azure_key_vault_kms=_key_of_secrets(choices),
                custom_ca_trust_certificates=trusted_certificates(choices.trusted_certificates) or None,
            ),
            http_proxy_config=_proxy(choices),
            disk_encryption_set_id=choices.disk_encryption_set_id,
            bootstrap_profile=_bootstrap(choices),
            addon_profiles=_addons(choices, args.logs),
            auto_scaler_profile=ManagedClusterPropertiesAutoScalerProfileArgs(**autoscaler_profile(choices.autoscaler)),
            auto_upgrade_profile=_upgrades(choices, args.groups),
            tags=args.tags,
            opts=self.child(
                depends_on=[identities],
                protect=args.is_production,
                # Azure lists all pools here, including those that are separate resources. If the engine compared the
                # list, each update would remove these. So it sends the live list back, and each pool has a resource.
                ignore_changes=["agentPoolProfiles"],
            ),
        )

    def _window(self, window: str) -> MaintenanceConfiguration:
        args, when = self._args, self._args.choices.maintenance
        return MaintenanceConfiguration(
            f"{self._name}-{window}",
            resource_group_name=args.resource_group,
            resource_name_=self.cluster.name,
            config_name=window,
            maintenance_window=MaintenanceWindowArgs(
                schedule=ScheduleArgs(weekly=WeeklyScheduleArgs(day_of_week=when.azure_day, interval_weeks=1)),
                start_time=when.start_time,
                duration_hours=when.hours,
                utc_offset="+00:00",
            ),
            opts=self.child(),
        )

    def _assignments(self) -> Iterator[pulumi.Resource]:
        """Assign each entry its role on the whole resource group, which contains only this cluster.

        The group exists before the cluster, so that role assignments have propagated through Azure by the time that
        they are needed.
        """
        choices = self._args.choices
        for group in choices.access.admin_group_ids:
            administrators = Principal(group, group, PrincipalKind.GROUP)
            yield role_assignment(
                f"{self._name}-{composed('admins', group)}",
                administrators,
                Grant(CLUSTER_USER, choices.group_id),
                self.child(formerly=f"{self._name}-admins-{group}"),
            )
        for name, entry in choices.access.all_entries.items():
            principal = Principal(entry.object_id, entry.object_id, entry.principal)
            yield role_assignment(
                f"{self._name}-{composed(name, 'user')}",
                principal,
                Grant(CLUSTER_USER, choices.group_id),
                self.child(formerly=f"{self._name}-{name}-user"),
            )
            if not entry.namespaces:
                yield role_assignment(
                    f"{self._name}-{name}", principal, Grant(role_id(entry.level), choices.group_id), self.child()
                )

    def _assignments_in_namespaces(self) -> Iterator[pulumi.Resource]:
        choices = self._args.choices
        for name, entry in choices.access.all_entries.items():
            principal = Principal(entry.object_id, entry.object_id, entry.principal)
            for namespace in entry.namespaces:
                yield role_assignment(
                    f"{self._name}-{composed(name, 'namespaces', namespace)}",
                    principal,
                    Grant(role_id(entry.level), f"{choices.cluster_id}/namespaces/{namespace}"),
                    # Azure removes it together with its cluster; the next cluster may have the same id.
                    self.child(
                        formerly=f"{self._name}-{name}-{namespace}",
                        depends_on=[self.cluster],
                        replace_with=[self.cluster],
                        delete_before_replace=True,
                    ),
                )


def _api(choices: AksConfig) -> ManagedClusterAPIServerAccessProfileArgs:
    if choices.is_private:
        return ManagedClusterAPIServerAccessProfileArgs(
            enable_private_cluster=True,
            enable_private_cluster_public_fqdn=False,
            private_dns_zone=choices.private_dns_zone_id or SYSTEM_ZONE,
            disable_run_command=True,
        )
    return ManagedClusterAPIServerAccessProfileArgs(
        authorized_ip_ranges=list(choices.authorized_ranges), disable_run_command=True
    )


def _key_of_secrets(choices: AksConfig) -> AzureKeyVaultKmsArgs | None:
    if choices.secrets_key_id:
        address = key_address(choices.secrets_key_id)
        return AzureKeyVaultKmsArgs(enabled=True, key_id=address, key_vault_network_access="Public")
    # AKS keeps a key that is left out, so encryption is turned off explicitly.
    return AzureKeyVaultKmsArgs(enabled=False) if choices.previous_secrets_key_id else None


def _proxy(choices: AksConfig) -> ManagedClusterHTTPProxyConfigArgs | None:
    if not choices.proxy:
        return None
    return ManagedClusterHTTPProxyConfigArgs(**http_proxy_config(choices.proxy, choices.network.cidr))


def _bootstrap(choices: AksConfig) -> ManagedClusterBootstrapProfileArgs | None:
    """Return where nodes get AKS's own images and programs, if not from Microsoft's registry."""
    if registry := registry_of(choices.network):
        return ManagedClusterBootstrapProfileArgs(artifact_source="Cache", container_registry_id=registry)
    return None


def _addons(choices: AksConfig, logs: LogWorkspace) -> dict[str, ManagedClusterAddonProfileArgs] | None:
    if is_isolated(choices.network):
        return None
    config = {"logAnalyticsWorkspaceResourceID": logs.workspace.id, "useAADAuth": "true"}
    return {"omsagent": ManagedClusterAddonProfileArgs(enabled=True, config=config)}


def _network(choices: AksConfig) -> ContainerServiceNetworkProfileArgs:
    return ContainerServiceNetworkProfileArgs(
        network_plugin="azure",
        network_plugin_mode="overlay",
        network_dataplane="cilium",
        # Without an engine the cluster stores NetworkPolicies and does not enforce them.
        network_policy="cilium",
        pod_cidr=choices.pod_cidr,
        service_cidr=choices.service_cidr,
        dns_service_ip=choices.dns_address,
        load_balancer_sku="standard",
        outbound_type=OUTBOUND_TYPES.get(choices.network.internet) or _gateway(choices),
    )


def _gateway(choices: AksConfig) -> str:
    # AKS admits nodes to a public API only through a load balancer whose address it knows.
    return "userAssignedNATGateway" if choices.is_private else "loadBalancer"


def _upgrades(choices: AksConfig, groups: Sequence[NodeGroup]) -> ManagedClusterAutoUpgradeProfileArgs:
    """Return how AKS upgrades automatically: not at all with data pools, because each new image erases their disks."""
    holds_data = any(group.role is PoolRole.DATA for group in groups)
    channel = choices.upgrade_channel or (UpgradeChannel.NONE if holds_data else UpgradeChannel.PATCH)
    images = choices.node_image_channel or (NodeImageChannel.NONE if holds_data else NodeImageChannel.NODE_IMAGE)
    return ManagedClusterAutoUpgradeProfileArgs(upgrade_channel=channel.value, node_os_upgrade_channel=images.azure)
