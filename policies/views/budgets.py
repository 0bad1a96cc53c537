"""PodDisruptionBudgets."""

from policies.resource import Resource
from policies.views.objects import namespace_of
from policies.views.pods import PodFacts
from policies.views.selectors import selects


def guards(budget: Resource, pod: PodFacts) -> bool:
    """Return whether a budget limits the evictions of a pod: they share a namespace, and its selector matches."""
    return namespace_of(budget) == pod.namespace and selects(
        budget.props.at("spec", "selector"), pod.metadata.at("labels")
    )
