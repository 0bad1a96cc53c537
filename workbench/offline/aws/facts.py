"""Facts about each AWS input and the effect of changing it, from ``facts.json``, read on first use.

``tools/facts/aws.py`` generates that file and says which facts come from which source.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from workbench.offline.facts import Facts, Resource, read

DATA: Final = Path(__file__).with_name("facts.json")


@dataclass(frozen=True, kw_only=True)
class ResourceFacts(Resource):
    """Facts about one type.

    Parameters
    ----------
    deleted_first
        The old resource is always deleted before the new one is created.
    recomputed
        Outputs that any update in place makes unknown again.
    defaults
        Values that the plug-in uses for inputs that are left out, by path.
    """

    deleted_first: bool = False
    recomputed: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


@cache
def facts() -> Facts[ResourceFacts]:
    """Return the facts; the file is read once."""
    return read(DATA, ResourceFacts)


def resource(type_: str) -> ResourceFacts:
    """Return the facts about a type; ``KeyError`` if it is unknown."""
    return facts().resources[type_]
