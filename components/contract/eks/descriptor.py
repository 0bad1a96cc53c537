"""What distinguishes EKS from the other kinds of clusters."""

from collections.abc import Iterator
from typing import Final

from components.contract.eks.checks import creation_problems, mismatches
from components.contract.eks.config import EksConfig
from components.contract.environments import ClusterKind, Environment
from components.contract.groups import NodeGroup, by_zone
from components.contract.kind import KindDescriptor, made_by_the_stack


def _split(choices: EksConfig, group: NodeGroup) -> Iterator[NodeGroup]:
    return by_zone(group, choices.zones)


EKS: Final = KindDescriptor(
    kind=ClusterKind.EKS,
    config=EksConfig,
    mismatches=mismatches,
    owner_problem=made_by_the_stack(ClusterKind.EKS),
    creation_problems=creation_problems,
    split=_split,
    zones=lambda choices: choices.zones,
    stack_files={Environment.DEV: "Pulumi.dev.yaml", Environment.PROD: "Pulumi.prod.yaml"},
    names={
        "EKS cluster": "1 to 63 lower-case letters, digits or `-`, starting with a letter",
        "access entry": "1 to 63 lower-case letters, digits or `-`",
    },
    in_production=(
        "no `publicAccessCidrs`: the API is private (HE-01)",
        "`apiClientCidrs`, to create a cluster: nothing else reaches a private API",
    ),
)
