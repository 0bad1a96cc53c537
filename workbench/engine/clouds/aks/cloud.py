"""AKS-specific checks and steps for changes of a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from components.contract.aks.agent_pools import (
    fixed_inputs,
    is_inline,
    node_labels,
    node_taints,
    pool_name,
    upgrade_settings,
)
from components.contract.aks.config import AksConfig
from components.contract.aks.network import CreatedNetwork
from components.contract.groups import NodeGroup
from components.contract.pools import PoolRole
from workbench.engine.clouds.aks import node_settings
from workbench.engine.clouds.aks.cluster_components import AksCluster, AksPool, SystemPool
from workbench.engine.clouds.aks.fixed_choices import FIXED
from workbench.engine.clouds.aks.limits import differences, kept_limits, notes_on_limits, other_limits
from workbench.engine.clouds.aks.secrets_keys import key_blockers
from workbench.engine.clouds.aks.storage_accounts import redundancy_blockers
from workbench.engine.clouds.aks.takeover import entered, unfit_successors
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import NO_WAY_YET, CloudStack, ErrorCodes
from workbench.engine.clouds.cluster_component import ClusterComponent, Rank, Sizes, minor
from workbench.engine.clouds.way_back import WayBack, is_newer


@dataclass(frozen=True)
class Aks(CloudStack):
    """A stack in Azure."""

    place = "Azure"
    service = "AKS"
    page = "docs/aks.md"
    new_session = "`az login`, or sign in as the deployer's identity again"
    ways_in = "a VPN, authorizedRanges, a group of adminGroupIds (docs/aks.md), and `kubelogin` on PATH for the token"
    no_way_back = (
        "If AKS upgraded it automatically, the old version is out of support; AKS has no downgrade of control planes."
    )

    api_sleeps = True
    group_label = "kubernetes.azure.com/agentpool"
    # https://learn.microsoft.com/entra/identity-platform/reference-error-codes
    # https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/operationnotallowed
    errors = ErrorCodes(
        expired=r"ExpiredAuthenticationToken|AADSTS(50173|70008|70043|700024|700082)\b|[Pp]lease run:? `?'?az login",
        in_use=r"\bInUse\w*CannotBeDeleted\b|\bPublicIPAddressCannotBeDeleted\b|\bCannotDeleteNatGateway",
        # docs/azure-inputs.md: aso-cluster, linked-rights, kms-rights, role-unknown, zone-rights, backup-troubleshoot
        propagating=(
            r"\bCustomKubeletIdentityMissingPermissionError\b|\bLinkedAuthorizationFailed\b"
            r"|\bAzureKeyVaultKmsValidateIdentityPermissionCustomerError\b|\bRoleDefinitionDoesNotExist\b"
            r"|\bCustomPrivateDNSZoneMissingPermissionError\b|\bUserErrorBackupStorageLocationNotReady\b"
            r"|\bUserErrorExtensionMSIMissingPermissionsOnBackupStorageLocation\b"
            r"|\bKubernetesBackupListExtensionsError\b|\bUserErrorNotEnoughPermissionOnSnapshotRG\b"
        ),
        busy=r"\bOperationNotAllowed\b.*\bin progress\b|\bAnotherOperationInProgress\b|aks-pending-operation",
        # Azure would update the existing resource, so Pulumi's provider checks first and reports its own error.
        name_taken="cannot create already existing resource",
    )

    fixed = FIXED

    choices: AksConfig

    @override
    def fixed_blockers(self, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
        yield from super().fixed_blockers(deployment)
        yield from key_blockers(self.choices, deployment)
        yield from redundancy_blockers(self.choices, self.config.storage, deployment)
        for entry in unfit_successors(deployment):
            pool = AksPool(entry["urn"], entry["type"], entry["inputs"], entry["outputs"])
            yield Blocker(
                f"pools.{self._initial.pool}",
                f"the pool before it would be deleted, but the {pool} is {pool.condition.status or 'not ready'}",
                "core services need a system pool that works",
                pool.step,
            )
        if any(group.role is PoolRole.DATA for group in self.config.groups):
            yield from node_settings.data_blockers(self.choices, deployment)

    @property
    @override
    def api_clients(self) -> str:
        if self.choices.is_private:
            return (
                "The API is private: it answers in its network, and in peered ones that resolve its private DNS zone."
            )
        return f"The API answers authorizedRanges ({', '.join(self.choices.authorized_ranges)})."

    @override
    def creation_notes(self) -> Iterator[str]:
        if self.choices.is_private and isinstance(self.choices.network, CreatedNetwork):
            yield NO_WAY_YET.format(page=f"{self.page}#a-private-api")

    @property
    @override
    def groups(self) -> Mapping[str, NodeGroup]:
        pools = dict(super().groups)
        if not is_inline(self._initial, self.choices):
            return pools
        pools.pop(self.group_name(self.stack, self._initial.name))
        return {f"{self.stack}-cluster/{pool_name(self._initial, self.choices)}": self._initial, **pools}

    @staticmethod
    @override
    def group_name(stack: str, group: str) -> str:
        return f"{stack}-pools-{group}"

    @override
    def blockers(self, components: Sequence[ClusterComponent]) -> Iterator[Blocker]:
        """Refuse changes of the pool that the cluster was created with: the program does not apply them.

        Azure accepts a cluster only with all its pools, including those that are separate resources. So the program
        sends the live values back. The initial pool is changed with Azure's own command, or another pool takes over.
        """
        initial, pools = self._initial, [component for component in components if isinstance(component, SystemPool)]
        left = [each for each in components if isinstance(each, AksPool) and (each.is_successor or each.is_entered)]
        for pool, group in self._declared(components):
            yield from kept_limits(pool, group)
        if self.choices.created_with_pool:
            yield from self._of_takeover(pools, left, self.choices.created_with_pool)
            return
        name = pool_name(initial, self.choices)
        live = next((pool for pool in pools if pool.name == name), None)
        if left and not live:
            yield from self._of_dropped_takeover(left)
        elif live:
            yield from self._of_initial(live)
        elif pools:
            names = ", ".join(pool.name for pool in pools)
            yield Blocker(
                f"pools.{initial.pool}",
                f"the initial pool would be renamed from {names} to {name}",
                "the pool that a cluster is created with cannot be renamed",
                f"Rename it back to {names}. {_ANOTHER.format(name=pools[0].name)}",
            )

    def _of_takeover(
        self, pools: Sequence[SystemPool], left: Sequence[AksPool], created_with: str
    ) -> Iterator[Blocker]:
        pool = next((each for each in pools if each.name == created_with), None)
        if pool is None:
            # With a successor, these pools belong to other owners.
            for other in pools if not left else ():
                yield Blocker(
                    "cluster.createdWithPool",
                    f"{created_with}, but the cluster was created with the {other}",
                    "AKS keeps the name of that pool",
                    f"Set it to {other.name}.",
                )
        elif lost := pool.zones - set(fixed_inputs(self._initial, self.choices)["availability_zones"]):
            yield Blocker(
                f"pools.{self._initial.pool}",
                f"another pool would take over from the {pool} without its zones {', '.join(sorted(lost))}",
                "volumes of core services stay in their zone",
                "Keep cluster.zones until these services have no volumes there.",
            )

    def _of_dropped_takeover(self, left: Sequence[AksPool]) -> Iterator[Blocker]:
        name = next(filter(None, (pool.predecessor for pool in left)), "what it was")
        listed = ", ".join(map(str, left))
        yield Blocker(
            "cluster.createdWithPool",
            f"is not set, but the initial pool has been taken over by the {listed}",
            "it stays set for the life of the cluster",
            f"Set it to {name}.",
        )

    @override
    def entered(self, deployment: Mapping[str, Any]) -> dict[str, Any] | None:
        created_with = self.choices.created_with_pool
        return entered(deployment, created_with) if created_with else None

    @override
    def back_blockers(self, components: Sequence[ClusterComponent], way_back: WayBack) -> Iterator[Blocker]:
        """Refuse older nodes: only Azure's own command rolls a pool back; the API that the provider uses cannot.

        https://learn.microsoft.com/azure/aks/roll-back-node-pool-version
        """
        yield from super().back_blockers(components, way_back)
        cluster = next((each for each in components if isinstance(each, AksCluster)), None)
        if cluster is None or is_newer(cluster, self.version):
            return
        for pool in components:
            if isinstance(pool, AksPool) and not pool.holds_data and is_newer(pool, self.node_version):
                yield Blocker(
                    "cluster.nodeVersion",
                    f"{self.node_version}, but the {pool} runs {pool.version}",
                    "AKS rolls a pool back to what it ran before its last upgrade, for seven days and by command only",
                    f"{pool.ways_back} shows whether a rollback is possible. If so, {cluster.stop_upgrades}, then "
                    f"{pool.roll_back}, and run `up` again. The node image is rolled back too only if its channel "
                    f"(nodeImageChannel) is off as well. If no rollback is possible, set it to {pool.version}.",
                )

    @override
    def waking(self, components: Sequence[ClusterComponent]) -> str:
        return ", ".join(component.start for component in components if isinstance(component, AksCluster))

    @override
    def notes(self, components: Sequence[ClusterComponent]) -> Iterator[str]:
        cluster = next((component for component in components if isinstance(component, AksCluster)), None)
        if cluster:
            yield from node_settings.kept(self.choices, cluster)
        for pool in components:
            if isinstance(pool, AksPool) and (group := self.groups.get(pool.program_name)):
                yield from notes_on_limits(pool, group)
            if not isinstance(pool, SystemPool):
                continue
            if self.choices.created_with_pool:
                if pool.name == self.choices.created_with_pool:
                    yield f"The {pool} stays until another one works; the `up` after that deletes it."
                continue
            if cluster and cluster.version == self.version and minor(pool.version) < minor(self.node_version):
                yield (
                    f"The {pool} stays on {pool.version}; only Azure's own command upgrades it: "
                    f"{pool.upgrade(self.node_version)}."
                )
            if not self.choices.tags.items() <= pool.tags.items():
                yield f"The {pool} keeps its tags; to apply those of the stack file: {pool.tag(self.choices.tags)}."

    @override
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool, is_rollback: bool = False
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        """Return the components that change, one run for each; none if only one changes.

        AKS changes one pool at a time, and meanwhile the autoscaler resizes the others. Every change of a pool sends
        its size along, so each run must read the sizes again. A control plane never goes back.
        """
        del is_rollback
        cluster = [component for component in components if component.rank is Rank.CLUSTER] if is_upgrade else []
        pools = [component for component in components if type(component) is AksPool and self._is_changed(component)]
        runs = [*cluster, *pools]
        return tuple((component,) for component in runs) if len(runs) > 1 else ()

    def _declared(self, components: Sequence[ClusterComponent]) -> Iterator[tuple[AksPool, NodeGroup]]:
        """Return the pools that an update changes, with their groups."""
        for pool in components:
            group = self.groups.get(pool.program_name) if type(pool) is AksPool else None
            if isinstance(pool, AksPool) and group and pool.name == pool_name(group, self.choices):
                yield pool, group

    def _is_changed(self, pool: AksPool) -> bool:
        group = self.groups.get(pool.program_name)
        if group is None or pool.name != pool_name(group, self.choices):
            return False
        sizes = Sizes(group.size.min, pool.sizes.size if pool.sizes else 0, group.size.max)
        return (
            (not pool.keeps_version and 0 < minor(pool.version) < minor(self.node_version))
            or (pool.sizes is not None and pool.sizes != sizes)
            or not _has_labels_and_taints(pool, group)
            or bool(other_limits(pool, group, upgrade_settings(group)))
        )

    def _of_initial(self, pool: SystemPool) -> Iterator[Blocker]:
        group = self._initial
        for key, live, declared in differences(pool.outputs, fixed_inputs(group, self.choices)):
            yield Blocker(
                f"pools.{group.pool}",
                f"{key} of the {pool} would change from {live} to {declared}",
                "AKS cannot change it in an existing pool, and the cluster was created with this one",
                _ANOTHER.format(name=pool.name),
            )
        if pool.sizes and pool.sizes.size != group.size.min:
            yield Blocker(
                f"pools.{group.pool}.size",
                f"the {pool} would change from {pool.sizes.size} to {group.size.min} nodes",
                _BY_COMMAND,
                f"`az aks nodepool scale {pool.is_} --node-count {group.size.min}`, then run `up` again.",
            )
        if not _has_labels_and_taints(pool, group):
            labels = " ".join(f"{key}={value}" for key, value in sorted(node_labels(group).items()))
            yield Blocker(
                f"pools.{group.pool}.labels",
                f"the labels of the {pool} would change",
                _BY_COMMAND,
                f"`az aks nodepool update {pool.is_} --labels {labels}`, then run `up` again.",
            )

    @property
    def _initial(self) -> NodeGroup:
        return next(group for group in self.config.groups if group.role is PoolRole.INITIAL)


_BY_COMMAND = "only Azure's own command changes the pool that a cluster was created with"

_ANOTHER = (
    "To let another pool take over, set `cluster.createdWithPool: {name}`: `up` then creates a separate system pool "
    "and deletes this one afterwards (docs/node-upgrades.md#another-initial-pool-on-aks)."
)


def _has_labels_and_taints(pool: AksPool, group: NodeGroup) -> bool:
    """Return whether a pool has its group's labels and taints; ignores additional ones."""
    return node_labels(group).items() <= pool.labels.items() and set(node_taints(group)) <= set(pool.taints)
