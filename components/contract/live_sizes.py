"""Live sizes of node groups, which ``igz-clusters`` reads and the program sets on the groups that replace them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter

from components.contract.groups import NodeGroup

LIVE_SIZES_VARIABLE: Final = "IGZ_CLUSTERS_LIVE_SIZES"
"""Environment variable with the sizes as JSON. Without it a group starts with its minimum."""

_SIZES: Final = TypeAdapter(dict[str, int])


def dump(sizes: Mapping[str, int]) -> str:
    """Return nodes by group name as the variable's text."""
    return json.dumps(dict(sizes), sort_keys=True)


def load(text: str) -> dict[str, int]:
    """Return nodes by group name from the variable's text; empty for no text.

    Raises
    ------
    ValueError
        The text is something else.
    """
    return _SIZES.validate_json(text) if text else {}


def with_live_sizes(groups: Iterable[NodeGroup], sizes: Mapping[str, int]) -> tuple[NodeGroup, ...]:
    """Return the groups, each with as many nodes at its creation as the group of its name has now.

    The engine creates a replacement with the declared size before it deletes the old group. With the minimum size, the
    pods of the old nodes would have no place to run. This does not change the size of a group that is not replaced.

    Parameters
    ----------
    groups
        The declared groups.
    sizes
        Nodes by group name. A group of fixed size keeps its own, and an elastic one stays within its bounds.
    """
    return tuple(replace(group, live_nodes=sizes.get(group.name)) for group in groups)
