"""The facts about each type's inputs, ready to be looked up."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from workbench.offline.azure.facts import FACTS, IDS, OUTPUTS, VALUES
from workbench.offline.input_paths import inside

TABLE: Final = "tools/facts/azure.py"
"""The file to extend with a type that is not known yet."""


@dataclass(frozen=True)
class Input:
    """One input of a type.

    Parameters
    ----------
    path
        Such as ``networkProfile.podCidr``, ``agentPoolProfiles[].count`` or ``addonProfiles{}.enabled``.
    kind
        string, integer, number, boolean, object, list, map; keys for a list that Azure takes as a map with empty
        values; resource for what holds whole other resources, any for what may be anything.
    required
        Whether the object that it belongs to must have it.
    change
        What a change of it does: update or replace.
    place
        Where it is in Azure's form of the object around it, such as ``properties.count``; in braces a part of the id.
    values
        Name of its enumeration, empty if it has none.
    """

    path: str
    kind: str
    required: bool
    change: str
    place: str
    values: str

    @property
    def is_in_id(self) -> bool:
        """Whether it is a part of the id, and so not of the body."""
        return self.place.startswith("{")

    @property
    def allowed(self) -> tuple[str | int, ...]:
        """The values that it may have; empty if any will do."""
        return VALUES[self.values] if self.values else ()


@cache
def inputs_of(type_: str) -> Mapping[str, Input]:
    """Return the inputs of a type by path.

    Raises
    ------
    KeyError
        The type is not in the table.
    """
    return {row[0]: Input(*row) for row in FACTS[type_]}


@cache
def children(type_: str, path: str) -> Mapping[str, Input]:
    """Return the inputs directly inside an object, or inside the objects of a list or a map, by their own name.

    Parameters
    ----------
    path
        Empty for the inputs of the resource itself.
    """
    known = inputs_of(type_)
    return {name: known[found] for name, found in inside(known, path).items()}


@cache
def azures_own(type_: str, path: str) -> frozenset[str]:
    """Return the names of what only Azure says, directly inside an object; ``path`` as in ``children``."""
    return frozenset(inside(OUTPUTS[type_], path))


@cache
def names(type_: str) -> tuple[str, ...]:
    """Return the inputs that are in a type's id, outermost first."""
    return tuple(name for name in re.findall(r"{(\w+)}", IDS[type_]) if name in inputs_of(type_))
