"""Pools of an existing cluster, as the stack describes them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from typing_extensions import override

from components.contract.environments import ClusterKind
from components.contract.instances import InstanceType, Provider
from components.contract.labels import TRUE, AnnotationKey
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint
from policies.resource import Resource
from policies.values import Value
from policies.views.node_groups.facts import LIFECYCLES, NodeGroupFacts, taint_object

EXISTING_POOL: Final = "igz-clusters:clusters:ExistingPool"
"""The component with the facts; the only resources of the nodes are their labels."""


class ExistingGroup(NodeGroupFacts):
    """One pool. Its nodes were counted and their taints read before the program ran."""

    kind: ClassVar = ClusterKind.EXISTING
    makes_machines: ClassVar = False
    is_scaled_elsewhere: ClassVar = True

    @property
    @override
    def lifecycle(self) -> Lifecycle | None:
        return self._props.at("lifecycle").choice(LIFECYCLES)

    @property
    @override
    def size_min(self) -> int | None:
        return self._props.at("size", "min").integer()

    @property
    @override
    def size_max(self) -> int | None:
        return self._props.at("size", "max").integer()

    @property
    @override
    def instance_types(self) -> tuple[str, ...]:
        return tuple(instance.name for instance in self.instances)

    @property
    @override
    def instances(self) -> tuple[InstanceType, ...]:
        return tuple(_instance(machine) for machine in self._props.at("machines").elements())

    @property
    @override
    def gpu_resources(self) -> tuple[str, ...]:
        offered = self._props.at("gpuResource").text()
        return (offered,) if offered else super().gpu_resources

    @property
    @override
    def resets_size(self) -> bool:
        # No input of the component sets a size.
        return False

    @property
    @override
    def may_be_scaled_in(self) -> bool:
        return self._props.at("annotations", AnnotationKey.SCALE_DOWN_DISABLED.value).text() != TRUE

    @override
    def _desired(self) -> Value:
        return self._props.at("size", "min")

    @override
    def _labels(self) -> Value:
        return self._props.at("labels")

    @override
    def _taints(self) -> list[Callable[[], Taint | None]]:
        return [partial(taint_object, entry) for entry in self._props.at("taints").elements()]


def _instance(machine: Value) -> InstanceType:
    return InstanceType(
        machine.at("name").text() or "",
        Provider.OWN,
        machine.at("vcpus").integer() or 0,
        machine.at("memoryMib").integer() or 0,
        machine.at("architecture").text() or "",
        machine.at("gpus").integer() or 0,
        machine.at("gpuModel").text() or "",
        machine.at("localNvmeGib").integer() or 0,
    )


def existing_pool(resource: Resource) -> Iterator[ExistingGroup]:
    """Return the group that the component describes."""
    yield ExistingGroup(resource, resource.props)
