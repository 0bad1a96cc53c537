"""The EKS cluster as a component: network, control plane, nodes and add-ons, in order of dependency."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_aws.provider import Provider, ProviderDefaultTagsArgs

from components.base import PlatformComponent
from components.clusters.cloud_cluster import LOG_RETENTION_DAYS, CloudClusterArgs
from components.clusters.eks.cluster_addons import ClusterAddons, ClusterAddonsArgs
from components.clusters.eks.control_plane import ControlPlane, ControlPlaneArgs
from components.clusters.eks.identity import NODE_POLICIES, RoleArgs, ServiceRole, cache_statements
from components.clusters.eks.ingress import LoadBalancerRights, LoadBalancerRightsArgs, dns_addon
from components.clusters.eks.kubeconfig import kubeconfig
from components.clusters.eks.managed_addons import (
    AFTER_NODES,
    NODE_MONITORING,
    ManagedAddon,
    ManagedAddons,
    ManagedAddonsArgs,
    before_nodes,
)
from components.clusters.eks.namespace_identities import NamespaceIdentities, NamespaceIdentitiesArgs
from components.clusters.eks.network import CreatedVpc, CreatedVpcArgs, Network, existing_network
from components.clusters.eks.node_groups import ManagedNodeGroup, NodeGroupArgs
from components.clusters.handle import ClusterHandle, Share, replaced_with
from components.contract.aws import OwnTag
from components.contract.eks.config import EksConfig
from components.contract.eks.ingress import EksIngress
from components.contract.eks.network import ExistingNetwork
from components.contract.environments import ClusterKind, Environment
from components.contract.kubernetes_minors import older_of
from components.contract.tags import MANAGER
from components.namespace_identity import NamespaceIdentity

EksClusterArgs: TypeAlias = CloudClusterArgs[EksConfig]


class EksCluster(PlatformComponent):
    """A private-by-default EKS cluster with managed node groups, its add-ons and, unless one is given, its network.

    One explicit provider creates everything in AWS, in the account that the stack file names.
    """

    handle: ClusterHandle

    def __init__(self, name: str, args: EksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksCluster", name, None, opts)
        self._name, self._args = name, args
        self._tags = {
            OwnTag.ENVIRONMENT.value: args.environment.value,
            OwnTag.MANAGED_BY.value: MANAGER,
            **args.choices.tags,
            OwnTag.CLUSTER.value: args.choices.name,
            OwnTag.STACK.value: name,
            OwnTag.REGION.value: args.choices.region,
        }
        self._days = args.choices.log_retention_days or LOG_RETENTION_DAYS[args.environment]
        aws = self._aws_provider()
        self._in_aws = self.child(providers=[aws])
        network = self._network()
        control_plane = self._control_plane(network)
        nodes = self._nodes(control_plane, network)
        monitoring = (NODE_MONITORING,) if args.choices.node_monitoring else ()
        after = self._addons("addons", (*AFTER_NODES, *monitoring), control_plane, nodes)
        kubernetes_provider, config = self._kubernetes_provider(control_plane)
        ready = (*control_plane.access, *nodes, after)
        shares: Mapping[str, Share] = {}
        if args.storage:
            stored, shares = self._shared_storage(control_plane, network, nodes)
            ready = (*ready, *stored)
        if args.choices.ingress:
            self._ways_in(args.choices.ingress, control_plane, nodes)
        follows = (replaced_with(control_plane.cluster),)
        own = ClusterAddons(
            f"{name}-own",
            ClusterAddonsArgs(
                choices=args.choices,
                groups=args.groups,
                cluster_name=control_plane.cluster.name,
                cluster_arn=self._cluster_arn,
            ),
            self.child(providers=[aws, kubernetes_provider], depends_on=list(ready), transformations=list(follows)),
        )
        self.handle = ClusterHandle(
            name=name,
            kind=ClusterKind.EKS,
            groups=args.groups,
            provider=kubernetes_provider,
            ready=(*ready, own),
            kubeconfig=config,
            transformations=follows,
            shares=shares,
            facts={**self._facts(control_plane, network), **self._backup(control_plane)},
            identities=self._identities(control_plane),
        )
        self.register_outputs({"nodeGroups": [group.name for group in args.groups]})

    @property
    def _is_production(self) -> bool:
        return self._args.environment is Environment.PROD

    @property
    def _cluster_arn(self) -> str:
        choices = self._args.choices
        return f"arn:aws:eks:{choices.region}:{choices.account_id}:cluster/{choices.name}"

    def _aws_provider(self) -> Provider:
        choices = self._args.choices
        return Provider(
            f"{self._name}-aws",
            region=choices.region,
            allowed_account_ids=[choices.account_id],
            default_tags=ProviderDefaultTagsArgs(tags=self._tags),
            opts=self.child(),
        )

    def _kubernetes_provider(self, control_plane: ControlPlane) -> tuple[kubernetes.Provider, pulumi.Output[str]]:
        choices, cluster = self._args.choices, control_plane.cluster
        authority = cluster.certificate_authority.apply(lambda authority: authority.data or "")
        config = kubeconfig(choices.name, choices.region, cluster.endpoint, authority)
        provider = kubernetes.Provider(
            f"{self._name}-kubernetes",
            kubeconfig=config,
            # Another kubeconfig does not mean another cluster, so nothing in it is replaced.
            cluster_identifier=f"{choices.account_id}/{choices.region}/{choices.name}",
            enable_config_map_mutable=True,
            opts=self.child(depends_on=list(control_plane.access)),
        )
        return provider, config

    def _control_plane(self, network: Network) -> ControlPlane:
        return ControlPlane(
            f"{self._name}-cluster",
            ControlPlaneArgs(
                choices=self._args.choices,
                network=network,
                environment=self._args.environment,
                log_retention_days=self._days,
            ),
            self._in_aws,
        )

    def _network(self) -> Network:
        choices = self._args.choices
        if isinstance(choices.network, ExistingNetwork):
            return existing_network(choices.network)
        return CreatedVpc(
            f"{self._name}-network",
            CreatedVpcArgs(
                choices=choices.network,
                region=choices.region,
                account_id=choices.account_id,
                zones=choices.zones,
                cluster_name=choices.name,
                is_production=self._is_production,
                is_private=choices.is_private,
                log_retention_days=self._days,
                permissions_boundary=choices.permissions_boundary_arn,
                pod_cidr=choices.pod_cidr,
                has_file_systems=any(not each.is_lustre for each in self._args.storage.values()),
            ),
            self._in_aws,
        ).network

    def _nodes(self, control_plane: ControlPlane, network: Network) -> list[ManagedNodeGroup]:
        choices = self._args.choices
        before = self._addons("node-addons", before_nodes(has_prefixes=choices.prefix_delegation), control_plane, [])
        role = ServiceRole(
            f"{self._name}-nodes",
            RoleArgs(
                service="ec2.amazonaws.com",
                managed_policies=NODE_POLICIES,
                statements=cache_statements(choices.region, choices.account_id, choices.image_caches),
                permissions_boundary=choices.permissions_boundary_arn,
            ),
            self._in_aws,
        )
        self._node_role_arn = role.arn
        # The older one of the live and the requested version: nodes are never newer than the control plane, and are
        # rolled back before it.
        wanted = choices.version_of_nodes
        version = control_plane.cluster.version.apply(lambda live: older_of(live, wanted))
        return [
            ManagedNodeGroup(
                f"{self._name}-{group.name}",
                NodeGroupArgs(
                    group=group,
                    cluster_name=control_plane.cluster.name,
                    cluster_id=choices.name,
                    version=version,
                    release=choices.node_release,
                    role_arn=role.arn,
                    subnet_ids=network.node_subnet_ids,
                    security_group=control_plane.security_group,
                    disk_gib=choices.root_volume_gib,
                    tags=self._tags,
                    user_data=choices.user_data,
                    hours=choices.office_hours,
                ),
                pulumi.ResourceOptions.merge(
                    self._in_aws, pulumi.ResourceOptions(depends_on=[role, before, *network.ready])
                ),
            )
            for group in self._args.groups
        ]

    def _addons(
        self,
        part: str,
        addons: Sequence[ManagedAddon],
        control_plane: ControlPlane,
        needed: Sequence[pulumi.Resource],
    ) -> ManagedAddons:
        choices = self._args.choices
        return ManagedAddons(
            f"{self._name}-{part}",
            ManagedAddonsArgs(
                addons=addons,
                versions=choices.addon_versions,
                cluster_name=control_plane.cluster.name,
                cluster_arn=self._cluster_arn,
                permissions_boundary=choices.permissions_boundary_arn,
            ),
            pulumi.ResourceOptions.merge(self._in_aws, pulumi.ResourceOptions(depends_on=list(needed))),
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
                cluster_name=control_plane.cluster.name,
                cluster_arn=self._cluster_arn,
            ),
            self._in_aws,
        )
        return made.by_namespace

    def _shared_storage(
        self, control_plane: ControlPlane, network: Network, nodes: Sequence[pulumi.Resource]
    ) -> tuple[tuple[pulumi.Resource, ...], Mapping[str, Share]]:
        # Only stacks with shared storage load the SDK of EFS.
        from components.clusters.eks.shared_storage import SharedStorageArgs, storage_by_type  # noqa: PLC0415

        storage = storage_by_type(
            self._name,
            SharedStorageArgs(
                choices=self._args.choices,
                storage=self._args.storage,
                volumes=self._args.volumes,
                network=network,
                nodes_group=control_plane.security_group,
                is_production=self._is_production,
            ),
            self._in_aws,
        )
        drivers = self._addons("storage-addons", [each.driver for each in storage], control_plane, nodes)
        return (*storage, drivers), {key: share for each in storage for key, share in each.shares.items()}

    def _backup(self, control_plane: ControlPlane) -> dict[str, pulumi.Input[object]]:
        choices = self._args.choices
        if not choices.backup:
            return {}
        # Only stacks with backups load the SDK of AWS Backup.
        from components.clusters.eks.backup import ClusterBackup, ClusterBackupArgs  # noqa: PLC0415

        made = ClusterBackup(
            f"{self._name}-backup",
            ClusterBackupArgs(
                choices=choices.backup,
                cluster_arn=self._cluster_arn,
                permissions_boundary=choices.permissions_boundary_arn,
                tags=self._tags,
            ),
            # Created after the cluster, and deleted before it.
            pulumi.ResourceOptions.merge(self._in_aws, pulumi.ResourceOptions(depends_on=[control_plane.cluster])),
        )
        return {"backup": dict(made.facts)}

    def _ways_in(self, ingress: EksIngress, control_plane: ControlPlane, nodes: Sequence[pulumi.Resource]) -> None:
        choices = self._args.choices
        LoadBalancerRights(
            f"{self._name}-load-balancers",
            LoadBalancerRightsArgs(
                choices=choices, cluster_name=control_plane.cluster.name, cluster_arn=self._cluster_arn
            ),
            self._in_aws,
        )
        if ingress.hosted_zone_id:
            addon = dns_addon(choices, ingress.domain, ingress.hosted_zone_id)
            self._addons("dns-addons", (addon,), control_plane, nodes)

    def _facts(self, control_plane: ControlPlane, network: Network) -> dict[str, pulumi.Input[object]]:
        choices, cluster = self._args.choices, control_plane.cluster
        return {
            "clusterName": choices.name,
            "clusterArn": self._cluster_arn,
            "accountId": choices.account_id,
            "region": choices.region,
            "version": cluster.version,
            "endpoint": cluster.endpoint,
            "vpcId": network.vpc_id,
            "nodeSubnetIds": dict(network.node_subnet_ids),
            "nodeRoleArn": self._node_role_arn,
            "access": {name: entry.role_arn for name, entry in choices.access.all_entries.items()},
        }
