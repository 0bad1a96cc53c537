"""What adds nodes to a simulated cluster and removes them, configured for the stack's node groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.contract import autoscaler
from infra.config import StackConfig
from workbench.local.state import Flag
from workbench.rehearsal.cluster.autoscaler_flags import autoscaler_flags
from workbench.rehearsal.cluster.nodes import autoscaler_maps, static_nodes
from workbench.rehearsal.settings import Pace, Scaler


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """One way to scale a cluster.

    Parameters
    ----------
    scaler
        Its name.
    flags
        Flags of its program.
    machines
        Machine types of Karpenter; empty for the autoscaler.
    nodes
        Manifests of the nodes that it does not create.
    objects
        Manifests that it reads, applied after the nodes exist.
    assumptions
        Sentences for the report.
    """

    scaler: Scaler
    flags: Mapping[str, Flag]
    machines: tuple[dict[str, Any], ...] = ()
    nodes: tuple[dict[str, Any], ...]
    objects: tuple[dict[str, Any], ...]
    assumptions: tuple[str, ...] = ()


def autoscaling(config: StackConfig, pace: Pace) -> Scaling:
    """Return Cluster Autoscaler as the stack deploys it; it also creates the minimum of elastic groups."""
    flags = autoscaler_flags(config, pace)
    maps = (
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": autoscaler.NAMESPACE},
            "data": data,
        }
        for name, data in autoscaler_maps(config, pace).items()
    )
    return Scaling(
        scaler=Scaler.CLUSTER_AUTOSCALER,
        flags=flags.flags,
        nodes=tuple(static_nodes(config)),
        objects=tuple(maps),
        assumptions=flags.assumptions,
    )
