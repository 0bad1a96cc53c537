"""What distinguishes the pretended cloud from the other kinds of clusters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.contract.checks import foreign_types
from components.contract.constraint_violation import Mismatch
from components.contract.environments import ClusterKind, Environment, Provider
from components.contract.groups import NodeGroup, by_zone
from components.contract.kind import KindDescriptor, made_by_the_stack
from components.contract.pools import NodePool
from components.contract.pretend.config import PretendConfig
from components.contract.taints import Taint


def _mismatches(
    _: PretendConfig, pools: Mapping[str, NodePool], __: Sequence[NodeGroup], ___: Environment | None
) -> Iterator[Mismatch]:
    for name, pool in pools.items():
        for message in foreign_types(pool, Provider.PRETEND, "Pretend", "p8"):
            yield Mismatch((name,), message)


def _split(choices: PretendConfig, group: NodeGroup) -> Iterator[NodeGroup]:
    return by_zone(group, choices.zones)


PRETEND: Final = KindDescriptor(
    kind=ClusterKind.PRETEND,
    config=PretendConfig,
    mismatches=_mismatches,
    owner_problem=made_by_the_stack(ClusterKind.PRETEND),
    split=_split,
    spot_taint=Taint("pretend.example.com/spot", "true"),
    names={"pretended cluster": "any"},
    in_production=("a pretended guarantee",),
)
