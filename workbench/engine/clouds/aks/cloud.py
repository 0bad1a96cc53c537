"""AKS-specific checks and steps for changes of a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from components.contract.aks.agent_pools import fixed_inputs, node_labels, node_taints, pool_name
from components.contract.aks.config import AksConfig
from components.contract.aks.network import CreatedNetwork
from components.contract.groups import NodeGroup
from components.contract.pools import PoolRole
from workbench.engine.clouds.aks.backup import backup_blockers
from workbench.engine.clouds.aks.cluster_components import AksCluster, AksPool, SystemPool
from workbench.engine.clouds.aks.fixed_choices import FIXED
from workbench.engine.clouds.aks.secrets_keys import key_blockers
from workbench.engine.clouds.aks.storage_accounts import redundancy_blockers
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import NO_WAY_YET, CloudStack, ErrorCodes
from workbench.engine.clouds.cluster_component import ClusterComponent, Rank, Sizes, minor


@dataclass(frozen=True)
class Aks(CloudStack):
    """A stack in Azure."""

    place = "Azure"
    service = "AKS"
    page = "docs/aks.md"
    new_session = "`az login`, or sign in as the deployer's identity again"
    ways_in = "a VPN, authorizedRanges, a group of adminGroupIds (docs/aks.md), and `kubelogin` on PATH for the token"
    no_way_back = "If AKS upgraded it automatically, the old version is out of support; AKS has no downgrade."

    api_sleeps = True
    group_label = "kubernetes.azure.com/agentpool"
    # https://learn.microsoft.com/entra/identity-platform/reference-error-codes
    # https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/operationnotallowed
    errors = ErrorCodes(
        expired=r"ExpiredAuthenticationToken|AADSTS(50173|70008|70043|700024|700082)\b|[Pp]lease run:? `?'?az login",
        in_use=r"\bInUse\w*CannotBeDeleted\b|\bPublicIPAddressCannotBeDeleted\b|\bCannotDeleteNatGateway",
        # docs/azure-inputs.md: aso-cluster, linked-rights, kms-rights, role-unknown
        propagating=(
            r"\bCustomKubeletIdentityMissingPermissionError\b|\bLinkedAuthorizationFailed\b"
            r"|\bAzureKeyVaultKmsValidateIdentityPermissionCustomerError\b|\bRoleDefinitionDoesNotExist\b"
            r"|\bUserErrorMissingPermissions\b"
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
        yield from backup_blockers(self.choices, deployment)

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
        resources = [group for group in self.config.groups if group.role is not PoolRole.INITIAL]
        return {
            f"{self.stack}-cluster/{pool_name(self._initial, self.choices)}": self._initial,
            **{f"{self.stack}-pools-{group.name}": group for group in resources},
        }

    @override
    def blockers(self, components: Sequence[ClusterComponent]) -> Iterator[Blocker]:
        """Refuse changes of the pool that the cluster was created with: the program does not send them.

        Azure accepts a cluster only with all its pools, including those that are separate resources. So the live
        values are sent back, and the initial pool is changed with Azure's own command.
        """
        initial, pools = self._initial, [component for component in components if isinstance(component, SystemPool)]
        name = pool_name(initial, self.choices)
        live = next((pool for pool in pools if pool.name == name), None)
        if live:
            yield from self._of_initial(live)
        elif pools:
            names = ", ".join(pool.name for pool in pools)
            yield Blocker(
                f"pools.{initial.pool}",
                f"the initial pool would be renamed from {names} to {name}",
                "the pool that a cluster is created with cannot be renamed",
                f"Rename it back to {names}, or recreate it by hand: {_BY_HAND}",
            )

    @override
    def waking(self, components: Sequence[ClusterComponent]) -> str:
        return ", ".join(component.start for component in components if isinstance(component, AksCluster))

    @override
    def notes(self, components: Sequence[ClusterComponent]) -> Iterator[str]:
        cluster = next((component for component in components if component.rank is Rank.CLUSTER), None)
        for pool in components:
            if not isinstance(pool, SystemPool):
                continue
            if cluster and pool.version != cluster.version == self.version:
                yield (
                    f"The {pool} stays on {pool.version}; only Azure's own command upgrades it: "
                    f"{pool.upgrade(self.version)}."
                )
            if not self.choices.tags.items() <= pool.tags.items():
                yield f"The {pool} keeps its tags; to apply those of the stack file: {pool.tag(self.choices.tags)}."

    @override
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        """Change the components one by one.

        AKS changes one pool at a time, and meanwhile the autoscaler resizes the others. Every change of a pool sends
        its size along, so each run must read the sizes again.
        """
        cluster = [component for component in components if component.rank is Rank.CLUSTER] if is_upgrade else []
        pools = [component for component in components if type(component) is AksPool and self._is_changed(component)]
        runs = [*cluster, *pools]
        return tuple((component,) for component in runs) if len(runs) > 1 else ()

    def _is_changed(self, pool: AksPool) -> bool:
        group = self.groups.get(pool.program_name)
        if group is None or pool.name != pool_name(group, self.choices):
            return False
        sizes = Sizes(group.size.min, pool.sizes.size if pool.sizes else 0, group.size.max)
        return (
            (not pool.keeps_version and 0 < minor(pool.version) < minor(self.version))
            or (pool.sizes is not None and pool.sizes != sizes)
            or not _has_labels_and_taints(pool, group)
        )

    def _of_initial(self, pool: SystemPool) -> Iterator[Blocker]:
        group = self._initial
        for key, live, declared in _fixed(pool, fixed_inputs(group, self.choices)):
            yield Blocker(
                f"pools.{group.pool}",
                f"{key} of the {pool} would change from {live} to {declared}",
                "AKS cannot change it in an existing pool, and this pool is not recreated automatically",
                _BY_HAND,
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

_BY_HAND = (
    "Add a temporary pool of mode System (`az aks nodepool add`), delete this one once its pods run there, add it "
    "again with the same name and the new values, delete the temporary pool, and run `up` again: "
    "https://learn.microsoft.com/azure/aks/use-system-pools."
)


def _has_labels_and_taints(pool: AksPool, group: NodeGroup) -> bool:
    """Return whether a pool has its group's labels and taints; ignores additional ones."""
    return node_labels(group).items() <= pool.labels.items() and set(node_taints(group)) <= set(pool.taints)


def _fixed(pool: SystemPool, declared: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Return name, live value and declared value of each differing input; skips values that Azure does not report."""
    live = {_plain(key): (key, value) for key, value in pool.outputs.items()}
    for name, value in declared.items():
        key, current = live.get(_plain(name), (name, None))
        if value is not None and current is not None and _comparable(current) != _comparable(value):
            yield key, current, value


def _plain(name: str) -> str:
    """Normalise a name: ``vnet_subnet_id`` and ``vnetSubnetID`` become equal."""
    return name.replace("_", "").lower()


def _comparable(value: Any) -> Any:
    """Return a value as Azure compares it: case-insensitive text, unordered lists."""
    if isinstance(value, list):
        return sorted(map(_comparable, value))
    return value.lower() if isinstance(value, str) else value
