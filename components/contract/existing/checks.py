"""What must hold between a cluster that somebody else built and the rest of its stack file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.existing.config import ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.lifecycle import Lifecycle
from components.contract.pools import NodePool, PoolRole


def mismatches(
    choices: ExistingConfig, _: Mapping[str, NodePool], groups: Sequence[NodeGroup], __: Environment | None
) -> Iterator[Mismatch]:
    """Find everything that cannot be brought together with nodes that are there already.

    Parameters
    ----------
    choices
        The cluster.
    groups
        The groups of all pools.
    """
    shapes = Counter(group.pool for group in groups)
    for pool in choices.nodes:
        if pool not in shapes:
            yield Mismatch((), f"lack '{pool}', which cluster.nodes names; add the pool, or drop it there")
    for pool, count in shapes.items():
        if count > 1:
            yield Mismatch((pool,), f"has {count} shapes of machines, and one selector; make each shape a pool")
    for group in {group.pool: group for group in groups}.values():
        for message in _problems(choices, group):
            yield Mismatch((group.pool,), message)


def _problems(choices: ExistingConfig, group: NodeGroup) -> Iterator[str]:
    nodes = choices.nodes.get(group.pool)
    if nodes is None:
        yield f"has no nodes: say which in cluster.nodes.{group.pool}.selector"
        return
    where = f"cluster.nodes.{group.pool}.taint"
    taints = " and ".join(map(str, group.taints))
    if taints and not nodes.taint:
        rule = "NG-17: " if group.gpu_resource else "NG-24: " if group.lifecycle is Lifecycle.SPOT else ""
        yield f"{rule}its nodes need the taint {taints}; set {where}: true, which adds what is missing, and no more"
    if nodes.taint and not taints:
        yield f"has no taint of its own, so {where} asks for nothing; drop it"
    if group.is_elastic and not choices.autoscaler:
        yield f"NG-14: nothing moves its size {group.size}: set size.min = size.max, or cluster.autoscaler: true"
    if group.role is PoolRole.DATA and not all(instance.local_nvme_gib for instance in group.instances):
        yield "NG-22: data nodes need NVMe disks of their own; say so in machine.localNvmeGib, or take another type"
