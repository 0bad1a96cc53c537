"""Facts about each AWS input and the effect of changing it, from ``facts.json``, read on first use.

``tools/facts/aws.py`` generates that file and says which facts come from which source; ``facts.schema.json`` describes
it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).with_name("facts.json")


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
        Effect of changing it: update, replace, replace if removed, replace once set, replace if exchanged, unread.
    """

    path: str
    kind: str
    required: bool
    change: str


@dataclass(frozen=True)
class ResourceFacts:
    """Facts about one type.

    Parameters
    ----------
    source
        File of the upstream provider, hashicorp/terraform-provider-aws.
    copy_of
        Year of the copyright line of the copy that was read.
    rows
        The fields of ``Input``, one list per input, outer inputs before inner ones.
    deleted_first
        The old resource is always deleted before the new one is made.
    recomputed
        Outputs that any update in place makes unknown again.
    later
        Inputs newer than the copy: path, link to the source about changes, and date of that source.
    """

    source: str
    copy_of: int
    rows: list[list[Any]]
    deleted_first: bool = False
    recomputed: tuple[str, ...] = ()
    later: tuple[tuple[str, str, str], ...] = ()

    @cached_property
    def inputs(self) -> Mapping[str, Input]:
        """The inputs by path."""
        return {row[0]: Input(*row) for row in self.rows}


@dataclass(frozen=True)
class Facts:
    """The facts of one release.

    Parameters
    ----------
    read_on
        Date on which the upstream sources were last read.
    release
        Of ``pulumi-aws``, whose classes were read.
    resources
        By type token, such as ``aws:eks/nodeGroup:NodeGroup``.
    """

    read_on: str
    release: str
    resources: Mapping[str, ResourceFacts]


@cache
def facts() -> Facts:
    """Return the facts; the file is read once."""
    data = json.loads(DATA.read_bytes())
    resources = {type_: ResourceFacts(**each) for type_, each in data["resources"].items()}
    return Facts(data["read_on"], data["release"], resources)


def resource(type_: str) -> ResourceFacts:
    """Return the facts about a type.

    Raises
    ------
    KeyError
        The type is unknown.
    """
    return facts().resources[type_]
