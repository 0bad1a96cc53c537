"""EKS-specific checks and steps for changes of a cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from typing_extensions import override

from components.contract.eks.config import EksConfig
from components.contract.eks.network import CreatedNetwork
from workbench.engine.clouds.cloud import NO_WAY_YET, CloudStack, ErrorCodes
from workbench.engine.clouds.cluster_component import ClusterComponent, Group, Rank
from workbench.engine.clouds.eks.fixed_choices import FIXED


@dataclass(frozen=True)
class Eks(CloudStack):
    """A stack in AWS."""

    place = "AWS"
    service = "EKS"
    page = "docs/eks.md"
    new_session = "`aws sso login`, or assume the deployer's role again"
    ways_in = (
        "the network (VPN, peering, routes), apiClientCidrs, publicAccessCidrs, the break-glass role (docs/eks.md), "
        "and `aws` on PATH for the token"
    )
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
        # https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html
        zone_refused=r"\bUnsupportedAvailabilityZoneException\b",
    )

    fixed = FIXED

    choices: EksConfig

    @property
    @override
    def api_clients(self) -> str:
        inside = f"apiClientCidrs ({_listed(self.choices.api_client_cidrs)}) in its VPC"
        if self.choices.is_private:
            return f"The API is private: it answers {inside} and in networks connected to that."
        return f"The API answers publicAccessCidrs ({_listed(self.choices.public_access_cidrs)}), and {inside}."

    @override
    def creation_notes(self) -> Iterator[str]:
        if self.choices.is_private and isinstance(self.choices.network, CreatedNetwork):
            yield NO_WAY_YET.format(page=f"{self.page}#a-private-api")

    @override
    def waking(self, components: Sequence[ClusterComponent]) -> str:
        # The autoscaler runs on the initial group, so that comes first.
        pairs = [
            (each, declared.size)
            for each in components
            if isinstance(each, Group) and (declared := self.groups.get(each.program_name)) and declared.size.min
        ]
        pairs.sort(key=lambda pair: not pair[0].is_initial)
        return ", ".join(group.resize(size.min, size.max, size.min) for group, size in pairs)

    @override
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        # Upgraded nodes need the upgraded add-ons, and no dependency orders some of those before the nodes.
        first = tuple(component for component in components if component.rank is not Rank.GROUP)
        return (first,) if is_upgrade else ()


def _listed(cidrs: Sequence[str]) -> str:
    return ", ".join(cidrs) or "none"
