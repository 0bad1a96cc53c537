"""What pods claim of their nodes: requests and limits as Kubernetes reads them, for rules and in CEL.

Claims stand at each container and, from Kubernetes 1.34, at the pod as a whole
(https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import compress
from typing import Final

from typing_extensions import override

from policies.values import NotJudgeableError, Value
from policies.views.pods import PodFacts

SIDES: Final = ("requests", "limits")
COMPUTE: Final = ("cpu", "memory")
"""Resources that decide a pod's quality of service, and that may be claimed for the pod as a whole."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Requests and limits that stand at one place."""

    container: str
    """Name of the container; empty if they stand at the pod as a whole."""
    resources: Value
    parts: tuple["Claims", ...] = ()
    """Claims of the containers, if these are the pod's as a whole."""

    @override
    def __str__(self) -> str:
        """Return whose claims they are, such as ``container 'main'``."""
        return f"container '{self.container}'" if self.container else "the pod as a whole"

    @property
    def names(self) -> tuple[str, ...]:
        """Every resource that is claimed."""
        return tuple(dict.fromkeys(name for side in SIDES for name, _ in self.resources.at(side).items()))

    def states(self, name: str) -> bool:
        """Return whether a request or a limit of the resource is set."""
        return any(not self.resources.at(side, name).is_absent for side in SIDES)

    def claim(self, side: str, name: str) -> Decimal | None:
        """Return the request or the limit, as ``side`` says."""
        return self.request(name) if side == "requests" else self.limit(name)

    def limit(self, name: str) -> Decimal | None:
        """Return the most that may be used of the resource, None without a bound."""
        return self.resources.at("limits", name).quantity()

    def request(self, name: str) -> Decimal | None:
        """Return the reserved amount of the resource: the request, or the limit if only that is set."""
        stated = self.resources.at("requests", name)
        if not stated.is_absent:
            return stated.quantity()
        limit = self.limit(name)
        if limit is not None and any(part.states(name) for part in self.parts):
            raise NotJudgeableError(stated.path, "is computed by the API server from the containers")
        return limit

    def spelled(self, name: str) -> str:
        """Return the claim as its author spelled it, such as ``memory request 1Gi and limit none``."""
        request, limit = (self.resources.at(side, name).quantity_text() or "none" for side in SIDES)
        return f"{name} request {request} and limit {limit}"


def whole(pod: PodFacts) -> Claims:
    """Return what is claimed for the pod as a whole."""
    return Claims("", pod.spec.at("resources"), containers(pod))


def containers(pod: PodFacts, *kinds: str) -> tuple[Claims, ...]:
    """Return the containers' own claims, by default of all ``kinds`` that can have any."""
    return tuple(
        Claims(_name(container), container.at("resources"))
        for kind in kinds or ("containers", "initContainers")
        for container in pod.spec.at(kind).elements()
    )


def deciding(pod: PodFacts, *names: str) -> tuple[Claims, ...]:
    """Return the claims that count: the pod's as a whole if it states one of ``names``, else its containers'."""
    joint = whole(pod)
    return (joint,) if any(joint.states(name) for name in names) else joint.parts


def pod_request(pod: PodFacts, name: str) -> Decimal:
    """Return the free amount of a resource that a node needs for the pod.

    Containers run side by side, those that run at start one after the other before them.
    """
    if joint := whole(pod).request(name):
        return joint
    starting = containers(pod, "initContainers")
    stays = (starter.at("restartPolicy").text() == "Always" for starter in pod.spec.at("initContainers").elements())
    running = (*containers(pod, "containers"), *compress(starting, stays))
    return max(_sum(running, name), *(_sum([claims], name) for claims in starting), Decimal(0))


def _sum(claims: Iterable[Claims], name: str) -> Decimal:
    return sum((one.request(name) or Decimal(0) for one in claims), Decimal(0))


def unequal(pod: PodFacts) -> Iterator[str]:
    """Return each reason for which the pod has no guaranteed quality of service.

    https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
    """
    for claims in deciding(pod, *COMPUTE):
        for name in COMPUTE:
            limit = claims.limit(name)
            if not limit or claims.request(name) != limit:
                yield f"{claims} has {claims.spelled(name)}"


def is_guaranteed(pod: PodFacts) -> bool:
    """Return whether the pod has guaranteed quality of service."""
    return not any(True for _ in unequal(pod))


def _name(container: Value) -> str:
    try:
        return container.at("name").text() or container.path
    except NotJudgeableError:
        return container.path


CONTAINERS: Final = "(variables.spec.containers + variables.spec.?initContainers.orValue([]))"
"""CEL for the containers that can claim resources."""


def cel_limit(owner: str, name: str) -> str:
    """Return CEL for the limit that ``owner`` states, an optional text."""
    return f"{owner}.?resources.?limits['{name}']"


def cel_request(owner: str, name: str) -> str:
    """Return CEL for the request of ``owner``, an optional text; the limit if only that is set."""
    return f"{owner}.?resources.?requests['{name}'].or({cel_limit(owner, name)})"


def cel_claim(owner: str, side: str, name: str) -> str:
    """Return CEL for the request or the limit, as ``side`` says, an optional text."""
    return cel_request(owner, name) if side == "requests" else cel_limit(owner, name)


def cel_quantity(optional: str) -> str:
    """Return CEL for the amount that an optional text stands for, 0 without one."""
    return f"quantity({optional}.orValue('0'))"


def cel_deciding(holds: Callable[[str], str], *names: str) -> str:
    """Return CEL for: ``holds`` is true of all claims that count for ``names``, as ``deciding`` has it."""
    stated = " || ".join(f"{cel_request('variables.spec', name)}.hasValue()" for name in names)
    return f"(({stated}) ? ({holds('variables.spec')}) : {CONTAINERS}.all(c, {holds('c')}))"


def _cel_equal(owner: str) -> str:
    return " && ".join(
        f"{cel_quantity(cel_limit(owner, name))}.isGreaterThan(quantity('0'))"
        f" && {cel_quantity(cel_limit(owner, name))}.compareTo({cel_quantity(cel_request(owner, name))}) == 0"
        for name in COMPUTE
    )


CEL_GUARANTEED: Final = cel_deciding(_cel_equal, *COMPUTE)
"""CEL for ``is_guaranteed``."""
