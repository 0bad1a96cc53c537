"""Compares pools before and after, from the stack's outputs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from workbench.prices.stack_cost import HOURS_A_MONTH
from workbench.report.event_payloads import State
from workbench.report.events import STACK_TYPE, Stream
from workbench.report.model import Hours, PoolChange, ResourceHours
from workbench.report.values import safe

_OUTPUT: Final = "pools"
"""Name of the output, written by ``infra.outputs``."""


class Group(BaseModel):
    """A node group as the stack's output describes it."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)

    pool: str
    role: str
    lifecycle: str
    min: int = Field(ge=0, le=1_000_000)
    max: int = Field(ge=0, le=1_000_000)
    instance_types: list[str]
    labels: dict[str, str]
    taints: list[str]
    vcpus: int | None = Field(None, ge=0, le=1_000_000)
    """Per node, like the next two; None in outputs of older releases."""
    gpus: int | None = Field(None, ge=0, le=1_000_000)
    gpu_model: str = ""


Groups: TypeAlias = Mapping[str, Group]
"""Node groups by name."""

_GROUPS: Final = TypeAdapter(dict[str, Group])


class UnreadableError(ValueError):
    """The output exists but is not a map of node groups."""


def before_and_after(stream: Stream) -> tuple[Groups | None, Groups | None]:
    """Return the node groups before and after; None if the stack has no such output.

    Raises
    ------
    UnreadableError
        An output has an unexpected form.
    """
    of_the_stack = [step for step in stream.results if step.token == STACK_TYPE]
    if not of_the_stack:
        return None, None
    old = next((step.old for step in of_the_stack if step.old and _OUTPUT in step.old.outputs), None)
    last = of_the_stack[-1]
    before, after = groups_of(old), {} if last.op == "delete" else groups_of(last.new)
    if before and after and _is_list(old) and not _is_list(last.new):
        before = _in_names_of(after, before)
    return before, after


def groups_of(state: State | None) -> Groups | None:
    """Return the groups in a stack's outputs; None if it has no such output.

    Raises
    ------
    UnreadableError
        The output is something else.
    """
    if state is None or _OUTPUT not in state.outputs:
        return None
    try:
        return _GROUPS.validate_python(_by_name(state) if _is_list(state) else state.outputs[_OUTPUT])
    except (ValidationError, KeyError, TypeError):
        raise UnreadableError from None


def _is_list(state: State | None) -> bool:
    return state is not None and isinstance(state.outputs.get(_OUTPUT), list)


def _by_name(state: State) -> dict[str, Any]:
    """Return the groups by name from a list, which releases up to 0.2.0 wrote."""
    return {group["name"]: {"pool": group["name"], **group} for group in state.outputs[_OUTPUT]}


def _in_names_of(after: Groups, before: Groups) -> Groups:
    """Return the groups of such a list under their current names.

    It predates the split of groups by zone and machine type. What it did not contain counts as unchanged.
    """
    old, new = ({group.pool for group in groups.values()} for groups in (before, after))
    kept = {name: before.get(name, group) for name, group in after.items() if group.pool in old}
    return kept | {name: group for name, group in before.items() if group.pool not in new}


def differences(before: Groups | None, after: Groups) -> tuple[PoolChange, ...]:
    """Return the differences by group; without ``before`` every group is new."""
    old = before or {}
    return tuple(
        sorted(change for name in old.keys() | after.keys() for change in _of(name, old.get(name), after.get(name)))
    )


def _of(name: str, old: Group | None, new: Group | None) -> Iterator[PoolChange]:
    if old and new:
        for what, text in _FACTS.items():
            if text(old) != text(new):
                yield PoolChange(safe(name), what, safe(text(old)), safe(text(new)))
        kept = old.labels.items() & new.labels.items()
        if old.labels != new.labels:
            yield PoolChange(safe(name), "labels", *(_labels(group.labels.items() - kept) for group in (old, new)))
    elif old or new:
        texts = ("" if group is None else _described(group) for group in (old, new))
        yield PoolChange(safe(name), "pool", *texts)


def _described(group: Group) -> str:
    taints = [f"taint {taint}" for taint in group.taints]
    return safe(", ".join([*(_FACTS[what](group) for what in ("role", "lifecycle", "size", "types")), *taints]))


def size(group: Group) -> str:
    """Return the bounds of a group: ``3``, ``1..10``."""
    return f"{group.min}..{group.max}" if group.min != group.max else str(group.min)


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    return safe(", ".join(f"{key}={value}" for key, value in sorted(labels)))


_FACTS: Final[Mapping[str, Callable[[Group], str]]] = {
    "size": size,
    "types": lambda group: ", ".join(group.instance_types),
    "lifecycle": lambda group: group.lifecycle,
    "role": lambda group: group.role,
    "taints": lambda group: ", ".join(group.taints) or "none",
}


def node_hours(before: Groups | None, after: Groups) -> Hours:
    """Return monthly node-hours, at the smallest and at the largest size of every group."""
    return _hours(_sums(before, lambda _: 1), _sums(after, lambda _: 1) or (0, 0))


def resource_hours(before: Groups | None, after: Groups) -> tuple[ResourceHours, ...]:
    """Return monthly hours of vCPUs and of GPUs by model; empty if the output contains neither."""
    every = [*(before or {}).values(), *after.values()]
    offered: dict[str, Callable[[Group], int | None]] = {"vCPU": lambda group: group.vcpus}
    for model in sorted({group.gpu_model for group in every if group.gpus}):
        offered[f"{model} GPU".strip()] = partial(_gpus, model=model)
    return tuple(
        ResourceHours(safe(name), _hours(_sums(before, count), sums))
        for name, count in offered.items()
        if (sums := _sums(after, count))
    )


def _sums(groups: Groups | None, count: Callable[[Group], int | None]) -> tuple[int, int] | None:
    """Return the hours of the units that ``count`` finds in a node, at the smallest and the largest sizes, or None."""
    least = most = 0
    for group in (groups or {}).values():
        if (number := count(group)) is None:
            return None
        least, most = least + number * group.min, most + number * group.max
    return None if groups is None else (least * HOURS_A_MONTH, most * HOURS_A_MONTH)


def _hours(before: tuple[int, int] | None, after: tuple[int, int]) -> Hours:
    least, most = before or (None, None)
    return Hours(least, most, *after)


def _gpus(group: Group, model: str) -> int | None:
    return group.gpus if group.gpus is None or group.gpu_model == model else 0
