"""What distinguishes AKS from the other kinds of clusters."""

from typing import Final

from components.contract.aks.agent_pools import agent_pools
from components.contract.aks.checks import environment_problems, mismatches
from components.contract.aks.config import AksConfig
from components.contract.environments import ClusterKind
from components.contract.kind import KindDescriptor, made_by_the_stack

AKS: Final = KindDescriptor(
    kind=ClusterKind.AKS,
    config=AksConfig,
    mismatches=mismatches,
    owner_problem=made_by_the_stack(ClusterKind.AKS),
    split=agent_pools,
    environment_problems=environment_problems,
)
