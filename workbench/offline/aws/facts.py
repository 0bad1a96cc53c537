"""Facts about each AWS input and the effect of changing it, from ``facts.json``, read on first use.

``tools/facts/aws.py`` generates that file and says which facts come from which source; ``facts.schema.json`` describes
it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
        Effect of changing it: update, replace, replace if removed, replace once set, replace if exchanged; ignored
        is an update that never reaches AWS, unread is taken for an update.
    removal
        What leaving it out does: clears its value or goes back to a default, keeps (AWS's value counts and nothing is
        planned), never cleared (an update that leaves the old value in AWS); required cannot be left out.
    is_read_back
        Whether a refresh reads it from AWS.
    by
        Marks of change, removal and reading: keys of ``Facts.sources``.
    """

    path: str
    kind: str
    required: bool
    change: str
    removal: str = "clears"
    is_read_back: bool = True
    by: Sequence[str] = ()


@dataclass(frozen=True)
class ResourceFacts:
    """Facts about one type.

    Parameters
    ----------
    source
        File of the upstream provider, hashicorp/terraform-provider-aws.
    copy_of
        Year of the copy of that file that was read.
    replacement
        Order of a replacement: new first, old first if named (by the program), old first; and its mark.
    calls
        Stage, request, input that a change sends it for, and mark.
    retries
        Request, error code, part of its message and seconds for which the real plug-in sends it again.
    retries_by
        Mark of ``retries``.
    rows
        The fields of ``Input``, one list per input, outer inputs before inner ones.
    commit
        Of the copy, empty if it is not known.
    deleted_first
        The old resource is always deleted before the new one is made.
    recomputed
        Outputs that any update in place makes unknown again.
    cleared_with
        What to give instead of leaving an input out, so that its value goes.
    notes
        Conditions of facts, by input.
    later
        Inputs newer than the copy: path, link to the source about changes, and date of that source.
    """

    source: str
    copy_of: int
    replacement: tuple[str, str]
    calls: list[list[str]]
    retries: list[list[Any]]
    retries_by: str
    rows: list[list[Any]]
    commit: str = ""
    deleted_first: bool = False
    recomputed: tuple[str, ...] = ()
    cleared_with: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
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
    sources
        Where a fact is from, by its mark; ``assumed`` is from nowhere.
    resources
        By type token, such as ``aws:eks/nodeGroup:NodeGroup``.
    """

    read_on: str
    release: str
    sources: Mapping[str, str]
    resources: Mapping[str, ResourceFacts]


@cache
def facts() -> Facts:
    """Return the facts; the file is read once."""
    data = json.loads(DATA.read_bytes())
    resources = {type_: ResourceFacts(**each) for type_, each in data["resources"].items()}
    return Facts(data["read_on"], data["release"], data["sources"], resources)


def resource(type_: str) -> ResourceFacts:
    """Return the facts about a type.

    Raises
    ------
    KeyError
        The type is unknown.
    """
    return facts().resources[type_]
