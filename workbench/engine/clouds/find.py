"""Finds the cloud of a stack."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from components.contract.aks.config import AksConfig
from components.contract.eks.config import EksConfig
from infra.config import StackConfig
from workbench.engine.clouds.aks.cloud import Aks
from workbench.engine.clouds.aks.cluster_components import components as aks_components
from workbench.engine.clouds.cloud import Cloud, CloudStack
from workbench.engine.clouds.cluster_component import ClusterComponent
from workbench.engine.clouds.eks.cloud import Eks
from workbench.engine.clouds.eks.cluster_components import components as eks_components


@dataclass(frozen=True)
class NoCloud(Cloud):
    """A stack on a local or existing cluster, without a cloud API to query."""

    place = "the cluster"
    service = "the cluster's owner"
    page = "docs/existing.md"
    new_session = "renew the credentials of its context in the kubeconfig"
    ways_in = "its context in the kubeconfig, and the network between (VPN, proxy, firewall)"
    no_way_back = ""


Components: TypeAlias = Callable[[str, str, Mapping[str, Any], Mapping[str, Any]], Iterator[ClusterComponent]]
"""Finds the cluster components in a resource: its URN, type, inputs and outputs."""


@dataclass(frozen=True, kw_only=True)
class KnownCloud:
    """The workbench's code for one cloud."""

    cloud: type[CloudStack]
    components: Components
    folder: str
    """Name of the cloud's folder in the other layers of the workbench, whose modules are imported on use."""


CLOUDS: Final[Mapping[type[Any], KnownCloud]] = {
    EksConfig: KnownCloud(cloud=Eks, components=eks_components, folder="aws"),
    AksConfig: KnownCloud(cloud=Aks, components=aks_components, folder="azure"),
}
"""Clouds by type of the stack file's cluster section."""


def cloud_of(stack: str, config: StackConfig) -> Cloud:
    """Return the cloud of a stack.

    Parameters
    ----------
    stack
        Its name.
    config
        Its stack file.
    """
    known = CLOUDS.get(type(config.cluster))
    return known.cloud(stack, config, config.cluster) if known else NoCloud()
