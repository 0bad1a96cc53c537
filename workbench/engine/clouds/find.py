"""Finds the cloud of a stack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from components.contract.aks.config import AksConfig
from components.contract.eks.config import EksConfig
from components.contract.groups import NodeGroup
from infra.config import StackConfig
from workbench.engine.clouds.aks.cloud import Aks
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent
from workbench.engine.clouds.eks.cloud import Eks


@dataclass(frozen=True)
class NoCloud(Cloud):
    """A stack on a local or existing cluster, without a cloud API to query."""

    place = "the cluster"
    service = "the cluster's owner"
    page = "docs/existing.md"
    new_session = "renew the credentials of its context in the kubeconfig"
    ways_in = "its context in the kubeconfig, and the network between (VPN, proxy, firewall)"
    no_way_back = ""

    @property
    @override
    def version(self) -> str:
        return ""

    @property
    @override
    def groups(self) -> Mapping[str, NodeGroup]:
        return {}

    @override
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        return ()


def cloud_of(stack: str, config: StackConfig) -> Cloud:
    """Return the cloud of a stack.

    Parameters
    ----------
    stack
        Its name.
    config
        Its stack file.
    """
    match config.cluster:
        case EksConfig():
            return Eks(stack, config, config.cluster)
        case AksConfig():
            return Aks(stack, config, config.cluster)
        case _:
            return NoCloud()
