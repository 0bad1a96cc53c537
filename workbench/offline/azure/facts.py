"""Facts about each Azure input, its place and the effect of changing it, from ``facts.json``, read on first use.

``tools/facts/azure.py`` generates that file and says which facts come from which source.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from workbench.offline.facts import Facts, Resource, read

DATA: Final = Path(__file__).with_name("facts.json")


@dataclass(frozen=True, kw_only=True)
class ResourceFacts(Resource):
    """Facts about one type; ``source`` is below ``specification`` of Azure/azure-rest-api-specs.

    Parameters
    ----------
    api_version
        Version of the API that the plug-in uses.
    id
        Path of the ARM id, its parts in braces.
    outputs
        Outputs that only Azure sets: at the top, and inside objects that are inputs.
    kept
        Lists whose elements can also be separate resources: an update without the list keeps them.
    singleton
        Whether Azure creates it with its parent, and it is never deleted.
    forms
        Pattern of a whole name by input.
    """

    api_version: str
    id: str
    outputs: tuple[str, ...]
    kept: tuple[str, ...] = ()
    singleton: bool = False
    forms: Mapping[str, str] = field(default_factory=dict)


@cache
def facts() -> Facts[ResourceFacts]:
    """Return the facts; the file is read once."""
    return read(DATA, ResourceFacts)


def resource(type_: str) -> ResourceFacts:
    """Return the facts about a type; ``KeyError`` if it is unknown."""
    return facts().resources[type_]
