"""EKS-specific checks and steps for changes of a cluster."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from components.contract.aws import NODE_GROUP_NAME_MAX
from components.contract.eks.config import EksConfig
from components.contract.eks.network import CreatedNetwork
from components.contract.names import automatic
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import NO_WAY_YET, CloudStack, ErrorCodes
from workbench.engine.clouds.cluster_component import ClusterComponent, Group, NodeUpgrade, Rank, minor
from workbench.engine.clouds.eks.cluster_components import EksAddon
from workbench.engine.clouds.eks.file_systems import size_blockers
from workbench.engine.clouds.eks.fixed_choices import FIXED
from workbench.engine.clouds.way_back import WayBack, is_newer

KUBE_PROXY: Final = "kube-proxy"
"""The add-on whose minor version is one of Kubernetes."""

SOLVED_BY_RUNS: Final = re.compile(r"(?i)version skew|add-?on")
"""Insights about nodes and add-ons, which are rolled back before the control plane.

Their names: awsdocs/amazon-eks-user-guide, ``latest/ug/clusters/cluster-insights.adoc``. They may be a day old. EKS
refreshes them when a rollback is requested, and no run forces a rollback.
"""


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
        "If EKS upgraded it automatically, the old version is out of support. Otherwise EKS can roll an upgrade back "
        "for seven days, by one minor version that is in standard support (docs/node-upgrades.md#rollback)."
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

    @override
    def fixed_blockers(self, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
        yield from super().fixed_blockers(deployment)
        yield from size_blockers(self.stack, self.config.storage, deployment)

    @staticmethod
    @override
    def group_name(stack: str, group: str) -> str:
        return automatic(CloudStack.group_name(stack, group), NODE_GROUP_NAME_MAX)

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
    def back_blockers(self, components: Sequence[ClusterComponent], way_back: WayBack) -> Iterator[Blocker]:
        """Refuse rollbacks that EKS would refuse, and components that would stay newer than the control plane.

        https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html
        """
        cluster = next((each for each in components if each.rank is Rank.CLUSTER), None)
        if cluster is None:
            return
        if not is_newer(cluster, self.version):
            yield from self._nodes_back(components, way_back)
        elif way_back.version != self.version:
            yield from self.no_downgrade(cluster)
        else:
            yield from self._control_plane_back(components, way_back)

    def _nodes_back(self, components: Sequence[ClusterComponent], way_back: WayBack) -> Iterator[Blocker]:
        for group in self._newer(components) if way_back.version != self.node_version else ():
            yield Blocker(
                "cluster.nodeVersion",
                f"{self.node_version}, but the {group} runs {group.version}",
                "EKS brings nodes back to the version before the last upgrade only, while that can be undone",
                f"Set it to {group.version}. {self.no_way_back}",
            )

    def _control_plane_back(self, components: Sequence[ClusterComponent], way_back: WayBack) -> Iterator[Blocker]:
        yield from self._nodes_back(components, way_back)
        for error in way_back.errors:
            if SOLVED_BY_RUNS.search(error):
                continue
            yield Blocker(
                "cluster.version",
                f"{self.version}, for which the cluster is not ready: {error}",
                "EKS refuses the rollback until its insights report no error",
                f"Resolve it; `aws eks start-insights-refresh --cluster-name {self.choices.name}` refreshes them.",
            )
        for addon in components:
            if isinstance(addon, EksAddon) and addon.name == KUBE_PROXY:
                found = self.choices.addon_versions.get(KUBE_PROXY) or addon.release
                if minor(found.removeprefix("v")) > minor(self.version):
                    yield Blocker(
                        f"cluster.addonVersions.{KUBE_PROXY}",
                        f"{found} would be newer than the control plane, {self.version}",
                        "kube-proxy may be at most as new as the control plane",
                        f"Set it to one of {addon.releases(self.version)}.",
                    )
        for group in components:
            if isinstance(group, Group) and is_newer(group, self.version) and not self._is_the_programs(group):
                yield Blocker(
                    "cluster.version",
                    f"{self.version} would leave the {group} on {group.version}",
                    "nodes may be at most as new as the control plane",
                    _back_by_hand(group, self.version),
                )

    @override
    def plan_blockers(self, upgrades: Sequence[NodeUpgrade], created: Sequence[Group]) -> Iterator[Blocker]:
        """Refuse new groups, and other changes of nodes, while nodes stay on an older version.

        EKS creates groups of the control plane's version only (botocore's model of ``CreateNodegroupRequest``). In an
        update the provider omits a version that does not change (`internal/service/eks/node_group.go`), and EKS then
        uses the control plane's (botocore's model of ``UpdateNodegroupVersionRequest``).
        """
        if created and self.node_version != self.version:
            named = ", ".join(sorted(group.logical_name for group in created))
            yield Blocker(
                "cluster.nodeVersion",
                f"{self.node_version}, but the change creates the node group{'s' * (len(created) > 1)} {named}",
                f"EKS creates node groups of the control plane's version only, {self.version}",
                "Remove nodeVersion, or leave this change until the nodes follow.",
            )
        for upgrade in upgrades:
            if "version" not in upgrade.inputs and minor(upgrade.group.version) < minor(self.version):
                yield Blocker(
                    "cluster.nodeVersion",
                    f"{self.node_version}, but with its other {' and '.join(upgrade.inputs)} EKS would upgrade the "
                    f"{upgrade.group} to {self.version}",
                    "EKS applies the control plane's version with every other change of nodes",
                    "Undo the other change (nodeRelease, tags, rootVolumeGib, proxy, trustedCertificates, nodeMirrors) "
                    "until the nodes follow, or remove nodeVersion.",
                )

    def _newer(self, components: Sequence[ClusterComponent]) -> list[Group]:
        """Return the program's groups whose nodes are newer than the stack file's."""
        groups = [each for each in components if isinstance(each, Group) and self._is_the_programs(each)]
        return [group for group in groups if is_newer(group, self.node_version)]

    def _is_the_programs(self, group: Group) -> bool:
        return not group.keeps_version and group.program_name in self.groups

    @override
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool, is_rollback: bool = False
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        if is_rollback:  # nothing may be newer than the control plane
            addons = tuple(each for each in components if each.rank is Rank.ADDON)
            return tuple(filter(None, (tuple(self._newer(components)), addons)))
        # Upgraded nodes need the upgraded add-ons, and no dependency orders some of those before the nodes.
        first = tuple(component for component in components if component.rank is not Rank.GROUP)
        return (first,) if is_upgrade else ()


def _back_by_hand(group: Group, version: str) -> str:
    if group.keeps_version and not group.holds_data:
        return "EKS changes no nodes of a capacity block: remove its pool, and run `up` again."
    first = "Replicate the data of its nodes elsewhere" if group.holds_data else "`up` does not change it"
    return f"{first}; then {group.upgrade(version)}, and run `up` again."


def _listed(cidrs: Sequence[str]) -> str:
    return ", ".join(cidrs) or "none"
