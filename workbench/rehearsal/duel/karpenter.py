"""The node groups of a stack as Karpenter has them: one NodePool for each pool with a group that may grow.

Karpenter's terms are those of kubernetes-sigs/karpenter v1.13.0, ``pkg/apis/v1``. The minimum of each group, and groups
of fixed size, are nodes that Karpenter does not own: it places pods there and never removes them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from components.contract.aks.nodes import POOL_LABELS
from components.contract.eks.nodes import CAPACITY_TYPE, NODE_GROUP
from components.contract.gpus import DEFAULT_GPU_RESOURCE
from components.contract.groups import NodeGroup
from components.contract.labels import LabelKey, WellKnownLabel
from components.contract.local.nodes import SimulatedGroup, node_taints, static_nodes
from infra.config import StackConfig
from workbench.rehearsal.cluster.nodes import simulated_group
from workbench.rehearsal.cluster.scaling import Scaling
from workbench.rehearsal.duel.fit import machine_annotations
from workbench.rehearsal.prices import Prices
from workbench.rehearsal.settings import Pace, Scaler

ZONE: Final = "zone-a"
"""Zone of all nodes of a stack that names none: Karpenter's offers of machines are in a zone."""

_CPU_USD: Final = 0.05
_MEMORY_USD: Final = 0.005
"""Dollars an hour of a vCPU and of a GiB where a machine has no known price: assumed, only to compare machines."""

_WEIGHT_MAX: Final = 100
"""Largest weight of a NodePool (``NodePoolSpec.Weight``)."""

_OF_GROUPS: Final = frozenset({CAPACITY_TYPE, NODE_GROUP, *POOL_LABELS})
"""Labels that clouds set on nodes of node groups; Karpenter's nodes do not have them."""

_DISRUPTION: Final[Mapping[Scaler, Mapping[str, Any]]] = {
    Scaler.KARPENTER: {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"},
    Scaler.KARPENTER_EMPTY: {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "10m"},
}
"""The first are the defaults (``pkg/apis/v1/nodepool.go``), the second come closest to Cluster Autoscaler."""

_BUDGETS: Final = ({"nodes": "10%"},)
"""Nodes that may be removed at the same time: the default."""

_CLASS: Final = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "rehearsal"}


def karpenter(scaler: Scaler, prices: Callable[[StackConfig], Prices]) -> Callable[[StackConfig, Pace], Scaling]:
    """Return a function that configures Karpenter to scale a stack's cluster.

    Parameters
    ----------
    scaler
        Which of Karpenter's settings to use.
    prices
        Returns the prices of a stack: Karpenter prefers cheap machines.
    """

    def scaling(config: StackConfig, pace: Pace) -> Scaling:
        translation = _Translation(config, pace, prices(config))
        return Scaling(
            scaler=scaler,
            flags={"speed": f"{pace.speed:g}"},
            machines=tuple(translation.machines()),
            nodes=tuple(translation.nodes()),
            objects=({"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
                      "metadata": {"name": _CLASS["name"]}}, *translation.pools(scaler)),
            assumptions=tuple(translation.assumptions(scaler)),
        )  # fmt: skip

    return scaling


class _Translation:
    """Translates the groups of one stack."""

    def __init__(self, config: StackConfig, pace: Pace, prices: Prices) -> None:
        starts_in = pace.real_text(pace.node_start) if pace.node_start else ""
        self._groups = [_in_a_zone(simulated_group(config, group, starts_in)) for group in config.groups]
        self._elastic = [each for each in self._groups if each.group.is_elastic]
        self._has_zones = all(each.zones != (ZONE,) for each in self._groups)
        self._prices = prices

    def nodes(self) -> Iterator[dict[str, Any]]:
        """Yield the nodes that Karpenter does not own: the minimum of every group."""
        for each in self._groups:
            yield from static_nodes(each)

    def machines(self) -> Iterator[dict[str, Any]]:
        """Yield the machine types, with their offers of all zones and lifecycles that groups have."""
        by_type: dict[str, list[SimulatedGroup]] = {}
        for each in self._elastic:
            by_type.setdefault(_machine(each), []).append(each)
        for name, groups in by_type.items():
            first = groups[0]
            offers = {(each.group.lifecycle.value, zone): self._price(each) for each in groups for zone in each.zones}
            yield {
                "name": name,
                "architecture": first.group.instances[0].architecture,
                "operatingSystems": ["linux"],
                # Without the last one, a batch of pods exceeds the limit of nodes: kubernetes-sigs/karpenter#2915.
                "resources": {**first.allocatable, "nodes": "1"},
                "offerings": [
                    {
                        "Price": price,
                        "Requirements": [
                            _one_of("karpenter.sh/capacity-type", lifecycle),
                            _one_of(WellKnownLabel.ZONE.value, zone),
                        ],
                    }
                    for (lifecycle, zone), price in offers.items()
                ],
                "annotations": machine_annotations(first),
                "groups": {
                    f"{each.group.pool}/{zone}": each.group.name for each in groups for zone in each.zones
                },
            }  # fmt: skip

    def pools(self, scaler: Scaler) -> Iterator[dict[str, Any]]:
        """Yield the NodePools, in the order of the stack file."""
        by_pool: dict[str, list[SimulatedGroup]] = {}
        for each in self._elastic:
            by_pool.setdefault(each.group.pool, []).append(each)
        # Karpenter tries pools by weight, and among equal ones by name: it never compares their prices.
        cheapest_first = sorted(by_pool, key=lambda pool: min(map(self._price_of_a_cpu, by_pool[pool])))
        for pool, groups in by_pool.items():
            more = sum(each.group.size.max - each.group.size.min for each in groups)
            yield {
                "apiVersion": "karpenter.sh/v1",
                "kind": "NodePool",
                "metadata": {"name": pool},
                "spec": {
                    "weight": max(_WEIGHT_MAX - cheapest_first.index(pool), 1),
                    "limits": {"nodes": str(more)},
                    "disruption": {**_DISRUPTION[scaler], "budgets": [*_BUDGETS]},
                    "template": {"metadata": {"labels": _labels(groups[0])}, "spec": _template(groups)},
                },
            }

    def assumptions(self, scaler: Scaler) -> Iterator[str]:
        """Yield what the translation assumes, as sentences."""
        settings = _DISRUPTION[scaler]
        yield (
            "Karpenter 1.13.0 has a NodePool for each pool that may grow, with "
            f"{settings['consolidationPolicy']} after {settings['consolidateAfter']}, a budget of 10 % and no expiry. "
            "The minimum of a pool, and pools of fixed size, are nodes that it does not own."
        )
        yield (
            "Karpenter starts only the machine types that the stack file lists, the first of each group, and the code "
            "of its providers for AWS and Azure does not run. On AKS node auto-provisioning decides differently."
        )
        if any(each.group.zone for each in self._elastic):
            yield "Karpenter keeps the maximum of a pool over all zones; Cluster Autoscaler that of each zone."
        unpriced = dict.fromkeys(_machine(each) for each in self._elastic if self._known_price(each) is None)
        if unpriced:
            yield (
                f"Karpenter compares {', '.join(unpriced)} by an assumed price of {_CPU_USD:g} USD for a vCPU and "
                f"{_MEMORY_USD:g} USD for a GiB an hour."
            )
        if not self._has_zones:
            yield f"The stack names no zones, so all nodes are in one, {ZONE}: Karpenter needs zones."
        lacking = sorted({key for each in self._elastic for key in each.labels if key in _OF_GROUPS})
        if lacking:
            yield f"Karpenter's nodes lack the labels of node groups: {', '.join(lacking)}."

    def _price(self, simulated: SimulatedGroup) -> float:
        if (known := self._known_price(simulated)) is not None:
            return known
        instance = simulated.group.instances[0]
        return instance.vcpus * _CPU_USD + instance.memory_mib / 1024 * _MEMORY_USD

    def _known_price(self, simulated: SimulatedGroup) -> float | None:
        return self._prices.price_of(_machine(simulated), simulated.group.lifecycle)

    def _price_of_a_cpu(self, simulated: SimulatedGroup) -> float:
        return self._price(simulated) / simulated.reserves.allocatable_cpu_millis(simulated.group.instances[0])


def _in_a_zone(simulated: SimulatedGroup) -> SimulatedGroup:
    return simulated if simulated.zones else replace(simulated, zones=(ZONE,))


def _machine(simulated: SimulatedGroup) -> str:
    """Return the type of a group's simulated nodes: its first."""
    return simulated.group.instances[0].name


def _labels(simulated: SimulatedGroup) -> dict[str, str]:
    group = simulated.group
    model = group.instances[0].gpu_label if DEFAULT_GPU_RESOURCE in group.devices else ""
    by_cloud = {key: value for key, value in simulated.labels.items() if key not in _OF_GROUPS}
    return {**group.labels, **by_cloud, **({LabelKey.GPU_MODEL.value: model} if model else {})}


def _template(groups: list[SimulatedGroup]) -> dict[str, Any]:
    group: NodeGroup = groups[0].group
    taints = node_taints(group)
    return {
        "expireAfter": "Never",  # else each node has expired: its clock is far from that of the API server
        "nodeClassRef": dict(_CLASS),
        "requirements": [
            _one_of(WellKnownLabel.INSTANCE_TYPE.value, *dict.fromkeys(map(_machine, groups))),
            _one_of("karpenter.sh/capacity-type", group.lifecycle.value),
            _one_of(WellKnownLabel.ZONE.value, *dict.fromkeys(zone for each in groups for zone in each.zones)),
        ],
        **({"taints": taints} if taints else {}),
    }


def _one_of(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}
