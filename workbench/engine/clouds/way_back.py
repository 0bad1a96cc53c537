"""Rollbacks: what a cloud reports about undoing the last upgrade of a control plane."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.engine.clouds.cluster_component import ClusterComponent, Group, Rank, minor


@dataclass(frozen=True)
class WayBack:
    """A possible rollback of a control plane.

    Parameters
    ----------
    version
        Minor version to which it can be rolled back now. Default: none.
    errors
        Why the cloud would refuse it, in the cloud's words.
    warnings
        The cloud's warnings about it, in the cloud's words.
    """

    version: str = ""
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def is_newer(component: ClusterComponent, version: str) -> bool:
    """Return whether a component runs a newer minor than ``version``; False if either is unknown."""
    return 0 < minor(version) < minor(component.version)


def goes_back(components: Iterable[ClusterComponent], version: str, node_version: str) -> bool:
    """Return whether a stack file requests an older control plane or older nodes than the live ones.

    Parameters
    ----------
    components
        The live components.
    version, node_version
        Minor versions in the stack file; empty if it names none.
    """
    return any(
        is_newer(each, version if each.rank is Rank.CLUSTER else node_version)
        for each in components
        if each.rank is Rank.CLUSTER or (isinstance(each, Group) and not each.keeps_version)
    )
