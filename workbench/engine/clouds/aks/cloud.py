"""What AKS has to say about changes of its clusters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from components.contract.aks.agent_pools import fixed_inputs, node_labels, node_taints, pool_name
from components.contract.aks.config import AksConfig
from components.contract.groups import NodeGroup
from components.contract.pools import PoolRole
from infra.config import StackConfig
from workbench.engine.clouds.aks.cluster_components import AksPool, SystemPool
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Rank, Sizes, minor


@dataclass(frozen=True)
class Aks(Cloud):
    """A stack in Azure.

    Parameters
    ----------
    stack
        Name of the stack, with which the program's own names begin.
    config, choices
        What its file says, and what of that is about the cluster.
    """

    place = "Azure"
    service = "AKS"
    page = "docs/aks.md"
    new_session = "`az login`, or sign in as the deployer's identity again"
    ways_in = "a VPN, authorizedRanges, a group of adminGroupIds (docs/aks.md), and `kubelogin` on PATH for the token"
    no_way_back = "If AKS raised it by itself, support of the old version ended; AKS lowers none."

    stack: str
    config: StackConfig
    choices: AksConfig

    @property
    @override
    def version(self) -> str:
        return self.choices.version

    @property
    @override
    def groups(self) -> Mapping[str, NodeGroup]:
        resources = [group for group in self.config.groups if group.role is not PoolRole.INITIAL]
        return {
            f"{self.stack}-cluster/{pool_name(self._initial, self.choices)}": self._initial,
            **{f"{self.stack}-pools-{group.name}": group for group in resources},
        }

    @override
    def refusals(self, parts: Sequence[ClusterComponent]) -> Iterator[Blocker]:
        """Refuse changes of the pool that the cluster was made with: no program sends them.

        Azure takes the cluster with all its pools or not at all, also with those that are resources of their own. So
        what is live is sent back, and who wants another initial pool changes it by Azure's own command.
        """
        initial, pools = self._initial, [part for part in parts if isinstance(part, SystemPool)]
        name = pool_name(initial, self.choices)
        found = next((pool for pool in pools if pool.name == name), None)
        if found:
            yield from self._of_initial(found)
        elif pools:
            there = ", ".join(pool.name for pool in pools)
            yield Blocker(
                f"pools.{initial.pool}",
                f"the initial pool would be called {name}, and the cluster's is {there}",
                "the pool that a cluster is made with keeps its name",
                f"Call it {there} again, or make it anew by hand: {_BY_HAND}",
            )

    @override
    def notes(self, parts: Sequence[ClusterComponent]) -> Iterator[str]:
        cluster = next((part for part in parts if part.rank is Rank.CLUSTER), None)
        for pool in parts:
            if not isinstance(pool, SystemPool):
                continue
            if cluster and pool.version != cluster.version == self.version:
                yield (
                    f"The {pool} stays on {pool.version} until somebody raises it, since only Azure's own command "
                    f"does: {pool.upgrade(self.version)}."
                )
            if not self.choices.tags.items() <= pool.tags.items():
                yield f"The {pool} keeps its tags; {pool.tag(self.choices.tags)} gives it those of the file."

    @override
    def ahead(self, parts: Sequence[ClusterComponent], *, is_upgrade: bool) -> tuple[tuple[ClusterComponent, ...], ...]:
        """Take the parts one by one.

        AKS changes one pool at a time, for as long as its nodes take, and meanwhile the autoscaler moves the others.
        Their sizes go back to Azure with whatever else changes in them, so each run reads them anew.
        """
        cluster = [part for part in parts if part.rank is Rank.CLUSTER] if is_upgrade else []
        pools = [part for part in parts if type(part) is AksPool and self._is_changed(part)]
        runs = [*cluster, *pools]
        return tuple((part,) for part in runs) if len(runs) > 1 else ()

    def _is_changed(self, pool: AksPool) -> bool:
        group = self.groups.get(pool.program_name)
        if group is None or pool.name != pool_name(group, self.choices):
            return False
        sizes = Sizes(group.size.min, pool.sizes.size if pool.sizes else 0, group.size.max)
        return (
            (not pool.holds_data and 0 < minor(pool.version) < minor(self.version))
            or (pool.sizes is not None and pool.sizes != sizes)
            or not _carries(pool, group)
        )

    def _of_initial(self, pool: SystemPool) -> Iterator[Blocker]:
        group = self._initial
        for key, live, wanted in _fixed(pool, fixed_inputs(group, self.choices)):
            yield Blocker(
                f"pools.{group.pool}",
                f"the {pool} has {key} {live}, and would have {wanted}",
                "AKS never changes that in a pool, and nothing makes this one anew by itself",
                _BY_HAND,
            )
        if pool.sizes and pool.sizes.size != group.size.min:
            yield Blocker(
                f"pools.{group.pool}.size",
                f"the {pool} has {pool.sizes.size} nodes, and would have {group.size.min}",
                _BY_COMMAND,
                f"`az aks nodepool scale {pool.is_} --node-count {group.size.min}`, then run `up` again.",
            )
        if not _carries(pool, group):
            labels = " ".join(f"{key}={value}" for key, value in sorted(node_labels(group).items()))
            yield Blocker(
                f"pools.{group.pool}.labels",
                f"the {pool} has others",
                _BY_COMMAND,
                f"`az aks nodepool update {pool.is_} --labels {labels}`, then run `up` again.",
            )

    @property
    def _initial(self) -> NodeGroup:
        return next(group for group in self.config.groups if group.role is PoolRole.INITIAL)


_BY_COMMAND = "the pool that a cluster is made with is changed by Azure's own command only"

_BY_HAND = (
    "Add another pool of mode System (`az aks nodepool add`), delete this one once its pods run there, add it again "
    "under its name with the new values, delete the other, and run `up` again: "
    "https://learn.microsoft.com/azure/aks/use-system-pools."
)


def _carries(pool: AksPool, group: NodeGroup) -> bool:
    """Return whether a pool has the labels and taints that it should have; more of them are somebody else's."""
    return node_labels(group).items() <= pool.labels.items() and set(node_taints(group)) <= set(pool.taints)


def _fixed(pool: SystemPool, wanted: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Return what differs: the input's name, what is live, and what is wanted; what Azure does not tell is no other."""
    live = {_plain(key): (key, value) for key, value in pool.outputs.items()}
    for name, value in wanted.items():
        key, there = live.get(_plain(name), (name, None))
        if value is not None and there is not None and _comparable(there) != _comparable(value):
            yield key, there, value


def _plain(name: str) -> str:
    """Return the same for ``vnet_subnet_id`` and ``vnetSubnetID``."""
    return name.replace("_", "").lower()


def _comparable(value: Any) -> Any:
    """Return a value as Azure compares it: names without case, zones in no order."""
    if isinstance(value, list):
        return sorted(map(_comparable, value))
    return value.lower() if isinstance(value, str) else value
