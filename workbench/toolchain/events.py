"""Events that a build reports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Waiting:
    """Another process, ``pid``, is building; this one waits for it."""

    pid: int


@dataclass(frozen=True)
class Started:
    """A program's build starts: number ``number`` of ``total``, ``expected`` seconds when nothing is cached."""

    artifact: str
    number: int
    total: int
    expected: int


@dataclass(frozen=True)
class Running:
    """A program's build has run for ``elapsed`` seconds; sent about once a second."""

    artifact: str
    elapsed: float


@dataclass(frozen=True)
class Finished:
    """A program is built: ``size`` bytes after ``elapsed`` seconds."""

    artifact: str
    elapsed: float
    size: int


@dataclass(frozen=True)
class Completed:
    """Everything is built: size in bytes of each new file, and bytes freed from the Go build cache."""

    sizes: Mapping[str, int]
    freed: int


Event = Waiting | Started | Running | Finished | Completed
Progress = Callable[[Event], None]


def silent(_: Event) -> None:
    """Report nothing."""
