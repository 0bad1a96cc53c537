"""Checks of an existing cluster against the rest of its stack file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from components.contract.checks import no_pool_hours, no_upgrades
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.lifecycle import Lifecycle
from components.contract.pools import NodePool, PoolRole


def mismatches(
    choices: ExistingConfig, pools: Mapping[str, NodePool], groups: Sequence[NodeGroup], _: Environment | None
) -> Iterator[Mismatch]:
    """Find everything that does not fit the existing nodes.

    Parameters
    ----------
    choices
        The cluster.
    pools, groups
        The pools by name, and all their groups.
    """
    yield from no_pool_hours(pools, "is impossible: the cluster's owner sets the sizes of its groups; remove it")
    yield from no_upgrades(pools, "is impossible: the cluster's owner upgrades its nodes; remove it")
    shapes = Counter(group.pool for group in groups)
    for pool in choices.nodes:
        if pool not in shapes:
            yield Mismatch((), f"lack '{pool}', which cluster.nodes lists; add the pool, or remove it there")
    for pool, count in shapes.items():
        if count > 1:
            yield Mismatch((pool,), f"has {count} machine shapes but one selector; make each shape a pool")
    for group in {group.pool: group for group in groups}.values():
        for message in _problems(choices, group):
            yield Mismatch((group.pool,), message)


def _problems(choices: ExistingConfig, group: NodeGroup) -> Iterator[str]:
    nodes = choices.nodes.get(group.pool)
    if nodes is None:
        yield f"has no nodes; select them in cluster.nodes.{group.pool}.selector"
        return
    where = f"cluster.nodes.{group.pool}.taint"
    taints = " and ".join(map(str, group.taints))
    if taints and not nodes.taint:
        rule = "NG-17: " if group.gpu_resource else "NG-24: " if group.lifecycle is Lifecycle.SPOT else ""
        yield f"{rule}its nodes need the taint {taints}; set {where}: true to add it where it is missing"
    if nodes.taint and not taints:
        yield f"needs no taint, so {where} has no effect; remove it"
    if group.is_elastic and not choices.autoscaler:
        yield f"NG-14: size {group.size} needs an autoscaler; set size.min = size.max, or cluster.autoscaler: true"
    if group.role is PoolRole.DATA and not all(instance.local_nvme_gib for instance in group.instances):
        yield "NG-22: data nodes need local NVMe disks; set machine.localNvmeGib, or use another machine type"
