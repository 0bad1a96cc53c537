"""Requests and limits of pods as Kubernetes reads them, for rules and in CEL.

They are set for each container and, from Kubernetes 1.34, for the pod as a whole
(https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import compress
from typing import Final

from typing_extensions import override

from components.contract.default_resources import BUILD_CONTAINER, BUILD_LABEL
from policies.values import NotJudgeableError, Value
from policies.views.pods import PodFacts

SIDES: Final = ("requests", "limits")
COMPUTE: Final = ("cpu", "memory")
"""Resources that decide a pod's quality of service, and that may be set for the pod as a whole."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Requests and limits at one place."""

    container: str
    """Name of the container; empty if they are set for the pod as a whole."""
    resources: Value
    parts: tuple["Claims", ...] = ()
    """Requests and limits of the containers, if ``resources`` are those of the pod as a whole."""

    @override
    def __str__(self) -> str:
        """Return their owner, such as ``container 'main'``."""
        return f"container '{self.container}'" if self.container else "the pod as a whole"

    @property
    def names(self) -> tuple[str, ...]:
        """All resources with a request or limit."""
        return tuple(dict.fromkeys(name for side in SIDES for name, _ in self.resources.at(side).items()))

    def states(self, name: str) -> bool:
        """Return whether a request or a limit of the resource is set."""
        return any(not self.resources.at(side, name).is_absent for side in SIDES)

    def claim(self, side: str, name: str) -> Decimal | None:
        """Return the request or the limit, according to ``side``."""
        return self.request(name) if side == "requests" else self.limit(name)

    def limit(self, name: str) -> Decimal | None:
        """Return the maximum use of the resource; None without a limit."""
        return self.resources.at("limits", name).quantity()

    def request(self, name: str) -> Decimal | None:
        """Return the reserved amount of the resource: the request, or the limit if only that is set."""
        stated = self.resources.at("requests", name)
        if not stated.is_absent:
            return stated.quantity()
        limit = self.limit(name)
        if limit is not None and any(part.states(name) for part in self.parts):
            raise NotJudgeableError(stated.path, "is derived by the API server from the containers")
        return limit

    def spelled(self, name: str) -> str:
        """Return request and limit as their author spelled them, such as ``memory request 1Gi and limit none``."""
        request, limit = (self.resources.at(side, name).quantity_text() or "none" for side in SIDES)
        return f"{name} request {request} and limit {limit}"


def whole(pod: PodFacts) -> Claims:
    """Return the requests and limits for the pod as a whole."""
    return Claims("", pod.spec.at("resources"), containers(pod))


def containers(pod: PodFacts, *kinds: str) -> tuple[Claims, ...]:
    """Return the containers' own requests and limits, by default of all ``kinds`` that can have any."""
    return tuple(
        Claims(_name(container), container.at("resources"))
        for kind in kinds or ("containers", "initContainers")
        for container in pod.spec.at(kind).elements()
    )


def deciding(pod: PodFacts, *names: str) -> tuple[Claims, ...]:
    """Return the requests and limits that count: the whole pod's if it sets one of ``names``, else its containers'."""
    joint = whole(pod)
    return (joint,) if any(joint.states(name) for name in names) else joint.parts


def pod_request(pod: PodFacts, name: str) -> Decimal:
    """Return the free amount of a resource that a node needs for the pod.

    Containers run side by side; init containers run one after the other before them.
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
    """Return each reason why the pod does not have guaranteed quality of service.

    https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
    """
    for claims in deciding(pod, *COMPUTE):
        for name in COMPUTE:
            limit = claims.limit(name)
            if not limit or claims.request(name) != limit:
                yield f"{claims} has {claims.spelled(name)}"


def is_build(pod: PodFacts) -> bool:
    """Return whether the pod builds an image for MLRun or Nuclio, which set no limits on purpose."""
    label, value = BUILD_LABEL
    names = (claims.container for claims in containers(pod, "containers"))
    return pod.label(label) == value or BUILD_CONTAINER in names


def is_guaranteed(pod: PodFacts) -> bool:
    """Return whether the pod has guaranteed quality of service."""
    return not any(True for _ in unequal(pod))


def _name(container: Value) -> str:
    try:
        return container.at("name").text() or container.path
    except NotJudgeableError:
        return container.path


CONTAINERS: Final = "(variables.spec.containers + variables.spec.?initContainers.orValue([]))"
"""CEL for the containers that can have requests and limits."""


def cel_limit(owner: str, name: str) -> str:
    """Return CEL for the limit that ``owner`` sets, an optional text."""
    return f"{owner}.?resources.?limits['{name}']"


def cel_request(owner: str, name: str) -> str:
    """Return CEL for the request of ``owner``, an optional text; the limit if only that is set."""
    return f"{owner}.?resources.?requests['{name}'].or({cel_limit(owner, name)})"


def cel_claim(owner: str, side: str, name: str) -> str:
    """Return CEL for the request or the limit, according to ``side``, an optional text."""
    return cel_request(owner, name) if side == "requests" else cel_limit(owner, name)


def cel_quantity(optional: str) -> str:
    """Return CEL for the amount that an optional text represents; 0 without one."""
    return f"quantity({optional}.orValue('0'))"


def cel_deciding(holds: Callable[[str], str], *names: str) -> str:
    """Return CEL that is true if ``holds`` is true for all owners that count for ``names``, as in ``deciding``."""
    stated = " || ".join(f"{cel_request('variables.spec', name)}.hasValue()" for name in names)
    return f"(({stated}) ? ({holds('variables.spec')}) : {CONTAINERS}.all(c, {holds('c')}))"


def cel_offenders(holds: Callable[[str], str], *names: str, field: str = "") -> str:
    """Return CEL for texts that name the owners that count for ``names``, as in ``deciding``, and fail ``holds``.

    Parameters
    ----------
    field
        The wrong field, named in the text. Default: none.
    """
    note = f" ({field})" if field else ""
    stated = " || ".join(f"{cel_request('variables.spec', name)}.hasValue()" for name in names)
    whole_pod = f"({holds('variables.spec')}) ? [] : ['the pod as a whole{note}']"
    named = f"{CONTAINERS}.filter(c, !({holds('c')})).map(c, 'container ' + string(c.name) + '{note}')"
    return f"(({stated}) ? ({whole_pod}) : {named})"


def _cel_equal(owner: str) -> str:
    return " && ".join(
        f"{cel_quantity(cel_limit(owner, name))}.isGreaterThan(quantity('0'))"
        f" && {cel_quantity(cel_limit(owner, name))}.compareTo({cel_quantity(cel_request(owner, name))}) == 0"
        for name in COMPUTE
    )


CEL_UNEQUAL: Final = cel_offenders(_cel_equal, *COMPUTE)
"""CEL for texts that name what keeps a pod from guaranteed quality of service."""
