"""Choices of a stack file that a cloud fixes when it creates a cluster.

The provider plans a change of some of them as an update, and the cloud keeps the old value, or the update fails after
other resources were deleted. So each kind lists them in a table, and one gate compares stack file and state before the
engine plans anything.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.clouds.blocker import Blocker
from workbench.engine.pending import awaits_replacement


@dataclass(frozen=True, kw_only=True)
class FixedChoice:
    """A choice that cannot change while the cluster exists. Its field's description must say so too."""

    key: str
    """Path in the stack file, such as ``cluster.zones``."""
    declared: Callable[[Any], str]
    """Returns the value in the cluster section of the stack file, as text to compare and to show; empty if there is
    none to compare, as for another kind of cluster, which is a replacement."""
    live: Callable[[Mapping[str, Any]], str]
    """Returns the value in a deployment, in the same form; empty without a cluster, or if the state lacks it."""
    step: str
    """What to do instead."""
    why: str = ""
    """Why it cannot change; empty if the service simply never changes it."""


def fixed_blockers(
    service: str, table: Iterable[FixedChoice], choices: Any, deployment: Mapping[str, Any]
) -> Iterator[Blocker]:
    """Return a blocker for each fixed choice that differs from the existing cluster.

    Parameters
    ----------
    service
        The cloud's Kubernetes service, such as ``EKS``.
    table
        The fixed choices of its clusters.
    choices
        The cluster section of the stack file.
    deployment
        The stack's state, as exported.
    """
    for choice in table:
        declared, live = choice.declared(choices), choice.live(deployment)
        if declared and live and declared != live:
            yield Blocker(
                choice.key,
                f"{declared}, but the cluster has {live}",
                choice.why or f"{service} sets it when it creates the cluster and never changes it",
                choice.step,
            )


def resources_of(deployment: Mapping[str, Any], type_: str) -> Iterator[Mapping[str, Any]]:
    """Yield the resources of a type in a deployment, without those that are still to be deleted or already are."""
    for each in deployment.get("resources") or ():
        if each["type"] == type_ and not each.get("delete") and not awaits_replacement(each):
            yield each
