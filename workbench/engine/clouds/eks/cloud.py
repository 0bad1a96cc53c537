"""What EKS has to say about changes of its clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from components.contract.eks.config import EksConfig
from components.contract.groups import NodeGroup
from infra.config import StackConfig
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Rank


@dataclass(frozen=True)
class Eks(Cloud):
    """A stack in AWS.

    Parameters
    ----------
    stack
        Name of the stack, with which the program's own names begin.
    config, choices
        What its file says, and what of that is about the cluster.
    """

    place = "AWS"
    service = "EKS"
    page = "docs/eks.md"
    new_session = "`aws sso login`, or assume the deployer's role again"
    ways_in = "a VPN, publicAccessCidrs, the break-glass role (docs/eks.md), and `aws` on PATH for the token"
    no_way_back = (
        "If EKS raised it by itself, support of the old version ended. An upgrade of the last seven days can be undone "
        "by hand, nodes first: https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html."
    )

    stack: str
    config: StackConfig
    choices: EksConfig

    @property
    @override
    def version(self) -> str:
        return self.choices.version

    @property
    @override
    def groups(self) -> Mapping[str, NodeGroup]:
        return {f"{self.stack}-{group.name}": group for group in self.config.groups}

    @override
    def ahead(self, parts: Sequence[ClusterComponent], *, is_upgrade: bool) -> tuple[tuple[ClusterComponent, ...], ...]:
        # Nodes of a new version want its add-ons, and some of those hang on nothing that would make them first.
        first = tuple(part for part in parts if part.rank is not Rank.GROUP)
        return (first,) if is_upgrade else ()
