"""Pods as rules see them, regardless of what creates them: pods themselves, controllers, and resources of operators."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from typing_extensions import override

from components.contract.headroom import HEADROOM
from components.contract.labels import TRUE, LabelKey
from components.contract.namespaces import SYSTEM_NAMESPACES
from policies.resource import Finders, Resource, find_in
from policies.rule import Context, EachOf
from policies.values import Value
from policies.views.objects import namespace_of
from policies.views.operators import PodTemplate, mpi_replicas, nuclio_function, ray_pods, replicas
from policies.views.spark import spark_pods
from policies.views.type_tokens import NUCLIO_FUNCTION


class PodFacts:
    """One pod, or the template from which a controller creates pods. Facts are read on demand."""

    def __init__(
        self,
        resource: Resource,
        metadata: Value,
        spec: Value,
        *,
        is_retold: bool = False,
        selecting: Mapping[str, str] | None = None,
    ) -> None:
        self._resource = resource
        self.is_retold = is_retold
        """Whether an operator defines the pods in its own terms; rules cannot require what these cannot express."""
        self.metadata = metadata
        """Labels and annotations of the pods."""
        self._selecting = selecting or {}
        self.spec = spec
        """The pods' ``spec``, in the terms of Kubernetes' pod API, even if an operator uses its own."""

    @override
    def __str__(self) -> str:
        """Return the start of every message about the pod."""
        kind = self._resource.type.rpartition(":")[2]
        return f"{kind} '{self._resource.name}'" + (f" ({self.spec.path})" if self.spec.path != "spec" else "")

    @property
    def urn(self) -> str:
        """URN of the object that creates the pods, for findings of stack rules."""
        return self._resource.urn

    @property
    def kind(self) -> str:
        """Kind of the object that creates the pods, such as ``Deployment``."""
        return self._resource.type.rpartition(":")[2]

    @property
    def namespace(self) -> str:
        """Namespace of the object; ``default`` if it sets none, as in the API server."""
        return namespace_of(self._resource)

    @property
    def is_core_service(self) -> bool:
        """Whether the pods have the label of a core service, which the API server protects."""
        return self.label(LabelKey.CORE_SERVICE.value) == TRUE

    @property
    def is_placeholder(self) -> bool:
        """Whether the pods keep headroom: they are in the namespace of those that never get a node."""
        return self.namespace == HEADROOM

    def selecting(self, labels: Mapping[str, str]) -> "PodFacts":
        """Return the pod with other values for these labels of its node selector."""
        return PodFacts(self._resource, self.metadata, self.spec, is_retold=self.is_retold, selecting=labels)

    @property
    def node_selector(self) -> Value:
        """Return the map of node labels that the pods select."""
        given = self.spec.at("nodeSelector")
        if not self._selecting or not isinstance(given.raw, dict):
            return given
        return Value({**given.raw, **self._selecting}, given.path)

    def label(self, key: str) -> str | None:
        """Return the value of a label of the pods."""
        return self.metadata.at("labels", key).text()

    def selected(self, key: str) -> str | None:
        """Return the value of a node label in the node selector."""
        return self.node_selector.at(str(key)).text()

    def annotation(self, key: str) -> str | None:
        """Return the value of an annotation of the pods."""
        return self.metadata.at("annotations", key).text()

    def containers(self) -> tuple[Value, ...]:
        """Return all containers, including init and ephemeral containers."""
        kinds = ("containers", "initContainers", "ephemeralContainers")
        return tuple(container for kind in kinds for container in self.spec.at(kind).elements())

    def images(self) -> tuple[Value, ...]:
        """Return the images of all containers and of image volumes."""
        volumes = (volume.at("image") for volume in self.spec.at("volumes").elements())
        return (
            *(container.at("image") for container in self.containers()),
            *(image.at("reference") for image in volumes if not image.is_absent),
        )

    def is_system(self) -> bool:
        """Return whether the pods belong to Kubernetes or to the platform's operators."""
        return self.namespace in SYSTEM_NAMESPACES

    def is_user_work(self, context: Context) -> bool:
        """Return whether the pods are user work: in a user namespace and without the label of core services.

        Without a stack file the user namespaces are unknown, so all namespaces count but those of the system and that
        of headroom's placeholders.
        """
        if context.namespaces is not None:
            inside = self.namespace in context.namespaces
        else:
            inside = not self.is_system() and not self.is_placeholder
        return inside and not self.is_core_service


def _template(*path: str) -> Callable[[Resource], Iterator[PodFacts]]:
    def find(resource: Resource) -> Iterator[PodFacts]:
        template = resource.props.at(*path)
        yield PodFacts(resource, template.at("metadata"), template.at("spec"))

    return find


def _told(
    find: Callable[[Value], Iterator[PodTemplate]], *, is_retold: bool = True
) -> Callable[[Resource], Iterator[PodFacts]]:
    def find_told(resource: Resource) -> Iterator[PodFacts]:
        return (PodFacts(resource, metadata, spec, is_retold=is_retold) for metadata, spec in find(resource.props))

    return find_told


_FINDERS: Final[Finders[PodFacts]] = {
    "kubernetes:core/v1:Pod": _template(),
    r"kubernetes:apps/v1:(Deployment|StatefulSet|DaemonSet|ReplicaSet)": _template("spec", "template"),
    "kubernetes:core/v1:ReplicationController": _template("spec", "template"),
    "kubernetes:batch/v1:Job": _template("spec", "template"),
    "kubernetes:batch/v1:CronJob": _template("spec", "jobTemplate", "spec", "template"),
    r"kubernetes:keda\.sh/v1alpha1:ScaledJob": _template("spec", "jobTargetRef", "template"),
    r"kubernetes:kubeflow\.org/(v1|v2beta1):MPIJob": _told(mpi_replicas, is_retold=False),
    r"kubernetes:kubeflow\.org/v1:PyTorchJob": _told(replicas("pytorchReplicaSpecs"), is_retold=False),
    r"kubernetes:kubeflow\.org/v1:TFJob": _told(replicas("tfReplicaSpecs"), is_retold=False),
    r"kubernetes:ray\.io/v1:RayCluster": _told(ray_pods("spec"), is_retold=False),
    r"kubernetes:ray\.io/v1:RayJob": _told(ray_pods("spec", "rayClusterSpec"), is_retold=False),
    r"kubernetes:ray\.io/v1:RayService": _told(ray_pods("spec", "rayClusterConfig"), is_retold=False),
    NUCLIO_FUNCTION: _told(nuclio_function),
    r"kubernetes:sparkoperator\.k8s\.io/v1beta2:SparkApplication": _told(spark_pods("spec")),
    r"kubernetes:sparkoperator\.k8s\.io/v1beta2:ScheduledSparkApplication": _told(spark_pods("spec", "template")),
}
"""Finders of pods, by pattern of the resource's type token."""


def pods(resource: Resource) -> Iterator[PodFacts]:
    """Return the pods that a resource defines; none for most resources."""
    return find_in(resource, _FINDERS)


PODS: Final = EachOf(
    noun="each pod outside the system's namespaces",
    types=re.compile("|".join(_FINDERS)),
    find=pods,
    concerns=lambda pod, _: not pod.is_system(),
)

USER_PODS: Final = replace(
    PODS,
    noun="each pod of user work",
    concerns=lambda pod, context: pod.is_user_work(context),
)

ORDINARY_PODS: Final = replace(
    PODS,
    noun="each pod outside the system's namespaces that is not a core service",
    concerns=lambda pod, _: not pod.is_system() and not pod.is_core_service,
)


def user_work(resource: Resource, context: Context) -> Iterator[PodFacts]:
    """Return the user pods that a resource defines."""
    return (pod for pod in pods(resource) if pod.is_user_work(context))
