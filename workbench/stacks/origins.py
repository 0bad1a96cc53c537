"""Where the values of a stack's settings come from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from components.stack_files.inheritance import Inherited
from components.stack_files.yaml_source import Source
from infra.config import CONFIG_KEY, KeyPath


@dataclass(frozen=True)
class Origin:
    """The line of a file that sets a value.

    Parameters
    ----------
    file, line
        The stack file or its base, as messages show it.
    stacks
        The stacks for which the base sets it, such as ``eks, prod``; empty for all, and in the stack file.
    """

    file: str
    line: int
    stacks: str = ""

    @override
    def __str__(self) -> str:
        """Return file and line in the form that editors and terminals can jump to."""
        return f"{self.file}:{self.line}" + (f" ({self.stacks})" if self.stacks else "")


def resolved(document: Any, found: Inherited) -> Any:
    """Return the document of a stack file with the settings of its base in place."""
    if found.settings is found.own:
        return document
    return {**document, "config": {**document["config"], CONFIG_KEY: found.settings}}


def origins_of(source: Source, below: KeyPath, found: Inherited, names: tuple[str, str]) -> dict[KeyPath, Origin]:
    """Return what sets each value of a stack's settings, by its path in them.

    Parameters
    ----------
    source, below
        The stack file, and the path of the settings in it.
    found
        The settings.
    names
        The stack file and its base, as messages show them.
    """
    own = {path[len(below) :]: place.line for path, place in source.positions.items() if path[: len(below)] == below}
    file, base = names
    return {path: _in_base(found, path, base) or Origin(file, own[path]) for path in _paths(found.settings)}


def _in_base(found: Inherited, path: KeyPath, base: str) -> Origin | None:
    place = found.in_base(path)
    if place is None or found.source is None:
        return None
    return Origin(base, found.source.position(place).line, found.layers[int(place[1])].stacks)


def _paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    entries = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from _paths(entry, (*path, key))
