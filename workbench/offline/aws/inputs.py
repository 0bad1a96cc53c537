"""The facts about each type's inputs, ready to be looked up."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from workbench.offline.aws.facts import FACTS
from workbench.offline.input_paths import inside

TABLE: Final = "tools/facts/aws.py"
"""The file to extend with a type that is not known yet."""


@dataclass(frozen=True)
class Input:
    """One input of a type.

    Parameters
    ----------
    path
        Such as ``scalingConfig.minSize`` or ``taints[].effect``.
    kind
        string, integer, number, boolean, object, list, set or map.
    required
        Whether the object that it belongs to must have it.
    change
        What a change of it does: update, replace, replace if removed, replace once set, replace if exchanged, unread.
    """

    path: str
    kind: str
    required: bool
    change: str


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
    """Return the inputs directly inside an object or inside the objects of a list, by their own name.

    Parameters
    ----------
    path
        Empty for the inputs of the resource itself.
    """
    known = inputs_of(type_)
    return {name: known[found] for name, found in inside(known, path).items()}
