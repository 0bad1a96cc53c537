"""What a pod asks of one node."""

from collections.abc import Iterable
from decimal import Decimal

from policies.values import Value
from policies.views.pods import PodFacts


def pod_request(pod: PodFacts, resource: str) -> Decimal:
    """Return how much of ``resource`` one node must have free for the pod.

    Containers run side by side, those that run at start one after the other before them. A request that nobody states
    is the limit, as the API server has it; a pod may also state one for all of its containers.
    """
    whole = _amount(pod.spec, resource)
    if whole:
        return whole
    starters = pod.spec.at("initContainers").elements()
    beside = [starter for starter in starters if starter.at("restartPolicy").text() == "Always"]
    running = _sum((*pod.spec.at("containers").elements(), *beside), resource)
    return max([running, *(_amount(starter, resource) for starter in starters)])


def _sum(containers: Iterable[Value], resource: str) -> Decimal:
    return sum((_amount(container, resource) for container in containers), Decimal(0))


def _amount(holder: Value, resource: str) -> Decimal:
    for side in ("requests", "limits"):
        amount = holder.at("resources", side, resource).quantity()
        if amount is not None:
            return amount
    return Decimal(0)
