"""Node groups of the local cluster: simulated nodes, and templates from which the autoscaler creates more."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Final

from typing_extensions import override

from components.contract import autoscaler
from components.contract.environments import ClusterKind
from components.contract.labels import AnnotationKey, LabelKey, WellKnownLabel
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint
from policies.resource import Resource
from policies.values import NotJudgeableError, Value
from policies.views.node_groups.facts import LIFECYCLES, NodeGroupFacts, taint_object
from policies.views.yaml_text import parsed

NODE: Final = "kubernetes:core/v1:Node"


class SimulatedGroup(NodeGroupFacts):
    """The group of a simulated node or of a node template. Its annotations contain what a cloud's API would report."""

    kind: ClassVar = ClusterKind.LOCAL
    makes_machines: ClassVar = False
    is_simulated: ClassVar = True

    @property
    @override
    def lifecycle(self) -> Lifecycle | None:
        return self._annotation(AnnotationKey.CAPACITY_TYPE).choice(LIFECYCLES)

    @property
    @override
    def size_min(self) -> int | None:
        return self._annotation(AnnotationKey.SIZE_MIN).integer()

    @property
    @override
    def size_max(self) -> int | None:
        return self._annotation(AnnotationKey.SIZE_MAX).integer()

    @property
    @override
    def nodes_max(self) -> int | None:
        return 1 if self.resource.type == NODE else self.size_max

    @property
    @override
    def nodes(self) -> int | None:
        # Only the cluster knows how many nodes the autoscaler made from a template.
        return 1 if self.resource.type == NODE else None

    @property
    @override
    def instance_types(self) -> tuple[str, ...]:
        name = self._labels().at(WellKnownLabel.INSTANCE_TYPE.value).text()
        return (name,) if name else ()

    @property
    @override
    def gpu_resources(self) -> tuple[str, ...]:
        # Only devices have a domain in front: nvidia.com/gpu, but cpu, memory, pods.
        offered = tuple(resource for resource in self._capacity() if "/" in resource)
        return offered or super().gpu_resources

    @property
    @override
    def waits_for_whole_gpus(self) -> bool:
        return self.label(LabelKey.GPU_MODEL) is not None

    def _capacity(self) -> dict[str, Any]:
        stated = self._annotation(AnnotationKey.CAPACITY)
        try:
            capacity = json.loads(stated.text() or "{}")
        except ValueError:
            raise NotJudgeableError(stated.path, "is not JSON") from None
        return capacity if isinstance(capacity, dict) else {}

    def _annotation(self, key: AnnotationKey) -> Value:
        return self._props.at("metadata", "annotations", key.value)

    @property
    @override
    def resets_size(self) -> bool:
        # The autoscaler reads the annotation only when it starts.
        return False

    @override
    def _desired(self) -> Value:
        return self._annotation(AnnotationKey.SIZE_DESIRED)

    @override
    def _labels(self) -> Value:
        return self._props.at("metadata", "labels")

    @override
    def _taints(self) -> list[Callable[[], Taint | None]]:
        return [partial(taint_object, entry) for entry in self._props.at("spec", "taints").elements()]


def simulated_node(resource: Resource) -> Iterator[SimulatedGroup]:
    """Return the group of a node that kwok simulates; real nodes are ignored."""
    metadata = resource.props.at("metadata")
    if metadata.is_absent:
        # In a stack rule: the provider could not be configured yet and showed nothing.
        raise NotJudgeableError(metadata.path, "is not shown")
    if metadata.at("annotations", AnnotationKey.SIMULATED.value).text() == "fake":
        yield SimulatedGroup(resource, resource.props)


def node_templates(resource: Resource) -> Iterator[SimulatedGroup]:
    """Return the groups of the autoscaler's templates; nothing for any other ConfigMap."""
    if _holds_templates(resource):
        templates = resource.props.at("data", "templates")
        for template in parsed(templates).at("items").elements():
            yield SimulatedGroup(resource, template)


def _holds_templates(resource: Resource) -> bool:
    metadata = resource.props.at("metadata")
    # The autoscaler finds its ConfigMap by a fixed name. A ConfigMap with an unknown name
    # belongs to others, unless it is this package's resource.
    if metadata.is_unknown or any(metadata.at(key).is_unknown for key in ("name", "namespace")):
        return resource.name == autoscaler.TEMPLATES
    return (metadata.at("name").text(), metadata.at("namespace").text()) == (autoscaler.TEMPLATES, autoscaler.NAMESPACE)
