"""What must hold between an EKS cluster and the rest of its stack file."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from components.contract.eks import EksChoices
from components.contract.eks_autoscaling import autoscaling_tags
from components.contract.environments import Environment
from components.contract.groups import NodeGroup, in_zones
from components.contract.instances import Provider
from components.contract.lifecycle import Lifecycle
from components.contract.pools import DEFAULT_GPU_RESOURCE, NodePool, PoolRole

GROUPS_MAX: Final = 30
"""Managed node groups of a cluster, by default: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

ASG_TAGS_MAX: Final = 50
"""Tags of an Auto Scaling group: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html."""

EKS_ASG_TAGS: Final = 5
"""Tags that EKS itself puts on the group: cluster, node group, ownership and two of the autoscaler's discovery."""

SPOT_TYPES_MIN: Final = 3
"""Types of a spot pool. With fewer, one shortage of capacity stops all of it (EKS best practices, cost)."""


class Mismatch(NamedTuple):
    """One problem and the place in the stack file that it is about."""

    path: str
    message: str


def mismatches(
    choices: EksChoices,
    pools: Mapping[str, NodePool],
    environment: Environment,
    groups: tuple[NodeGroup, ...],
) -> Iterator[Mismatch]:
    """Find everything that AWS, or this package on AWS, would refuse later.

    Parameters
    ----------
    choices
        The cluster.
    pools
        Pools by name, as in the stack file.
    environment
        What the cluster is for.
    groups
        The groups of ``pools``, before zones are considered.
    """
    for name, pool in pools.items():
        for message in _pool_problems(pool, choices):
            yield Mismatch(f"pools.{name}", message)
    zonal = in_zones(groups, choices.zones)
    if len(zonal) > GROUPS_MAX:
        yield Mismatch(
            "pools",
            f"make {len(zonal)} node groups (jupyter and data: one a zone), EKS allows {GROUPS_MAX}; merge pools",
        )
    for group in groups:
        tags = len(autoscaling_tags(group, choices.name, choices.root_volume_gib)) + EKS_ASG_TAGS
        if tags > ASG_TAGS_MAX:
            yield Mismatch(
                f"pools.{group.name}.labels",
                f"{tags} tags tell the autoscaler about the group, AWS allows {ASG_TAGS_MAX}; drop labels",
            )
    if environment is Environment.PROD and choices.public_access_cidrs and not choices.access.entries:
        yield Mismatch(
            "cluster.access.entries",
            "HE-06: a prod cluster with a public endpoint names who may use it; add entries beside the two fixed ones",
        )


def _pool_problems(pool: NodePool, choices: EksChoices) -> Iterator[str]:
    foreign = [i.name for i in pool.instances if i.provider is not Provider.AWS]
    if foreign:
        yield f"{', '.join(foreign)} are no machine types of AWS; take one such as m6i.2xlarge"
    if pool.gpu_resource != DEFAULT_GPU_RESOURCE:
        yield f"gpuResource: on EKS GPUs are offered as {DEFAULT_GPU_RESOURCE}, given {pool.gpu_resource}"
    if pool.lifecycle is Lifecycle.SPOT and 0 < len(pool.instance_types) < SPOT_TYPES_MIN:
        yield f"HN-07: a spot pool needs {SPOT_TYPES_MIN} or more types of one shape, given {len(pool.instance_types)}"
    if pool.role is PoolRole.DATA:
        without = [i.name for i in pool.instances if not i.local_nvme_gib]
        if without:
            yield f"NG-22: {', '.join(without)} have no NVMe disks; data nodes need types such as i4i.2xlarge"
        if len(pool.instance_types) > 1:
            yield "NG-20: a data pool has one type, so that every node holds the same disks"
        if pool.size.min % len(choices.zones):
            yield (
                f"NG-20: {pool.size.min} data nodes cannot be spread evenly over {len(choices.zones)} zones; "
                f"take a multiple of {len(choices.zones)}, since moving one later loses its data"
            )
