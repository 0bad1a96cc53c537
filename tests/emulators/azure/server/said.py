"""What sources say of writes: what Azure keeps if it is left out, and what it does not let change.

The statements are those of ``workbench/offline/azure/facts.json``, each with its source or marked assumed; this module
finds them by the names on the wire.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from workbench.offline.azure.facts import resource
from workbench.offline.azure.inputs import inputs_of


@dataclass(frozen=True)
class Fixed:
    """A member of a body that Azure does not let change.

    Parameters
    ----------
    path
        Such as ``properties.vmSize``.
    to
        It may not change to this value alone. Default: to any.
    """

    path: str
    to: bool | str | None = None

    def is_changed(self, before: Any, after: Any) -> bool:
        """Return whether this is a change that Azure refuses."""
        return before != after and (self.to is None or after == self.to)


@cache
def fixed(type_: str) -> tuple[Fixed, ...]:
    """Return what Azure refuses to change of a type, by its token."""
    refused = [each for each in resource(type_).says if (each.question, each.answer) == ("change", "refused")]
    places = {path: place for place, path in _paths(type_).items()}
    return tuple(Fixed(places[path], each.to) for each in refused for path in each.of if path in places)


def merged(type_: str, old: Mapping[str, Any], sent: Mapping[str, Any], where: str = "properties") -> dict[str, Any]:
    """Return an object of a body as Azure keeps it: what was sent, over what was there and is not reset.

    Parameters
    ----------
    where
        Place of the object in the body.
    """
    known = _paths(type_)
    kept = {name: value for name, value in old.items() if name in sent or not _is_reset(type_, f"{where}.{name}")}
    for name, value in sent.items():
        path = known.get(f"{where}.{name}", "")
        kind = inputs_of(type_)[path].kind if path else ""
        before = kept.get(name)
        if value is None:
            continue
        if kind == "map" and isinstance(before, dict) and f"{path}{{}}" in _around(type_):
            inner = {
                key: merged(type_, before.get(key, {}), each, f"{where}.{name}{{}}") for key, each in value.items()
            }
            kept[name] = {**before, **inner}
        elif kind == "object" and isinstance(before, dict):
            kept[name] = merged(type_, before, value, f"{where}.{name}")
        else:
            kept[name] = value
    return deepcopy(kept)


def _is_reset(type_: str, place: str) -> bool:
    path = _paths(type_).get(place, "")
    return bool(path) and resource(type_).if_absent(path) == "resets"


@cache
def _paths(type_: str) -> Mapping[str, str]:
    """Return the paths of inputs by their place in the body."""
    places: dict[str, str] = {}
    for path, known in inputs_of(type_).items():
        if known.is_in_id:
            continue
        outer, _, _ = path.rpartition(".")
        bare = outer.removesuffix("[]").removesuffix("{}")
        places[path] = f"{places[bare]}{outer[len(bare) :]}.{known.place}" if outer else known.place
    return {place: path for path, place in places.items()}


@cache
def _around(type_: str) -> frozenset[str]:
    """Return the paths of what inputs are in, with the marks of lists and maps."""
    return frozenset(path.rpartition(".")[0] for path in inputs_of(type_))
