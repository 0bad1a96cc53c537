"""Hints about GPUs: no pool, another name, too many for one machine, and helpers that request none."""

from collections.abc import Iterator
from typing import Final

from components.contract.gpus import is_part_of_gpu
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from infra.config.problems import did_you_mean
from workbench.rehearsal.record import PodRecord
from workbench.rehearsal.verdicts.miss import Finders, Miss, machine_path, named, such_as
from workbench.rehearsal.verdicts.specs import demands, devices, taint_of, untolerated
from workbench.rehearsal.verdicts.verdict import Hint


def no_gpu_pool(miss: Miss) -> Iterator[Hint]:
    """Recognise that a pod requests a GPU, or selects GPU nodes, and the stack has no such pool."""
    if any(group.gpus for group in miss.record.groups):
        return
    for pod in miss.shapes:
        asked = devices(pod.spec)
        if asked or pod.gpus or PoolRole.GPU.value in demands(pod.spec).get(LabelKey.ROLE.value, ()):
            what = ", ".join(f"{count} {name}" for name, count in asked.items()) or "GPU nodes"
            yield Hint(
                cause=f"{named(pod)} requests {what}, and the stack has no pool of role gpu.",
                action="Add a pool of role gpu.",
                path="pools",
            )


def other_name(miss: Miss) -> Iterator[Hint]:
    """Recognise that the GPUs have another resource name than the pod requests."""
    offered = {group.gpu_resource: group.pool for group in miss.record.groups if group.gpu_resource}
    if not offered:
        return
    first, pool = next(iter(offered.items()))
    for pod in miss.shapes:
        for name in devices(pod.spec):
            if name in offered:
                continue
            change, path = f"set gpuResource: {name} on a GPU pool", f"pools.{pool}.gpuResource"
            if is_part_of_gpu(name):
                change, path = f"set sharing so that a GPU pool offers {name}", f"pools.{pool}.sharing"
            elif is_part_of_gpu(first):
                change, path = "add a GPU pool without sharing", "pools"
            yield Hint(
                cause=f"{named(pod)} requests {name}, which no pool offers; the GPU pools offer "
                f"{', '.join(offered)}{did_you_mean(name, offered) or '.'}",
                action=f"Request {first}, or {change}.",
                path=path,
            )


def too_many(miss: Miss) -> Iterator[Hint]:
    """Recognise that one pod requests more GPUs than any machine has."""
    for pod in miss.shapes:
        for name, count in devices(pod.spec).items():
            groups = [group for group in miss.record.groups if group.gpu_resource == name]
            if groups and count > (pool := max(groups, key=lambda group: group.gpus)).gpus:
                if is_part_of_gpu(name):
                    yield Hint(
                        cause=f"A pod of {named(pod)} requests {count} {name}, and a node of {pool.pool} has "
                        f"{pool.gpus}.",
                        action="Request 1: a pod that needs more than a slice runs better on whole GPUs.",
                        path=f"pools.{pool.pool}.sharing",
                    )
                    continue
                yield Hint(
                    cause=f"A pod of {named(pod)} requests {count} {name}, and the largest machine of the GPU pools, "
                    f"{pool.instance_type}, has {pool.gpus}.",
                    action=f"Add a machine type with {count} GPUs to the pool{such_as(pool, pod)}, or request fewer "
                    "GPUs for each pod.",
                    path=machine_path(pool),
                )


def helper_on_gpu_nodes(miss: Miss) -> Iterator[Hint]:
    """Recognise that a pod without a GPU, such as an MPI launcher, selects GPU nodes, whose taint keeps it off."""
    for pod in miss.shapes:
        selected = demands(pod.spec).get(LabelKey.ROLE.value, ()) + demands(pod.spec).get(LabelKey.POOL.value, ())
        groups = [group for group in miss.record.groups if group.gpus and {group.role, group.pool} & set(selected)]
        if groups and not devices(pod.spec) and not pod.gpus and _keeps_off(pod, miss):
            is_role = PoolRole.GPU.value in demands(pod.spec).get(LabelKey.ROLE.value, ())
            yield Hint(
                cause=f"{pod.name} requests no GPU but selects GPU nodes, whose taint "
                f"{untolerated(pod.spec, groups[0])[0]} it does not tolerate"
                + ("; a launcher needs no GPU." if "launcher" in pod.name else "."),
                action="Remove the selector: the request for a GPU alone leads workers to GPU nodes.",
                path=miss.selector(pod, LabelKey.ROLE if is_role else LabelKey.POOL),
            )


def _keeps_off(pod: PodRecord, miss: Miss) -> bool:
    with_gpu = [group for group in miss.record.groups if group.gpus]
    return any(
        group.gpu_resource in [taint_of(each).key for each in untolerated(pod.spec, group)] for group in with_gpu
    )


def gpu_elsewhere(miss: Miss) -> Iterator[Hint]:
    """Recognise that a pod requests a GPU but selects a role or pool whose nodes have none."""
    for pod in miss.shapes:
        names = set(devices(pod.spec))
        with_gpu = [group for group in miss.record.groups if group.gpu_resource in names]
        for key in (LabelKey.ROLE.value, LabelKey.POOL.value):
            wanted = demands(pod.spec).get(key, ())
            selected = [group for group in miss.record.groups if group.labels.get(key) in wanted]
            if with_gpu and selected and not any(group in selected for group in with_gpu):
                groups = ", ".join(dict.fromkeys(group.pool for group in with_gpu))
                yield Hint(
                    cause=f"{named(pod)} requests a GPU and selects {key}: {wanted[0]}, whose nodes have none; "
                    f"pool {groups} has {key}: {with_gpu[0].labels.get(key, 'no such label')}.",
                    action="Remove the selector: the request for a GPU alone leads to GPU nodes.",
                    path=miss.selector(pod, key),
                )


FINDERS: Final[Finders] = (
    no_gpu_pool,
    other_name,
    too_many,
    helper_on_gpu_nodes,
    gpu_elsewhere,
)
