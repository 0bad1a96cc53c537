"""Candidates for the pools of a stack file: sizes, machine types, lifecycle, further pools; and for quotas."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from components.contract.environments import Provider
from components.contract.gpus import DEFAULT_GPU_RESOURCE, RESOURCES, is_part_of_gpu
from components.contract.instances import ARM64, INSTANCE_TYPES, InstanceType
from components.contract.labels import LabelKey, WellKnownLabel
from components.contract.lifecycle import Lifecycle
from components.contract.pool_size import NODES_MAX
from components.contract.pools import NodePool, PoolRole
from components.contract.shapes import preference, unusual
from workbench.rehearsal.advice.candidate import Candidate, fixed, stack_edit
from workbench.rehearsal.record import PodRecord
from workbench.rehearsal.scenario.expectations import AtMost
from workbench.rehearsal.verdicts.hints_capacity import REFUSED_BY_CLOUD
from workbench.rehearsal.verdicts.hints_refusals import needed_quota
from workbench.rehearsal.verdicts.miss import Miss, larger_type, smallest_type
from workbench.rehearsal.verdicts.need import nodes_needed
from workbench.rehearsal.verdicts.nodes import peak
from workbench.rehearsal.verdicts.specs import demands, devices
from workbench.rehearsal.verdicts.verdict import Hint

NEW_POOL_MAX: Final = 4
"""Nodes of a new pool, unless the record shows a need."""

_KEPT_BY_SOURCE: Final = frozenset({"headroom", "warm_pool", "office_hours", "fabric", "close_together", "upgrade"})
"""Fields of a pool that a copy of it does not get."""


def for_stack(miss: Miss, hint: Hint) -> Iterator[Candidate]:
    """Yield the changes of the stack file that a hint leads to, likeliest first."""
    section, *rest = hint.path.split(".", 2)
    if section == "pools" and not rest:
        yield from _new_pools(miss, hint)
    elif section == "pools" and len(rest) > 1 and rest[0] in miss.config.pools:
        if rest[1] in _BY_KEY:
            yield from _BY_KEY[rest[1]](miss, hint, rest[0])
    elif section == "namespaces" and len(rest) > 1:
        yield from _quota(miss, hint, *rest)


def _sized(hint: Hint, name: str, keys: tuple[str, ...], number: int, least: int) -> Candidate:
    """Return the candidate that sets keys of a pool's size to a number."""
    return Candidate(
        lambda each: tuple(stack_edit(hint.cause, each, "pools", name, "size", key) for key in keys), number, least
    )


def _max(miss: Miss, hint: Hint, name: str) -> Iterator[Candidate]:
    """Raise the maximum to the need, or lower it to an upper bound; for a fixed size, raise the minimum with it."""
    size = miss.config.pools[name].size
    if isinstance(miss.expectation, AtMost):
        bound = miss.expectation.nodes if miss.expectation.nodes is not None else size.max // 2
        low = max(size.min, 1)
        if low <= min(bound, size.max - 1):
            most = max(low, min(bound, size.max - 1))
            yield _sized(hint, name, ("max",), most, most)
        return
    need = min(NODES_MAX, max(_need(miss, name), size.max + 1))
    if size.is_elastic or not miss.config.pools[name].role.is_static:
        yield _sized(hint, name, ("max",), need, size.max + 1)
    if not size.is_elastic:
        yield _sized(hint, name, ("max", "min"), need, size.max + 1)


def _need(miss: Miss, name: str) -> int:
    """Return the number of nodes that the work needs; for a pool with a group per zone, that number for each zone."""
    zones = {group.zone for group in miss.record.groups if group.pool == name and group.zone}
    need = nodes_needed(miss.record, miss.scenario, name) * max(1, len(zones))
    gpus = max((group.gpus for group in miss.record.groups if group.pool == name), default=0)
    gangs = [
        math.ceil(work.workers / max(1, gpus // work.devices))
        for each in miss.finding.refusals
        if (work := miss.scenario.works.get(each.work)) and work.devices and gpus
    ]
    return max([need, *gangs])


def _min(miss: Miss, hint: Hint, name: str) -> Iterator[Candidate]:
    """Keep enough nodes ready, or fewer if hours or costs have an upper bound."""
    size = miss.config.pools[name].size
    if isinstance(miss.expectation, AtMost):
        if size.min:
            yield _sized(hint, name, ("min",), 0, size.min - 1)
        return
    used = peak([node for node in miss.record.nodes if node.pool == name], miss.record.lasts)
    enough = min(size.max, max(used, _need(miss, name), size.min + 1))
    if enough > size.min:
        yield _sized(hint, name, ("min",), enough, size.min + 1)


def _types(miss: Miss, hint: Hint, name: str) -> Iterator[Candidate]:
    """Add a type on which the pods fit, or one of another family for one that the cloud refuses."""
    pool = miss.config.pools[name]
    groups = [group for group in miss.record.groups if group.pool == name]
    is_refused = REFUSED_BY_CLOUD in hint.cause
    # A reservation, a fast network and a placement group allow only one type.
    for pod in miss.shapes[:2] if not (pool.reservation or pool.fabric or pool.close_together) else ():
        larger = larger_type(groups[0], pod) if groups and not is_refused else None
        for kind in (larger, _other_family(pool) if is_refused else None):
            if kind is None or kind.name in pool.instance_types:
                continue
            types = [*pool.instance_types, kind.name]
            is_mixed = kind.shape != pool.instances[0].shape
            if not is_mixed or (pool.size.is_elastic and not pool.role.is_static):
                yield fixed(stack_edit(hint.cause, types, "pools", name, "instanceTypes"))
            if is_mixed:
                yield fixed(stack_edit(hint.cause, [kind.name], "pools", name, "instanceTypes"))
    if is_refused and (other := _other_family(pool)):
        yield _copy(miss, hint, name, f"{name}2", instanceTypes=[other.name])


def _other_family(pool: NodePool) -> InstanceType | None:
    """Return a machine type of the same shape and another family, by name."""
    known = {name.partition(".")[0] for name in pool.instance_types}
    first = pool.instances[0]
    alike = [
        each
        for each in INSTANCE_TYPES.values()
        if (each.shape, each.provider) == (first.shape, first.provider)
        and each.name.partition(".")[0] not in known
        and each.name not in pool.instance_types
        and unusual(each) <= first.variants
        and (each.offers_spot or pool.lifecycle is not Lifecycle.SPOT)
    ]
    return min(alike, key=preference, default=None)


def _lifecycle(miss: Miss, hint: Hint, name: str) -> Iterator[Candidate]:
    pool = miss.config.pools[name]
    if pool.lifecycle is Lifecycle.RESERVED:  # nothing else is in its reservation
        return
    other = Lifecycle.SPOT if pool.lifecycle is Lifecycle.ON_DEMAND else Lifecycle.ON_DEMAND
    yield fixed(stack_edit(hint.cause, other.value, "pools", name, "lifecycle"))


def _zonal(miss: Miss, hint: Hint, name: str) -> Iterator[Candidate]:
    if not miss.config.pools[name].zonal:
        yield fixed(stack_edit(hint.cause, True, "pools", name, "zonal"))  # noqa: FBT003 it is the key's value


def _gpu_name(miss: Miss, hint: Hint, name: str) -> Iterator[Candidate]:
    for pod in miss.shapes[:1]:
        for asked in devices(pod.spec) if not miss.config.pools[name].sharing else ():
            yield fixed(stack_edit(hint.cause, asked, "pools", name, "gpuResource"))


_BY_KEY: Final[Mapping[str, Callable[[Miss, Hint, str], Iterator[Candidate]]]] = {
    "size.max": _max,
    "size.min": _min,
    "instanceTypes": _types,
    "lifecycle": _lifecycle,
    "zonal": _zonal,
    "gpuResource": _gpu_name,
}


def _new_pools(miss: Miss, hint: Hint) -> Iterator[Candidate]:
    """Yield the pool that is missing: for GPUs, of another lifecycle, architecture or role."""
    for pod in miss.shapes[:1]:
        wanted = demands(pod.spec)
        roles = wanted.get(LabelKey.ROLE.value, ())
        if devices(pod.spec) or pod.gpus or PoolRole.GPU.value in roles:
            yield from _gpu_pool(miss, hint, pod)
            continue
        source = _source(miss)
        if source is None:
            continue
        for kind in Lifecycle:
            if kind is not Lifecycle.RESERVED and wanted.get(LabelKey.LIFECYCLE.value) == (kind.label_value,):
                yield _copy(miss, hint, source, kind.value.replace("-", ""), lifecycle=kind.value)
        for architecture in wanted.get(WellKnownLabel.ARCH.value, ()):
            if machine := _of_architecture(miss.config.pools[source], architecture):
                yield _copy(miss, hint, source, architecture.removesuffix("64"), instanceTypes=[machine.name])
        for role in roles:
            if role in (PoolRole.WORKLOAD.value, PoolRole.JUPYTER.value):
                yield _copy(miss, hint, source, role, role=role, lifecycle=Lifecycle.ON_DEMAND.value)


def _source(miss: Miss) -> str | None:
    """Return the user pool that a new one is copied from: the first for plain jobs."""
    users = [name for name, pool in miss.config.pools.items() if pool.role.takes_plain_jobs]
    return next(iter(users), None)


def _of_architecture(pool: NodePool, architecture: str) -> InstanceType | None:
    first = pool.instances[0]
    alike = [
        each
        for each in INSTANCE_TYPES.values()
        if each.provider == first.provider
        and each.architecture == architecture
        and each.shape[:3] == first.shape[:3]
        and unusual(each) <= first.variants
    ]
    return min(alike, key=preference, default=None)


def _gpu_pool(miss: Miss, hint: Hint, pod: PodRecord) -> Iterator[Candidate]:
    users = [pool for pool in miss.config.pools.values() if pool.instance_types]
    provider = users[0].instances[0].provider if users else Provider.AWS
    count = max(devices(pod.spec).values(), default=pod.gpus) or 1
    resource = next(iter(devices(pod.spec)), DEFAULT_GPU_RESOURCE)
    if is_part_of_gpu(resource):  # the author must choose the size of the part
        return
    fits = (
        each
        for each in INSTANCE_TYPES.values()
        if each.provider == provider
        and each.gpus >= count
        and each.architecture != ARM64
        and not unusual(each)
        and RESOURCES.get(each.gpu_maker) == DEFAULT_GPU_RESOURCE
    )
    kind = smallest_type(pod, fits)
    if kind is None:
        return
    pods = [each for each in miss.record.pods if each.gpus or devices(each.spec)]
    most = max(NEW_POOL_MAX, math.ceil(len(pods) * count / kind.gpus))

    def made(number: int) -> tuple[Any, ...]:
        pool = {"role": "gpu", "size": {"min": 0, "max": number}, "instanceTypes": [kind.name]}
        own = {} if resource == DEFAULT_GPU_RESOURCE else {"gpuResource": resource}
        return (stack_edit(hint.cause, pool | own, "pools", _free(miss, "gpu")),)

    yield Candidate(made, min(NODES_MAX, most), 1)


def _copy(miss: Miss, hint: Hint, source: str, name: str, **changes: Any) -> Candidate:
    """Return a new pool like another, elastic from zero, with some keys changed.

    It does not get the source's reservation, nor the settings that fit only the source: headroom, standby machines,
    office hours, fast network, placement and limits of upgrades.
    """
    pool = miss.config.pools[source]
    left = {"size", "labels", *_KEPT_BY_SOURCE, *(("lifecycle", "zone", "reservation") if pool.reservation else ())}
    own = pool.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=left)
    size = {"min": 0, "max": max(pool.size.max, 1)}
    role, rest = own.pop("role"), own
    return fixed(
        stack_edit(hint.cause, {"role": role, **rest, "size": size} | changes, "pools", _free(miss, name)),
    )


def _free(miss: Miss, name: str) -> str:
    """Return a pool's name that is not taken; without '-', which AKS does not allow."""
    taken = miss.config.pools
    return next(each for each in (name, *(f"{name}{number}" for number in range(2, 1000))) if each not in taken)


def _quota(miss: Miss, hint: Hint, namespace: str, key: str) -> Iterator[Candidate]:
    """Raise the quota to what was in use plus what was refused."""
    resource = key.removeprefix("quota.")
    need = max((needed_quota(miss, each.work, resource) for each in miss.finding.refusals), default=0.0)
    if not need or resource not in ("cpu", "memory", "gpus", "gpuSlices"):
        return
    value: Any = math.ceil(need)
    if resource == "memory":
        value = f"{math.ceil(need / 2**30)}Gi"
    elif resource == "cpu":
        value = str(value)
    yield fixed(stack_edit(hint.cause, value, "namespaces", namespace, "quota", resource))
