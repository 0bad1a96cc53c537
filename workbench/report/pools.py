"""What becomes of the pools, by the outputs of the stack."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from workbench.report.events import STACK_TYPE, State, Stream
from workbench.report.model import HOURS_A_MONTH, NodeHours, PoolChange
from workbench.report.values import safe

_OUTPUT: Final = "pools"
"""Name of the output, written by ``infra.outputs``."""


class Group(BaseModel):
    """A node group as the stack tells the world about it."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)

    name: str
    role: str
    lifecycle: str
    min: int = Field(ge=0, le=1_000_000)
    max: int = Field(ge=0, le=1_000_000)
    instance_types: list[str]
    labels: dict[str, str]
    taints: list[str]


_GROUPS: Final = TypeAdapter(list[Group])


class UnreadableError(ValueError):
    """The output is there, and is no list of node groups."""


def before_and_after(stream: Stream) -> tuple[list[Group] | None, list[Group] | None]:
    """Return the node groups before and after; None where the stack has no such output.

    Raises
    ------
    UnreadableError
        One of them is something else.
    """
    of_the_stack = [step for step in stream.results if step.token == STACK_TYPE]
    if not of_the_stack:
        return None, None
    old = next((step.old for step in of_the_stack if step.old and _OUTPUT in step.old.outputs), None)
    last = of_the_stack[-1]
    return _groups(old), [] if last.op == "delete" else _groups(last.new)


def _groups(state: State | None) -> list[Group] | None:
    if state is None or _OUTPUT not in state.outputs:
        return None
    try:
        return _GROUPS.validate_python(state.outputs[_OUTPUT])
    except ValidationError:
        raise UnreadableError from None


def differences(before: Iterable[Group] | None, after: Iterable[Group]) -> tuple[PoolChange, ...]:
    """Return what is different, by pool; without a ``before`` every pool is new."""
    old, new = ({group.name: group for group in groups} for groups in (before or (), after))
    return tuple(sorted(change for name in old.keys() | new.keys() for change in _of(old.get(name), new.get(name))))


def _of(old: Group | None, new: Group | None) -> Iterator[PoolChange]:
    if old and new:
        for what, text in _FACTS.items():
            if text(old) != text(new):
                yield PoolChange(safe(new.name), what, safe(text(old)), safe(text(new)))
        kept = old.labels.items() & new.labels.items()
        if old.labels != new.labels:
            yield PoolChange(safe(new.name), "labels", *(_labels(group.labels.items() - kept) for group in (old, new)))
    elif old or new:
        texts = ("" if group is None else _described(group) for group in (old, new))
        yield PoolChange(safe((old or new).name), "pool", *texts)  # type: ignore[union-attr]


def _described(group: Group) -> str:
    return safe(", ".join(_FACTS[what](group) for what in ("role", "lifecycle", "size", "types")))


def _size(group: Group) -> str:
    return f"{group.min}..{group.max}" if group.min != group.max else str(group.min)


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    return safe(", ".join(f"{key}={value}" for key, value in sorted(labels)))


_FACTS: Final[Mapping[str, Callable[[Group], str]]] = {
    "size": _size,
    "types": lambda group: ", ".join(group.instance_types),
    "lifecycle": lambda group: group.lifecycle,
    "role": lambda group: group.role,
    "taints": lambda group: ", ".join(group.taints) or "none",
}


def node_hours(before: Iterable[Group] | None, after: Iterable[Group]) -> NodeHours:
    """Return node-hours a month, at the smallest and at the largest size of every group."""
    old, new = None if before is None else list(before), list(after)
    return NodeHours(
        least_before=None if old is None else sum(group.min for group in old) * HOURS_A_MONTH,
        most_before=None if old is None else sum(group.max for group in old) * HOURS_A_MONTH,
        least_after=sum(group.min for group in new) * HOURS_A_MONTH,
        most_after=sum(group.max for group in new) * HOURS_A_MONTH,
    )
