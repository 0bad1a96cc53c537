"""The kinds of clusters, and the node groups that each creates for the pools of a stack file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from components.contract.aks.config import AksConfig
from components.contract.aks.descriptor import AKS
from components.contract.allocatable import Reserves
from components.contract.choices import ContractModel
from components.contract.constraint_violation import Mismatch
from components.contract.egress import V3IO, AllowedEgress
from components.contract.eks.config import EksConfig
from components.contract.eks.descriptor import EKS
from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.existing.config import ExistingConfig
from components.contract.existing.descriptor import EXISTING
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.kind import KindDescriptor
from components.contract.local.config import LocalConfig
from components.contract.local.descriptor import LOCAL
from components.contract.namespaces import UserNamespace
from components.contract.pools import NodePool
from components.contract.taints import OWN_SPOT_TAINT, Taint

ClusterChoices: TypeAlias = LocalConfig | EksConfig | AksConfig | ExistingConfig
"""The section ``cluster`` of a stack file; ``kind`` distinguishes its variants."""

DESCRIPTORS: Final[tuple[KindDescriptor[Any], ...]] = (LOCAL, EKS, AKS, EXISTING)

SPOT_TAINTS: Final = (OWN_SPOT_TAINT, *(each.spot_taint for each in DESCRIPTORS if each.spot_taint))
"""Every taint that marks a node as a spot node."""

_BY_CONFIG: Final = {descriptor.config: descriptor for descriptor in DESCRIPTORS}


def descriptor_of(choices: ContractModel) -> KindDescriptor[Any]:
    """Return the descriptor of a cluster's kind."""
    return _BY_CONFIG[type(choices)]


def spot_taint(kind: ClusterKind, profile: PlatformProfile) -> Taint | None:
    """Return the taint of every spot node of a cluster; None if spot nodes must not have one.

    V3IO's daemons tolerate AKS's taint but not ours, so ``iguazio`` clusters outside AKS have none.
    """
    ours = None if profile is PlatformProfile.IGUAZIO else OWN_SPOT_TAINT
    return next((each.spot_taint for each in DESCRIPTORS if each.kind is kind), None) or ours


def reserves(kind: ClusterKind) -> Reserves:
    """Return what nodes of a kind of cluster reserve for their own daemons."""
    return next(each.nodes.reserves for each in DESCRIPTORS if each.kind is kind)


def cluster_egress(
    choices: ContractModel, profile: PlatformProfile, seen: Sequence[AllowedEgress] = ()
) -> tuple[AllowedEgress, ...]:
    """Return what pods of every user namespace may reach; ``seen`` is what only the running cluster shows."""
    return (*descriptor_of(choices).egress(choices), *seen, *([V3IO] if profile is PlatformProfile.IGUAZIO else []))


def egress_mismatches(
    choices: ContractModel, namespaces: Mapping[str, UserNamespace], profile: PlatformProfile
) -> Iterator[Mismatch]:
    """Find egress of namespaces that the cluster does not enforce as written; paths begin at the namespaces."""
    derived = cluster_egress(choices, profile)
    for name, namespace in namespaces.items():
        for problem in descriptor_of(choices).egress_problems(choices, namespace, derived):
            yield Mismatch((name, "egress"), problem)


def cluster_groups(
    choices: ContractModel, pools: Mapping[str, NodePool], profile: PlatformProfile
) -> tuple[NodeGroup, ...]:
    """Return exactly the groups that a cluster has, in the stack file's order.

    Everything that needs groups reads ``StackConfig.groups``, which calls this, so that all see the same groups.
    """
    descriptor = descriptor_of(choices)
    return resolve_groups(pools, spot_taint(descriptor.kind, profile), lambda group: descriptor.split(choices, group))
