"""Managed node groups of EKS."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from typing_extensions import override

from components.contract.environments import ClusterKind
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint, TaintEffect
from policies.resource import Resource
from policies.values import NotJudgeableError, Value
from policies.views.node_groups.facts import NodeGroupFacts, taint_object

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"

_LIFECYCLES: Final = {"ON_DEMAND": Lifecycle.ON_DEMAND, "SPOT": Lifecycle.SPOT}
_EFFECTS: Final = {effect.eks: effect for effect in TaintEffect}


class EksNodeGroup(NodeGroupFacts):
    """One managed node group."""

    kind: ClassVar = ClusterKind.EKS
    rolling_inputs: ClassVar = ("version", "releaseVersion", "launchTemplate")

    @property
    @override
    def lifecycle(self) -> Lifecycle:
        return self._props.at("capacityType").choice(_LIFECYCLES) or Lifecycle.ON_DEMAND

    @property
    @override
    def size_min(self) -> int | None:
        return self._props.at("scalingConfig", "minSize").integer()

    @property
    @override
    def size_max(self) -> int | None:
        return self._props.at("scalingConfig", "maxSize").integer()

    @property
    @override
    def instance_types(self) -> tuple[str, ...]:
        types = self._props.at("instanceTypes")
        if types.is_absent and not self._props.at("launchTemplate").is_absent:
            raise NotJudgeableError(types.path, "is left to the launch template")
        return tuple(element.text() or "" for element in types.elements())

    @property
    @override
    def repairs_nodes(self) -> bool:
        return self._props.at("nodeRepairConfig", "enabled").flag() or False

    @override
    def _desired(self) -> Value:
        return self._props.at("scalingConfig", "desiredSize")

    @override
    def _labels(self) -> Value:
        return self._props.at("labels")

    @override
    def _taints(self) -> list[Callable[[], Taint | None]]:
        return [partial(taint_object, entry, _EFFECTS) for entry in self._props.at("taints").elements()]


def managed_node_group(resource: Resource) -> Iterator[EksNodeGroup]:
    """Return the one group that the resource is."""
    yield EksNodeGroup(resource, resource.props)
