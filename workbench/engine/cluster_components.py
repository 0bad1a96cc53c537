"""The parts of a cluster that have a life of their own, as a stack's state or a plan has them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from workbench.engine.clouds.aks.cluster_components import parts as aks_parts
from workbench.engine.clouds.cluster_component import ClusterComponent, Rank
from workbench.engine.clouds.eks.cluster_components import parts as eks_parts
from workbench.report.events import STACK_TYPE, Stream

_PROVIDER: Final = "pulumi:providers:kubernetes"


def parts_of_state(deployment: Mapping[str, Any]) -> list[ClusterComponent]:
    """Return the parts in an exported deployment, without those that a replacement has still to delete."""
    return _ordered(
        part
        for each in deployment.get("resources") or ()
        if not each.get("delete")
        for part in _read(each["urn"], each["type"], each.get("inputs") or {}, each.get("outputs") or {})
    )


def parts_of_plan(stream: Stream) -> list[ClusterComponent]:
    """Return the parts that a plan starts from: what its refresh found, before any change."""
    found = {
        part.key: part
        for step in stream.steps
        if step.old and not step.old.delete and step.op != "refresh"
        for part in _read(step.urn, step.token, step.old.inputs, step.old.outputs)
    }
    return _ordered(found.values())


def cluster_of(parts: Iterable[ClusterComponent]) -> ClusterComponent | None:
    """Return the cluster among the parts; None if there is none (yet)."""
    return next((part for part in parts if part.rank is Rank.CLUSTER), None)


def kubeconfig_of(deployment: Mapping[str, Any]) -> str | None:
    """Return the way into the cluster: the stack's own output, else what its Kubernetes provider was given.

    None if the stack never came so far as to know it. It holds no secret.
    """
    resources = deployment.get("resources") or ()
    found = [
        *(each.get("outputs") or {} for each in resources if each["type"] == STACK_TYPE),
        *(each.get("inputs") or {} for each in resources if each["type"] == _PROVIDER),
    ]
    return next((text for known in found if isinstance(text := known.get("kubeconfig"), str) and text), None)


def _read(urn: str, type_: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Iterator[ClusterComponent]:
    for parts in (eks_parts, aks_parts):
        yield from parts(urn, type_, inputs, outputs)


def _ordered(parts: Iterable[ClusterComponent]) -> list[ClusterComponent]:
    # A state keeps the order in which resources happened to be done.
    return sorted(parts, key=lambda part: (part.rank, part.key))
