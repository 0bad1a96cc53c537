"""Descriptor of a cluster kind: what its stack files allow."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from components.contract.choices import ContractModel
from components.contract.constraint_violation import Mismatch
from components.contract.egress import AllowedEgress
from components.contract.environments import ClusterKind, Environment, ServerOwner
from components.contract.groups import NodeGroup
from components.contract.identity import CloudIdentity
from components.contract.ingress import WaysIn
from components.contract.kind_nodes import KindNodes
from components.contract.namespaces import UserNamespace
from components.contract.pools import NodePool
from components.contract.shared_storage import Storage, StorageType, Volumes
from components.contract.taints import Taint

ConfigT = TypeVar("ConfigT", bound=ContractModel)

MADE_BY_THE_STACK = "this stack creates the servers itself"

Check: TypeAlias = Callable[
    [ConfigT, Mapping[str, NodePool], Sequence[NodeGroup], Environment | None], Iterator[Mismatch]
]


def no_split(_: ContractModel, group: NodeGroup) -> Iterable[NodeGroup]:
    """Return the group unchanged, as the only one."""
    return (group,)


def no_zones(_: ContractModel) -> Sequence[str]:
    """Return nothing: the cluster knows no zones."""
    return ()


def no_demands(_: ContractModel, __: Environment) -> Iterator[Mismatch]:
    """Return nothing: the environment requires nothing of the cluster."""
    return iter(())


def ready_to_create(_: ContractModel) -> Iterator[Mismatch]:
    """Return nothing: the first `up` needs the same settings as later ones."""
    return iter(())


def no_egress(_: ContractModel) -> Sequence[AllowedEgress]:
    """Return nothing: no destination outside the cluster is known to be required."""
    return ()


def any_egress(_: ContractModel, __: UserNamespace, ___: Sequence[AllowedEgress]) -> Iterator[str]:
    """Return nothing: any egress of a namespace is possible."""
    return iter(())


def no_identities(_: ContractModel, identities: Mapping[str, CloudIdentity]) -> Iterator[Mismatch]:
    """Refuse cloud identities: this package creates none for this kind of cluster."""
    for namespace in identities:
        yield Mismatch(
            (namespace, "identity"),
            "needs a cluster that this stack creates in a cloud (cluster.kind eks or aks); remove it, and give the "
            "namespace's service accounts an identity with the cloud's own tools",
        )


def no_storage(_: ContractModel, storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Refuse every shared storage: the stack creates none on such a cluster."""
    for name in storage:
        yield Mismatch((name,), "a cluster of this kind has no shared storage; remove it")


def any_volume(_: ContractModel, __: Volumes) -> Iterator[Mismatch]:
    """Return nothing: any volume in a storage of the stack file is possible."""
    return iter(())


def no_ways_in(_: ContractModel) -> WaysIn | None:
    """Return nothing: the cluster's owner decides how clients reach services."""
    return None


def any_group(_: ContractModel, __: str) -> str | None:
    """Return nothing: a group can have any name."""
    return None


def made_by_the_stack(kind: ClusterKind, why: str = MADE_BY_THE_STACK) -> Callable[[ServerOwner], str | None]:
    """Return the check for a kind whose servers only the stack itself can create."""
    answer = f"{why}: with cluster.kind '{kind}' set servers: pulumi"
    return lambda owner: None if owner is ServerOwner.PULUMI else answer


@dataclass(frozen=True, kw_only=True)
class KindDescriptor(Generic[ConfigT]):
    """One kind of cluster: each defines one, in ``components/contract/KIND/descriptor.py``."""

    kind: ClusterKind
    config: type[ConfigT]
    """Model of the section ``cluster`` of a stack file."""
    mismatches: Check[ConfigT]
    """Finds what the cluster, or this package on it, would reject in the pools later; paths begin at the pools.

    Its arguments are the cluster, the pools by name, the groups that they become, and the environment. This is None if
    the stack file names none or an unknown one; checks that depend on it are then left out.
    """
    owner_problem: Callable[[ServerOwner], str | None]
    """Returns why a server owner is impossible for this kind; None if it is possible."""
    split: Callable[[ConfigT, NodeGroup], Iterable[NodeGroup]] = no_split
    """Divides a group of one shape into the groups that the cluster creates; default: leaves it whole."""
    zones: Callable[[ConfigT], Sequence[str]] = no_zones
    """Returns the zones that a group spans if it is not zonal; default: none."""
    nodes: KindNodes[ConfigT] = field(default_factory=KindNodes)
    """Properties of nodes that the kind decides; default: those of unknown nodes."""
    environment_problems: Callable[[ConfigT, Environment], Iterator[Mismatch]] = no_demands
    """Finds what an environment requires of the cluster itself; paths begin at the cluster."""
    creation_problems: Callable[[ConfigT], Iterator[Mismatch]] = ready_to_create
    """Finds what would make the first `up` of a new cluster fail; paths begin at the cluster.

    This is not checked for a cluster that was created already: its owner may have solved the problem elsewhere.
    """
    egress: Callable[[ConfigT], Sequence[AllowedEgress]] = no_egress
    """Returns what pods of user namespaces reach on every cluster of this kind: API server and credentials."""
    egress_problems: Callable[[ConfigT, UserNamespace, Sequence[AllowedEgress]], Iterator[str]] = any_egress
    """Finds egress of a namespace that the cluster does not enforce as written.

    Its last argument is what pods of every user namespace may reach.
    """
    egress_note: str = ""
    """What egress of a namespace does not prevent on this kind of cluster; empty if nothing is known."""
    identity_problems: Callable[[ConfigT, Mapping[str, CloudIdentity]], Iterator[Mismatch]] = no_identities
    """Finds what the cloud would refuse in namespaces' identities, by namespace; paths begin at the namespaces."""
    ways_in: Callable[[ConfigT], WaysIn | None] = no_ways_in
    """Returns how clients outside reach services, if the stack file defines it; default: None."""
    storage_problems: Callable[[ConfigT, Mapping[str, Storage]], Iterator[Mismatch]] = no_storage
    """Finds shared storage that the cluster cannot have; paths begin at the stack file's ``storage``."""
    volume_problems: Callable[[ConfigT, Volumes], Iterator[Mismatch]] = any_volume
    """Finds volumes that are impossible in shared storage; paths begin at the stack file's ``namespaces``."""
    provisioned: frozenset[StorageType] = frozenset()
    """Types of shared storage whose class creates a volume for each claim; others need declared volumes."""
    group_problem: Callable[[ConfigT, str], str | None] = any_group
    """Returns why a group cannot have a name on this kind of cluster; None if it can."""
    group_note: Callable[[ConfigT, str], str | None] = any_group
    """Returns why a group of this name may have no members; None if it may have some."""
    spot_taint: Taint | None = None
    """Taint that the cloud itself adds to spot nodes; None if it adds none."""
    stack_files: Mapping[Environment, str] = field(default_factory=dict)
    """Shipped stack files outside the usual place, ``examples/KIND-ENVIRONMENT``."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Limits of this kind's names for the reference page, by the kind of name."""
    in_production: tuple[str, ...] = ()
    """Requirements of this kind's production clusters for the reference page."""

    def stack_file(self, environment: Environment) -> str:
        """Return the path of the shipped stack file of a whole cluster, from the root of the checkout."""
        usual = f"{self.kind}-{environment}"
        return self.stack_files.get(environment, f"examples/{usual}/Pulumi.{usual}.yaml")
