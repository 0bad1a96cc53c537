"""Amounts of resources that pods request and nodes allocate, and the most of them at one moment."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from components.contract.gpus import is_gpu
from components.contract.quantities import parse_quantity

_MIB: Final = 2**20


def pod_amounts(spec: Mapping[str, Any], which: str) -> dict[str, Decimal]:
    """Return a pod's ``requests`` or ``limits`` as the scheduler counts them, without those of 0.

    The sum of the containers and of init containers that keep running, or the largest other init container, plus the
    overhead; a container without a request counts its limit (kubernetes/kubernetes,
    ``staging/src/k8s.io/component-helpers/resource/helpers.go``, ``PodRequests``).
    """
    total: dict[str, Decimal] = {}
    largest: dict[str, Decimal] = {}
    inits = spec.get("initContainers") or ()
    sidecars = [each for each in inits if each.get("restartPolicy") == "Always"]
    for container in (*(spec.get("containers") or ()), *sidecars):
        for name, amount in _container_amounts(container, which):
            total[name] = total.get(name, Decimal(0)) + amount
    for container in inits:
        if container not in sidecars:
            for name, amount in _container_amounts(container, which):
                largest[name] = max(largest.get(name, Decimal(0)), amount)
    whole = {name: max(total.get(name, Decimal(0)), largest.get(name, Decimal(0))) for name in {**total, **largest}}
    for name, amount in quantities(spec.get("overhead") or {}):
        if name in whole:
            whole[name] += amount
    return {name: amount for name, amount in whole.items() if amount}


def cpu_limit(spec: Mapping[str, Any]) -> Decimal:
    """Return the cores that a pod can use: the limits of its containers together; infinite if one has none."""
    containers = spec.get("containers") or ()
    if any("cpu" not in ((each.get("resources") or {}).get("limits") or {}) for each in containers):
        return Decimal("Infinity")
    return pod_amounts(spec, "limits").get("cpu", Decimal(0))


def _container_amounts(container: Mapping[str, Any], which: str) -> Iterator[tuple[str, Decimal]]:
    resources = container.get("resources") or {}
    chosen = resources.get(which) or {}
    return quantities({**(resources.get("limits") or {}), **chosen} if which == "requests" else chosen)


def quantities(amounts: Mapping[str, Any]) -> Iterator[tuple[str, Decimal]]:
    """Yield the quantities of a map; those that cannot be read are left out."""
    for name, text in amounts.items():
        try:
            yield str(name), parse_quantity(str(text))
        except ValueError:
            continue


def whole_units(amounts: Mapping[str, Decimal]) -> dict[str, int]:
    """Return CPU in millicores, memory in MiB, and GPUs or parts of them."""
    return {
        "cpu_millis": round(amounts.get("cpu", Decimal(0)) * 1000),
        "memory_mib": int(amounts.get("memory", Decimal(0))) // _MIB,
        "gpus": sum(int(amount) for name, amount in amounts.items() if is_gpu(name)),
    }


def most_at_once(spans: Iterable[tuple[float, float, float]]) -> float:
    """Return the largest sum at one moment of (start, end, amount) spans; a span does not count at its end."""
    changes: list[tuple[float, int, float]] = []
    for start, end, amount in spans:
        changes += [(start, 1, amount), (end, 0, -amount)]
    most = now = 0.0
    for _, _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most
