"""What a build reports while it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Waiting:
    """Another process builds; this one waits for it (``pid`` is that process)."""

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
    """A program's build goes on since ``elapsed`` seconds; sent about once a second."""

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
    """All is built: bytes of every new file by name, and bytes of Go build cache that were given back."""

    sizes: Mapping[str, int]
    freed: int


Event = Waiting | Started | Running | Finished | Completed
Progress = Callable[[Event], None]


def silent(_: Event) -> None:
    """Report nothing."""
