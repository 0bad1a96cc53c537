"""Node selector and required node affinity of a pod in one view."""

from collections.abc import Callable, Iterator
from typing import Final

from components.contract.labels import IGUAZIO_DOMAIN, OWN_DOMAIN, LabelKey
from components.contract.placement import PLACE_KEYS
from policies.rule import Context
from policies.values import NotJudgeableError, Value, some
from policies.views.node_groups import NodeGroupFacts
from policies.views.pods import PodFacts
from policies.views.selectors import fits

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


class Demand:
    """One requirement of a pod on a node label, like ``NodeSelectorRequirement``."""

    def __init__(self, key: Value, operator: Value, values: Value) -> None:
        self._key, self._operator, self._values = key, operator, values

    @property
    def key(self) -> str:
        """Label that it is about."""
        return self._key.text() or ""

    @property
    def operator(self) -> str:
        """``In``, ``NotIn``, ``Exists``, ``DoesNotExist``, ``Gt`` or ``Lt``."""
        return self._operator.text() or ""

    @property
    def values(self) -> tuple[str, ...]:
        """Values that it names."""
        return tuple(value.text() or "" for value in self._values.elements())

    def wants(self, key: str) -> tuple[str, ...]:
        """Return the values of label ``key`` of which the node must have one; none if the requirement lists none."""
        return self.values if self.key == key and self.operator == "In" else ()

    def is_met_by(self, group: NodeGroupFacts) -> bool:
        """Return whether nodes of ``group`` fulfil it, as far as this package defines their labels."""
        found = group.label(self.key)
        if found is None and _may_be_added(self.key):
            return True
        return fits(found, self._operator, self._values)


def _may_be_added(key: str) -> bool:
    # Kubernetes, clouds and feature discovery label nodes when they start; all of them write a domain in front.
    domain, slash, _ = key.rpartition("/")
    return bool(slash) and domain not in (IGUAZIO_DOMAIN, OWN_DOMAIN)


def user_pools(context: Context) -> frozenset[str]:
    """Return the pools that user work may name."""
    if context.user_pools is None:
        raise NotJudgeableError(LabelKey.POOL, "is a pool's name, but without a stack file user pools are unknown")
    return context.user_pools


def gpu_pools(context: Context) -> frozenset[str]:
    """Return the pools whose nodes have GPUs."""
    if context.gpu_pools is None:
        raise NotJudgeableError(LabelKey.POOL, "is a pool's name, but without a stack file GPU pools are unknown")
    return context.gpu_pools


def selector(pod: PodFacts) -> list[Demand]:
    """Return the requirements of the node selector."""
    return [
        Demand(Value(key, value.path), Value("In"), Value([value.raw], value.path))
        for key, value in pod.node_selector.items()
    ]


def terms(pod: PodFacts) -> tuple[Value, ...]:
    """Return the terms of the required node affinity; a node must match one of them."""
    return pod.spec.at("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms").elements()


def expressions(term: Value) -> list[Demand]:
    """Return the label requirements of one term."""
    return [Demand(e.at("key"), e.at("operator"), e.at("values")) for e in term.at("matchExpressions").elements()]


def tolerations(pod: PodFacts) -> tuple[Value, ...]:
    """Return the pod's tolerations."""
    return pod.spec.at("tolerations").elements()


def tolerated_keys(pod: PodFacts) -> Iterator[str]:
    """Return the key of each toleration, empty if it tolerates every taint."""
    return (entry.at("key").text() or "" for entry in tolerations(pod))


def demands(pod: PodFacts) -> Iterator[Demand]:
    """Return all requirements of the pod."""
    yield from selector(pod)
    for term in terms(pod):
        yield from expressions(term)


def always(pod: PodFacts, test: Callable[[Demand], bool]) -> bool:
    """Return whether every possible node of the pod fulfils a requirement that passes ``test``."""

    def every_term() -> bool:
        found = terms(pod)
        return bool(found) and not some(found, lambda term: not some(expressions(term), test))

    return some((lambda: some(selector(pod), test), every_term), lambda part: part())


def chooses_a_place(pod: PodFacts) -> bool:
    """Return whether a pod names a node or has a requirement on its pool; the API server then sets no placement."""

    def is_named() -> bool:
        return bool(pod.spec.at("nodeName").text())

    def is_demanded() -> bool:
        return some(demands(pod), lambda demand: demand.key in PLACE_KEYS)

    return some((is_named, is_demanded), lambda part: part())


def may_run_on(pod: PodFacts, group: NodeGroupFacts) -> bool:
    """Return whether nodes of ``group`` have the labels that the pod requires; taints are ignored."""

    def met(found: list[Demand]) -> bool:
        return not some(found, lambda demand: not demand.is_met_by(group))

    if not met(selector(pod)):
        return False
    alternatives = terms(pod)
    return not alternatives or some(alternatives, lambda term: met(expressions(term)))
