"""EKS-specific checks and steps for changes of a cluster."""

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
        Name of the stack, the prefix of the program's logical names.
    config, choices
        The stack file, and its cluster section.
    """

    place = "AWS"
    service = "EKS"
    page = "docs/eks.md"
    new_session = "`aws sso login`, or assume the deployer's role again"
    ways_in = "a VPN, publicAccessCidrs, the break-glass role (docs/eks.md), and `aws` on PATH for the token"
    no_way_back = (
        "If EKS upgraded it automatically, the old version is out of support. An upgrade within the last seven days "
        "can be rolled back by hand, nodes first: "
        "https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html."
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
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        # Upgraded nodes need the upgraded add-ons, and no dependency orders some of those before the nodes.
        first = tuple(component for component in components if component.rank is not Rank.GROUP)
        return (first,) if is_upgrade else ()
