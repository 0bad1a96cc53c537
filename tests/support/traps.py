"""Traps of clouds: a check over what a program declares, and ways to break a program that passes it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from support.recorder import Recorder

Break = Callable[[Recorder], object]


@dataclass(frozen=True)
class Trap:
    """One trap: what is wrong with a program, if anything, and ways to break a right one."""

    check: Callable[[Recorder], Iterator[str]]
    breaks: tuple[Break, ...]


def edit(token: str, name: str, change: Callable[[dict[str, Any]], object]) -> Break:
    """Return the breakage that edits the inputs of a resource in place."""

    def apply(recorder: Recorder) -> None:
        change(recorder.of_type(token)[name])

    return apply


def drop(token: str, name: str) -> Break:
    """Return the breakage that leaves a resource out."""

    def apply(recorder: Recorder) -> None:
        assert name in recorder.of_type(token)
        recorder.resources[:] = [r for r in recorder.resources if (r.type, r.name) != (token, name)]

    return apply


def option(token: str, name: str, **changes: Any) -> Break:
    """Return the breakage that sends the engine other inputs of a resource."""

    def apply(recorder: Recorder) -> None:
        old = recorder.options[token, name]
        recorder.options[token, name] = type(old)(**{**vars(old), **changes})

    return apply
