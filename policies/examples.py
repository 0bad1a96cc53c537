"""The examples of the rules: resources as data, and the expected results of both packs.

A file ``<family>/examples/<id>.yaml`` maps names to examples. A name starts with ``good``, ``bad``, ``unknown`` or
``absent``. An example is a resource (``resource``, ``name``, ``props``, ``opts``) or a ``stack`` of them by name.
``like`` starts from a base, such as ``eks/gpu-group`` of ``bases/eks.yaml``, or from another example of the file;
``but`` changes it: maps are merged, ``null`` drops a key, a map of numbers changes elements of a list by their index,
anything else replaces. In a stack, ``madeFrom`` names the other resources that an input is made from, as the engine
would report them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from policies import rules

FOLDER: Final = Path(rules.__path__[0])
BASES: Final = FOLDER / "bases"

KINDS: Final = ("good", "bad", "unknown", "absent")
"""Kinds of examples of which each rule has at least one."""

UNKNOWN_TEXT: Final = "<unknown>"
"""Represents in examples a value that a preview cannot know."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The faster YAML loader, if PyYAML was built with it: there are hundreds of examples."""

_OUTCOMES: Final = ("expect", "advise", "unjudged")


Identity: TypeAlias = tuple[str, str]
"""Type token and logical name of a resource."""


@dataclass(frozen=True, slots=True)
class Given:
    """One resource as the engine would send it."""

    type: str
    name: str
    props: Any
    opts: Mapping[str, Any]
    """Options in the engine's terms, such as ``protect`` and ``ignoreChanges``."""
    made_from: Mapping[str, tuple[Identity, ...]] = field(default_factory=dict)
    """The resources that each input is made from, by the input's name."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example with its reviewed outcome."""

    rule: str
    """Id of the rule that it illustrates."""
    name: str
    content: Mapping[str, Any]
    """The example with ``like`` and ``but`` applied."""

    @property
    def kind(self) -> str:
        """``good``, ``bad``, ``unknown`` or ``absent``."""
        return self.name.partition("-")[0]

    @property
    def is_stack(self) -> bool:
        """Whether rules about the whole stack check it too."""
        return "stack" in self.content

    @property
    def resources(self) -> list[Given]:
        """Its resources; without a name they are called ``example``."""
        if not self.is_stack:
            return [_given(self.content.get("name", "example"), self.content)]
        stack = {name: _given(one.get("name", name), one) for name, one in self.content["stack"].items()}
        return [
            replace(given, made_from=_made_from(self.content["stack"][name], stack)) for name, given in stack.items()
        ]

    @property
    def outcome(self) -> dict[str, list[str]]:
        """Ids of the rules that are violated, that only advise, and that could not be judged."""
        return {key: sorted(self.content.get(key, [])) for key in _OUTCOMES}

    @property
    def stack_config(self) -> dict[str, Any]:
        """The stack file; default: a production cluster with MLRun CE."""
        defaults = {"environment": "prod", "profile": "mlrun-ce"}
        named = {key: self.content.get(key, default) for key, default in defaults.items()}
        return {**named, **self.content.get("config", {})}


@cache
def load() -> tuple[Example, ...]:
    """Return all examples of all rules."""
    return tuple(example for file in sorted(FOLDER.glob("*/examples/*.yaml")) for example in load_file(file))


def file_of(rule_id: str) -> Path:
    """Return the file with the examples of one rule."""
    [file] = FOLDER.glob(f"*/examples/{rule_id.lower()}.yaml")
    return file


def load_file(file: Path) -> Iterator[Example]:
    """Return the examples of one file, which is named after its rule."""
    entries = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 both are safe
    for name, entry in entries.items():
        yield Example(file.stem.upper(), name, _resolved(entry, entries))


def resolved_resource(entry: Mapping[str, Any]) -> Given:
    """Return one resource, written as in an example."""
    one = _resolved(entry, {})
    return _given(one.get("name", "example"), one)


def changed(value: Any, change: Any) -> Any:
    """Return ``value`` with ``change`` merged into it, as in the examples.

    A resource with ``like`` is a new one; its own changes are still to be applied.
    """
    if not isinstance(change, Mapping) or "like" in change:
        return change
    if isinstance(value, list) and all(isinstance(key, int) for key in change):
        return list(changed(dict(enumerate(value)), change).values())
    merged = dict(value) if isinstance(value, Mapping) else {}
    for key, item in change.items():
        merged[key] = changed(merged.get(key), item)
    return {key: item for key, item in merged.items() if item is not None or key not in change}


def _resolved(entry: Mapping[str, Any], siblings: Mapping[str, Any]) -> dict[str, Any]:
    entry = dict(entry)
    like, but = entry.pop("like", None), entry.pop("but", {})
    start: dict[str, Any] = {}
    if like is not None:
        source = _resolved(siblings[like], siblings) if "/" not in like else _base(like)
        start = {key: value for key, value in source.items() if key not in (*_OUTCOMES, "about")}
    result: dict[str, Any] = changed({**start, **entry}, but)
    if "stack" in result:
        result["stack"] = {name: _resolved(one, {}) for name, one in result["stack"].items()}
    return result


def _base(reference: str) -> dict[str, Any]:
    file, _, name = reference.partition("/")
    bases = _bases(BASES / f"{file}.yaml")
    return _resolved(bases[name], bases)


@cache
def _bases(file: Path) -> dict[str, Any]:
    bases: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 both are safe
    return bases


def _made_from(one: Mapping[str, Any], stack: Mapping[str, Given]) -> dict[str, tuple[Identity, ...]]:
    return {
        key: tuple((stack[name].type, stack[name].name) for name in names)
        for key, names in one.get("madeFrom", {}).items()
    }


def _given(name: str, one: Mapping[str, Any]) -> Given:
    return Given(one["resource"], name, one.get("props", {}), one.get("opts", {}))
