"""What distinguishes EKS from the other kinds of clusters."""

from collections.abc import Iterator
from typing import Final

from components.contract.eks.checks import mismatches
from components.contract.eks.config import EksConfig
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup, by_zone
from components.contract.kind import KindDescriptor, made_by_the_stack


def _split(choices: EksConfig, group: NodeGroup) -> Iterator[NodeGroup]:
    return by_zone(group, choices.zones)


EKS: Final = KindDescriptor(
    kind=ClusterKind.EKS,
    config=EksConfig,
    mismatches=mismatches,
    owner_problem=made_by_the_stack(ClusterKind.EKS),
    split=_split,
)
