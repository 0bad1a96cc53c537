"""Which cloud a stack is in."""

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
    """A stack whose cluster is no cloud's service, so that none can be asked about it."""

    place = "the cluster"
    service = "nobody"
    page = "docs/existing.md"
    new_session = "however your cluster wants it"
    ways_in = "its context in the kubeconfig, and whatever lies between"
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
    def ahead(self, parts: Sequence[ClusterComponent], *, is_upgrade: bool) -> tuple[tuple[ClusterComponent, ...], ...]:
        return ()


def cloud_of(stack: str, config: StackConfig) -> Cloud:
    """Return the cloud of a stack.

    Parameters
    ----------
    stack
        Its name.
    config
        What its file says.
    """
    match config.cluster:
        case EksConfig():
            return Eks(stack, config, config.cluster)
        case AksConfig():
            return Aks(stack, config, config.cluster)
        case _:
            return NoCloud()
