"""Autoscaled workloads: targets of HorizontalPodAutoscalers, and Nuclio functions."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from typing_extensions import override

from policies.resource import Resource, Stack
from policies.values import Value
from policies.views.objects import name_of, namespace_of
from policies.views.type_tokens import NUCLIO_FUNCTION

HORIZONTAL_POD_AUTOSCALER: Final = re.compile(r"kubernetes:autoscaling/v\d\w*:HorizontalPodAutoscaler")


def targets(scaler: Resource, resource: Resource) -> bool:
    """Return whether an autoscaler of Kubernetes or of KEDA scales ``resource``."""
    target = scaler.props.at("spec", "scaleTargetRef")
    # KEDA may leave out the kind, Kubernetes may not.
    kind = target.at("kind").text() or "Deployment"
    return (
        kind == resource.type.rpartition(":")[2]
        and name_of(resource) == target.at("name").text()
        and namespace_of(resource) == namespace_of(scaler)
    )


class AutoscalerFacts:
    """One HorizontalPodAutoscaler."""

    def __init__(self, resource: Resource) -> None:
        self.urn = resource.urn
        self._resource = resource
        self._spec = resource.props.at("spec")

    @override
    def __str__(self) -> str:
        """Return the start of every message about it."""
        return f"HorizontalPodAutoscaler '{self._resource.name}'"

    def scales(self, resource: Resource) -> bool:
        """Return whether ``resource`` is its target."""
        return targets(self._resource, resource)

    def percentages(self) -> Iterator[tuple[str, str | None]]:
        """Return resources whose use it measures relative to their request, each with its container or None for all.

        https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
        """
        metrics = self._spec.at("metrics")
        if metrics.is_absent:
            # The API server's default, and all that version 1 of the API can express.
            yield "cpu", None
        for metric in metrics.elements():
            for source in ("resource", "containerResource"):
                measured = metric.at(source)
                if measured.at("target", "type").text() == "Utilization":
                    yield measured.at("name").text() or "", measured.at("container").text()

    @property
    def replicas(self) -> tuple[int, int | None]:
        """Minimum number of replicas, 1 if absent, and maximum."""
        fewest = self._spec.at("minReplicas").integer()
        return 1 if fewest is None else fewest, self._spec.at("maxReplicas").integer()


def autoscalers(stack: Stack) -> list[AutoscalerFacts]:
    """Return all HorizontalPodAutoscalers of the stack."""
    return [AutoscalerFacts(resource) for resource in stack if HORIZONTAL_POD_AUTOSCALER.fullmatch(resource.type)]


def fewest_replicas(controller: Resource, scalers: Iterable[AutoscalerFacts]) -> int | None:
    """Return the minimum number of pods of a Deployment or StatefulSet; None if it sets none, which means 1.

    If an autoscaler scales it, that one's minimum counts.
    """
    least = [scaler.replicas[0] for scaler in scalers if scaler.scales(controller)]
    return min(least) if least else controller.props.at("spec", "replicas").integer()


class NuclioFunctionFacts:
    """One Nuclio function.

    https://docs.nuclio.io/en/stable/reference/function-configuration/function-configuration-reference.html
    """

    def __init__(self, resource: Resource) -> None:
        self._name = resource.name
        self._spec = resource.props.at("spec")

    @override
    def __str__(self) -> str:
        """Return the start of every message about it."""
        return f"NuclioFunction '{self._name}'"

    @property
    def has_fixed_size(self) -> bool:
        """Whether it sets a fixed number of replicas, which overrides the bounds."""
        return self._spec.at("replicas").integer() is not None

    @property
    def replicas(self) -> tuple[int | None, int | None]:
        """Minimum and maximum number of replicas, as declared."""
        return self._spec.at("minReplicas").integer(), self._spec.at("maxReplicas").integer()

    @property
    def scales_on_cpu(self) -> bool:
        """Whether replicas follow CPU use relative to its request."""
        if self.has_fixed_size or any(
            not self._spec.at(key).is_absent for key in ("autoScaleMetrics", "customScalingMetricSpecs")
        ):
            return False
        # Nuclio's defaults: a minimum of one, and a maximum that is the minimum.
        fewest, most = self.replicas
        fewest = 1 if fewest is None else fewest
        return most is not None and most > fewest

    def limits(self) -> Value:
        """Return its limits, by resource."""
        return self._spec.at("resources", "limits")

    @property
    def cpu_request(self) -> Value:
        """CPU request of each replica: its limit if only that is set."""
        request = self._spec.at("resources", "requests", "cpu")
        return self.limits().at("cpu") if request.is_absent else request

    @property
    def workers(self) -> int:
        """Number of workers of a replica, over all triggers; a function without a trigger gets one, with one worker."""
        triggers = self._spec.at("triggers")
        return sum(_workers(trigger) for _, trigger in triggers.items()) or 1


def _workers(trigger: Value) -> int:
    # ``maxWorkers`` is the older spelling, which MLRun still writes.
    stated = (trigger.at(key).integer() for key in ("numWorkers", "maxWorkers"))
    return next((count for count in stated if count), 1)


def nuclio_function(resource: Resource) -> Iterator[NuclioFunctionFacts]:
    """Return the resource as its only function; none for most resources."""
    if re.fullmatch(NUCLIO_FUNCTION, resource.type):
        yield NuclioFunctionFacts(resource)
