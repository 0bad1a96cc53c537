"""EKS-specific checks and steps for changes of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from components.contract.eks.config import EksConfig
from workbench.engine.clouds.cloud import CloudStack, ErrorCodes
from workbench.engine.clouds.cluster_component import ClusterComponent, Rank
from workbench.engine.clouds.eks.fixed_choices import FIXED


@dataclass(frozen=True)
class Eks(CloudStack):
    """A stack in AWS."""

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

    group_label = "eks.amazonaws.com/nodegroup"
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_general.html
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
    errors = ErrorCodes(
        expired="Expired ?Token|RequestExpired|InvalidClientTokenId|refresh cached (SSO|credentials) .*failed",
        in_use=r"\bDependencyViolation\b",
        name_taken=r"ResourceInUseException\b.*\balready in use\b",
    )

    fixed = FIXED

    choices: EksConfig

    @override
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        # Upgraded nodes need the upgraded add-ons, and no dependency orders some of those before the nodes.
        first = tuple(component for component in components if component.rank is not Rank.GROUP)
        return (first,) if is_upgrade else ()
