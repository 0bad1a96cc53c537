"""What must hold between an EKS cluster and the rest of its stack file."""

from collections.abc import Iterator, Sequence
from typing import Final

from components.contract.checks import data_problems, foreign_types, other_gpu_resource
from components.contract.constraint_violation import Mismatch
from components.contract.eks.autoscaling import autoscaling_tags
from components.contract.eks.config import EksConfig
from components.contract.groups import NodeGroup, in_zones
from components.contract.instances import Provider
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole

GROUPS_MAX: Final = 30
"""Managed node groups of a cluster, by default: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

NODES_MAX: Final = 450
"""Nodes of a group, by default: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

ASG_TAGS_MAX: Final = 50
"""Tags of an Auto Scaling group: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html."""

EKS_ASG_TAGS: Final = 5
"""Tags that EKS itself puts on the group: cluster, node group, ownership and two of the autoscaler's discovery."""

SPOT_TYPES_MIN: Final = 3
"""Types of a spot pool. With fewer, one shortage of capacity stops all of it (EKS best practices, cost)."""


def mismatches(choices: EksConfig, groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    """Find everything that AWS, or this package on AWS, would refuse later.

    Parameters
    ----------
    choices
        The cluster.
    groups
        As ``groups.node_groups`` returns them.
    """
    # The groups of one pool have the same labels and role, so that they may be wrong for the same reason.
    yield from dict.fromkeys(_mismatches_of_groups(choices, groups))
    made = len(in_zones(groups, choices.zones))
    if made > GROUPS_MAX:
        which = "one a shape; of jupyter and data one a zone too"
        yield Mismatch((), f"make {made} node groups ({which}), EKS allows {GROUPS_MAX}; merge pools")


def _mismatches_of_groups(choices: EksConfig, groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    for group in groups:
        for message in _group_problems(group, choices):
            yield Mismatch((group.pool,), message)
        tags = len(autoscaling_tags(group, choices.name, choices.root_volume_gib)) + EKS_ASG_TAGS
        if tags > ASG_TAGS_MAX:
            yield Mismatch(
                (group.pool, "labels"),
                f"{tags} tags tell the autoscaler about the group, AWS allows {ASG_TAGS_MAX}; drop labels",
            )


def _group_problems(group: NodeGroup, choices: EksConfig) -> Iterator[str]:
    yield from foreign_types(group, Provider.AWS, "m6i.2xlarge")
    yield from other_gpu_resource(group, "EKS")
    if group.size.max > NODES_MAX:
        yield f"size.max: EKS allows {NODES_MAX} nodes in a group, given {group.size.max}"
    if group.lifecycle is Lifecycle.SPOT and len(group.instances) < SPOT_TYPES_MIN:
        given = f"{len(group.instances)} of {group.instances[0].shape_name}"
        yield f"HN-07: a spot pool needs {SPOT_TYPES_MIN} or more types of each shape, given {given}"
    if group.role is PoolRole.DATA:
        yield from data_problems(group, len(choices.zones), "i4i.2xlarge")
