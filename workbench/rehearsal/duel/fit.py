"""Why a stack cannot be played under Karpenter: what its API refuses, or what one machine type cannot express."""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import AnnotationKey, WellKnownLabel
from components.contract.local.nodes import SimulatedGroup, node_metadata
from infra.config import StackConfig
from workbench.rehearsal.cluster.nodes import simulated_group

SPEED_MAX: Final = 120.0
"""Fastest speed of a duel: what Karpenter computes takes real time, and counts as scenario time (assumed)."""

NAME_MAX: Final = 57
"""Maximum length of a NodePool's name: names of its nodes add six characters, and a label's value has at most 63."""

_DOMAIN: Final = "karpenter.sh"

_OF_MACHINES: Final = (
    AnnotationKey.SIMULATED, AnnotationKey.CAPACITY, AnnotationKey.ALLOCATABLE, AnnotationKey.STARTS_IN
)  # fmt: skip


def problems_of(config: StackConfig) -> tuple[str, ...]:
    """Return why a stack cannot be played under Karpenter, as sentences; empty if it can."""
    elastic = [simulated_group(config, group) for group in config.groups if group.is_elastic]
    if not elastic:
        return ("no pool has a size.max above its size.min, so nothing scales it.",)
    return (*_of_pools(elastic), *_of_machines(elastic))


def machine_annotations(simulated: SimulatedGroup) -> dict[str, str]:
    """Return the annotations by which the nodes of a machine type are simulated."""
    starting = {AnnotationKey.STARTS_IN.value: simulated.starts_in} if simulated.starts_in else {}
    known = {**node_metadata(simulated, simulated.group.name)["annotations"], **starting}
    return {key.value: known[key.value] for key in _OF_MACHINES if key.value in known}


def _of_pools(elastic: list[SimulatedGroup]) -> Iterator[str]:
    models: dict[str, set[str]] = {}
    for simulated in elastic:
        group = simulated.group
        if group.reservation:
            yield f"pools.{group.pool}.reservation: reserved capacity is not played under Karpenter."
        if group.gpu_resource:
            models.setdefault(group.pool, set()).add(group.instances[0].gpu_model)
    for pool, labels in {each.group.pool: each.group.labels for each in elastic}.items():
        if len(pool) > NAME_MAX:
            yield f"pools.{pool}: the name has {len(pool)} characters; that of a NodePool has at most {NAME_MAX}."
        for key in labels:
            domain = key.partition("/")[0]
            if key == WellKnownLabel.HOSTNAME or domain == _DOMAIN or domain.endswith(f".{_DOMAIN}"):
                yield f"pools.{pool}.labels: Karpenter allows no label {key} on a NodePool."
        if len(found := models.get(pool, set())) > 1:
            yield (
                f"pools.{pool}.instanceTypes: has the GPU models {', '.join(sorted(found))}; nodes of a NodePool share "
                "their labels. Make a pool for each."
            )


def _of_machines(elastic: list[SimulatedGroup]) -> Iterator[str]:
    first: dict[str, SimulatedGroup] = {}
    for simulated in elastic:
        name = simulated.group.instances[0].name
        other = first.setdefault(name, simulated)
        if machine_annotations(other) != machine_annotations(simulated):
            yield (
                f"pools.{simulated.group.pool}: {name} offers other resources than in pool {other.group.pool}; to "
                "Karpenter a machine type has the same ones everywhere."
            )
