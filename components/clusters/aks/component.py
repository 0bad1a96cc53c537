"""The AKS cluster as a component: network, control plane, nodes and add-ons, in order of dependency."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native.provider import Provider
from pulumi_azure_native.resources import ResourceGroup

from components.base import PlatformComponent
from components.clusters.aks.cluster_addons import ClusterAddons, ClusterAddonsArgs
from components.clusters.aks.control_plane import ControlPlane, ControlPlaneArgs
from components.clusters.aks.identity import ClusterIdentities, ClusterIdentitiesArgs
from components.clusters.aks.ingress import DnsRights, DnsRightsArgs
from components.clusters.aks.kubeconfig import kubeconfig
from components.clusters.aks.logs import LogWorkspace, LogWorkspaceArgs
from components.clusters.aks.namespace_identities import NamespaceIdentities, NamespaceIdentitiesArgs
from components.clusters.aks.network import CreatedVirtualNetwork, CreatedVirtualNetworkArgs
from components.clusters.aks.node_groups import AgentPools, AgentPoolsArgs
from components.clusters.cloud_cluster import LOG_RETENTION_DAYS, CloudClusterArgs
from components.clusters.handle import ClusterHandle, Share, replaced_with
from components.contract.aks.agent_pools import is_inline
from components.contract.aks.config import AksConfig
from components.contract.aks.network import CreatedNetwork
from components.contract.azure import AzureTag
from components.contract.environments import ClusterKind, Environment
from components.contract.hours import OfficeHours
from components.contract.tags import MANAGER
from components.namespace_identity import NamespaceIdentity

AksClusterArgs: TypeAlias = CloudClusterArgs[AksConfig]


class AksCluster(PlatformComponent):
    """A private-by-default AKS cluster with agent pools, its add-ons and, unless one is given, its network.

    One explicit provider creates everything in Azure, in the subscription that the stack file names, and in a resource
    group of its own.
    """

    handle: ClusterHandle

    def __init__(self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksCluster", name, None, opts)
        self._name, self._args = name, args
        self._tags = {
            AzureTag.ENVIRONMENT.value: args.environment.value,
            AzureTag.MANAGED_BY.value: MANAGER,
            **args.choices.tags,
            AzureTag.CLUSTER.value: args.choices.name,
            AzureTag.STACK.value: name,
        }
        self._azure = self._azure_provider()
        self._group = self._resource_group()
        network = self._network()
        control_plane = self._control_plane(network)
        nodes = self._nodes(control_plane)
        kubernetes_provider, config = self._kubernetes_provider(control_plane)
        ready: tuple[pulumi.Resource, ...] = (*control_plane.access, *nodes.pools)
        shares: Mapping[str, Share] = {}
        if args.storage:
            stored, shares = self._shared_storage(network)
            ready = (*ready, stored)
        follows = (replaced_with(control_plane.cluster),)
        own = ClusterAddons(
            f"{name}-own",
            ClusterAddonsArgs(choices=args.choices, groups=args.groups),
            self.child(providers=[kubernetes_provider], depends_on=list(ready), transformations=list(follows)),
        )
        if args.choices.ingress and args.choices.ingress.dns_zone_id:
            self._names(args.choices.ingress.dns_zone_id, control_plane, kubernetes_provider, ready)
        self.handle = ClusterHandle(
            name=name,
            kind=ClusterKind.AKS,
            groups=args.groups,
            provider=kubernetes_provider,
            ready=(*ready, own),
            kubeconfig=config,
            transformations=follows,
            shares=shares,
            facts={**self._facts(control_plane), **self._backup(control_plane, ready)},
            identities=self._identities(control_plane),
        )
        if args.choices.office_hours:
            self._hours(args.choices.office_hours, ready)
        self.register_outputs({"nodeGroups": [group.name for group in args.groups]})

    @property
    def _is_production(self) -> bool:
        return self._args.environment is Environment.PROD

    def _in_azure(self, *needed: pulumi.Resource) -> pulumi.ResourceOptions:
        return self.child(providers=[self._azure], depends_on=[self._group, *needed])

    def _azure_provider(self) -> Provider:
        choices = self._args.choices
        return Provider(
            f"{self._name}-azure",
            subscription_id=choices.subscription_id,
            tenant_id=choices.tenant_id,
            opts=self.child(),
        )

    def _resource_group(self) -> ResourceGroup:
        choices = self._args.choices
        return ResourceGroup(
            f"{self._name}-group",
            resource_group_name=choices.resource_group,
            location=choices.location,
            tags=self._tags,
            opts=self.child(provider=self._azure, protect=self._is_production),
        )

    def _kubernetes_provider(self, control_plane: ControlPlane) -> tuple[kubernetes.Provider, pulumi.Output[str]]:
        choices = self._args.choices
        config = kubeconfig(choices, control_plane.cluster, self._azure, control_plane.access)
        provider = kubernetes.Provider(
            f"{self._name}-kubernetes",
            kubeconfig=config,
            # Another kubeconfig does not mean another cluster, so nothing in it is replaced.
            cluster_identifier=choices.cluster_id,
            enable_config_map_mutable=True,
            opts=self.child(depends_on=list(control_plane.access)),
        )
        return provider, config

    def _control_plane(self, network: Sequence[pulumi.Resource]) -> ControlPlane:
        args, choices = self._args, self._args.choices
        identities = ClusterIdentities(
            f"{self._name}-identities",
            ClusterIdentitiesArgs(choices=choices, resource_group=self._group.name, tags=self._tags),
            self._in_azure(*network),
        )
        logs = LogWorkspace(
            f"{self._name}-logs",
            LogWorkspaceArgs(
                choices=choices,
                resource_group=self._group.name,
                tags=self._tags,
                retention_days=choices.log_retention_days or LOG_RETENTION_DAYS[args.environment],
            ),
            self._in_azure(),
        )
        return ControlPlane(
            f"{self._name}-cluster",
            ControlPlaneArgs(
                choices=choices,
                environment=args.environment,
                groups=args.groups,
                identities=identities,
                logs=logs,
                resource_group=self._group.name,
                tags=self._tags,
            ),
            self._in_azure(),
        )

    def _network(self) -> list[pulumi.Resource]:
        """Return what must exist before a node can start; nothing for an existing network."""
        choices = self._args.choices
        if not isinstance(choices.network, CreatedNetwork):
            return []
        created = CreatedVirtualNetwork(
            f"{self._name}-network",
            CreatedVirtualNetworkArgs(
                choices=choices,
                network=choices.network,
                resource_group=self._group.name,
                tags=self._tags,
                is_production=self._is_production,
                has_storage=bool(self._args.storage or choices.backup),
            ),
            self._in_azure(),
        )
        return [created]

    def _nodes(self, control_plane: ControlPlane) -> AgentPools:
        return AgentPools(
            f"{self._name}-pools",
            AgentPoolsArgs(
                groups=[group for group in self._args.groups if not is_inline(group, self._args.choices)],
                choices=self._args.choices,
                resource_group=self._group.name,
                cluster=control_plane.cluster,
                tags=self._tags,
            ),
            self._in_azure(*control_plane.windows),
        )

    def _identities(self, control_plane: ControlPlane) -> Mapping[str, NamespaceIdentity]:
        args = self._args
        if not args.identities:
            return {}
        made = NamespaceIdentities(
            f"{self._name}-jobs",
            NamespaceIdentitiesArgs(
                choices=args.choices,
                identities=args.identities,
                resource_group=self._group.name,
                issuer=_issuer(control_plane),
                tags=self._tags,
            ),
            self._in_azure(),
        )
        return made.by_namespace

    def _hours(self, hours: OfficeHours, ready: Sequence[pulumi.Resource]) -> None:
        # Only stacks with office hours load the SDK of Logic Apps.
        from components.clusters.aks.hours import ClusterHours, ClusterHoursArgs  # noqa: PLC0415

        ClusterHours(
            f"{self._name}-hours",
            ClusterHoursArgs(choices=self._args.choices, hours=hours, resource_group=self._group.name, tags=self._tags),
            self._in_azure(*ready),
        )

    def _shared_storage(self, network: Sequence[pulumi.Resource]) -> tuple[pulumi.Resource, Mapping[str, Share]]:
        # Only stacks with shared storage load the SDK of storage.
        from components.clusters.aks.shared_storage import SharedStorage, SharedStorageArgs  # noqa: PLC0415

        args = self._args
        storage = SharedStorage(
            f"{self._name}-storage",
            SharedStorageArgs(
                choices=args.choices,
                storage=args.storage,
                volumes=args.volumes,
                resource_group=self._group.name,
                tags=self._tags,
                is_production=self._is_production,
            ),
            # Storage accounts admit a subnet only once it has the service endpoint of storage.
            self._in_azure(*network),
        )
        return storage, storage.shares

    def _names(
        self,
        zone_id: str,
        control_plane: ControlPlane,
        provider: kubernetes.Provider,
        ready: tuple[pulumi.Resource, ...],
    ) -> None:
        DnsRights(
            f"{self._name}-external-dns",
            DnsRightsArgs(
                choices=self._args.choices,
                zone_id=zone_id,
                resource_group=self._group.name,
                issuer=_issuer(control_plane),
                tags=self._tags,
            ),
            self.child(
                providers=[self._azure, provider],
                depends_on=[self._group, *ready],
                transformations=[replaced_with(control_plane.cluster)],
            ),
        )

    def _backup(self, control_plane: ControlPlane, ready: Sequence[pulumi.Resource]) -> dict[str, pulumi.Input[object]]:
        choices = self._args.choices
        if not choices.backup:
            return {}
        # Only stacks with backups load the SDK of Azure Backup.
        from components.clusters.aks.backup import ClusterBackup, ClusterBackupArgs  # noqa: PLC0415

        made = ClusterBackup(
            f"{self._name}-backup",
            ClusterBackupArgs(
                choices=choices,
                backup=choices.backup,
                cluster=control_plane.cluster,
                control_plane=control_plane.principal_id,
                tags=self._tags,
            ),
            # The extension needs nodes, and AKS allows only one change of a cluster at a time.
            self._in_azure(*ready),
        )
        return {"backup": dict(made.facts)}

    def _facts(self, control_plane: ControlPlane) -> dict[str, pulumi.Input[object]]:
        choices, cluster = self._args.choices, control_plane.cluster
        return {
            "clusterName": choices.name,
            "clusterId": choices.cluster_id,
            "subscriptionId": choices.subscription_id,
            "tenantId": choices.tenant_id,
            "location": choices.location,
            "resourceGroup": choices.resource_group,
            "nodeResourceGroup": choices.node_resource_group,
            "version": choices.version,
            "nodeSubnetId": choices.node_subnet_id,
            "oidcIssuer": cluster.oidc_issuer_profile.apply(lambda profile: profile.issuer_url if profile else None),
            "access": {name: entry.object_id for name, entry in choices.access.all_entries.items()},
        }


def _issuer(control_plane: ControlPlane) -> pulumi.Output[str]:
    profile = control_plane.cluster.oidc_issuer_profile
    issuer: pulumi.Output[str] = profile.apply(lambda profile: profile.issuer_url if profile else "")
    return issuer
