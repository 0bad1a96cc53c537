"""Generates ``workbench/offline/azure/facts.json``: type, place in the request and effect of changes of each input.

Run ``python -m tools.facts.azure --check`` to compare the checked-in file with its sources, ``--write`` to replace
it. Both work without a network. What comes from where:

- Names, types, enumerations, which inputs are required, outputs and the version of the API, generated: the classes of
  the installed ``pulumi-azure-native``, which Pulumi generates from Microsoft's REST descriptions of that version.
- Where an input goes in a request's body, generated: the models of ``azure-mgmt-containerservice`` and
  ``azure-mgmt-network``, Microsoft's own. They are of a newer version of the API than the classes. Types that they do
  not have keep everything but ``ENVELOPE`` in ``properties``, as ARM requires; ``places`` of the table has exceptions.
- Paths of ids, what replaces a resource and the forms of names, kept by hand in ``azure.yaml``: the plug-in's metadata
  is not in a package. Read on ``READ_ON`` in stored copies of ``provider/pkg/gen/replacement.go``, ``properties.go``
  and ``provider/pkg/provider/diff.go`` of pulumi/pulumi-azure-native (the first one as of its pull request 4771, of
  July 2026, which release 3.29.0 is younger than) and of the files of Azure/azure-rest-api-specs that it names.

What Azure does with a change, with an input that is left out and with a refresh, the calls and the refusals are said
in the same file with a source of ``azure_sources.yaml``, or marked as assumed. A test refuses a table that lacks
an input.

What replaces: every part of the id, what ``forceNewMap`` lists, and what the REST description marks as mutable at
creation only. Only inputs of the resource and one level below can; the plug-in ignores deeper ones.

To move to a newer ``pulumi-azure-native`` raise its pin, read the files again and set ``READ_ON``.
"""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args, get_type_hints

import yaml
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from tools.facts import sdk_inputs, statements
from tools.facts.sdk_inputs import Declared, inputs
from tools.facts.statements import Calls, Says
from workbench.offline.azure.facts import DATA
from workbench.offline.facts import Refusal, Retried, answer
from workbench.system.errors import UserError

READ_ON: Final = "2026-11-22"
"""When the files were last read; a constant, so that a run on another day is equal."""

TABLE: Final = Path(__file__).with_suffix(".yaml")
"""What is kept by hand."""

TARGET: Final = DATA

ENVELOPE: Final = frozenset({"identity", "kind", "location", "managedBy", "tags"})
"""Keys that every ARM resource has next to ``properties``."""

MODELS: Final = {"containerservice": "azure.mgmt.containerservice.models", "network": "azure.mgmt.network.models"}
"""Microsoft's models by module of ``pulumi_azure_native``."""

READ_ONLY: Final = ["read"]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Upstream:
    """What the sources of one resource say.

    Parameters
    ----------
    id
        Path of its ARM id.
    described_in
        File of Azure/azure-rest-api-specs.
    required
        Inputs that the plug-in requires, though it may fill them in itself.
    kept
        Lists whose elements can also be separate resources: an update without the list keeps them.
    apart
        Inputs that hold whole other resources; what is inside them is not described.
    open
        Inputs whose enumeration lists some of the values that Azure takes, or has the name of one with other values.
        The others list all of their version of the API, though every one could grow.
    places
        Where an input goes in the object around it, if it has another name there and no model says so.
    singleton
        Whether Azure makes it with what it is a part of, and it is never deleted.
    keys
        Lists of texts that Azure takes as a map with empty values.
    forms
        Pattern of a name, by input.
    says
        What the plug-in and Azure do with the inputs, as Pulumi spells them.
    calls
        Requests of the plug-in by operation; default those of ``Common``.
    errors
        Refusals to expect.
    """

    id: str
    described_in: str
    required: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    places: Mapping[str, str] = Field(default_factory=dict)
    singleton: bool = False
    forms: Mapping[str, str] = Field(default_factory=dict)
    says: Says = ()
    calls: Calls = ()
    errors: tuple[Refusal, ...] = ()


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Common:
    """What is said of every type that does not say otherwise, also of the order of a replacement."""

    says: Says
    calls: Calls
    retries: tuple[Retried, ...]


_TABLE: Final = yaml.safe_load(TABLE.read_text(encoding="utf-8"))

COMMON: Final = TypeAdapter(Common).validate_python(_TABLE.pop("common"))

SOURCES: Final = statements.sources(TABLE.with_name("azure_sources.yaml"))
"""Where facts are said, by the key that the table uses."""

UPSTREAM: Final[Mapping[str, Upstream]] = TypeAdapter(dict[str, Upstream]).validate_python(_TABLE)
"""The resources that the offline provider knows, by module and class in ``pulumi_azure_native``."""


class Row(NamedTuple):
    """One input, in the order of the generated rows."""

    path: str
    kind: str
    required: bool
    change: str
    place: str
    values: str


def rows(resource: str) -> list[Row]:
    """Return the facts about every input of a resource, outer inputs before inner ones.

    Raises
    ------
    UserError
        The table names an input that the installed ``pulumi-azure-native`` does not have; all of them are listed.
    """
    known = UPSTREAM[resource]
    declared = [each for each in inputs(_arguments(resource)) if not _inside(each.path, known.apart)]
    named = {*known.required, *known.kept, *known.apart, *known.open, *known.keys, *known.places, *known.forms}
    statements.refuse_unknown(TABLE.name, resource, {*named, *statements.named(known.says)}, declared)
    places = _places(resource, declared)
    return [_row(known, each, places[each.path]) for each in declared]


def _row(known: Upstream, declared: Declared, place: str) -> Row:
    path = declared.path
    kind = "keys" if path in known.keys else "resource" if path in known.apart else declared.kind
    said = answer(known.says, path, "replaced") or answer(COMMON.says, path, "replaced")
    change = "replace" if place.startswith("{") or said is None else said.answer
    values = declared.enumeration.__name__ if declared.enumeration and path not in known.open else ""
    return Row(path, kind, declared.required or path in known.required, change, place, values)


def _inside(path: str, outer: Sequence[str]) -> bool:
    return path.startswith(tuple(f"{each}{into}" for each in outer for into in (".", "[]")))


def _class(resource: str) -> Any:
    module, _, name = resource.partition(".")
    return getattr(import_module(f"pulumi_azure_native.{module}"), name)


def _arguments(resource: str) -> Any:
    """Return the class of a resource's arguments; it has another name where one of an inner object has this one."""
    name, module = resource.partition(".")[2], sys.modules[_class(resource).__module__]
    return getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args")


def token(resource: str) -> str:
    """Return the type token of a resource, such as ``azure-native:containerservice:AgentPool``."""
    return f"azure-native:{resource.replace('.', ':')}"


def api_version(resource: str) -> str:
    """Return the version of the API that the plug-in uses for a resource, as its class says."""
    # In the docstring of an overload, which only the source has.
    found = re.search(r"Uses Azure REST API version (\S+)\.\s", inspect.getsource(_class(resource)))
    if not found:
        raise UserError(f"The class of {resource} does not say which version of the API it uses.")
    return found[1]


# --- Places of inputs -------------------------------------------------------------------------------------------------


def _places(resource: str, declared: Sequence[Declared]) -> dict[str, str]:
    """Return the place of each input in the object around it; a part of the id in braces."""
    module, _, name = resource.partition(".")
    in_id = set(re.findall(r"{(\w+)}", UPSTREAM[resource].id))
    models: dict[str, Any] = {"": getattr(import_module(MODELS[module]), name) if module in MODELS else None}
    places = {}
    for path in (each.path for each in declared):
        outer, _, own = path.rpartition(".")
        around = models.get(outer.rstrip("[]{}"))
        found = _member(around, own) if around else None
        models[path] = found[1] if found else None
        places[path] = f"{{{own}}}" if path in in_id else found[0] if found else _usual(outer, around, own)
    return {**places, **UPSTREAM[resource].places}


def _usual(outer: str, around: Any, name: str) -> str:
    """Return the place of an input that no model has, or for whose type there is no model."""
    has_properties = "properties" in _members(around) if around else not outer
    beside = name in ENVELOPE or (around and name in {"etag", "id", "name", "type"})
    return name if beside or not has_properties else f"properties.{name}"


def _member(model: Any, name: str) -> tuple[str, Any] | None:
    """Return the place of an input in a model or in the ``properties`` of it, and the model of what is there."""
    members = _members(model)
    for member, inner in members.items():
        if member.replace("-", "").lower() == name.lower():
            return member, inner
    found = _member(members["properties"], name) if members.get("properties") else None
    return (f"properties.{found[0]}", found[1]) if found else None


@cache
def _members(model: Any) -> dict[str, Any]:
    """Return the members of a model that may be written, and the model of what each is or holds."""
    model({})  # a model reads its own fields when the first one is made
    hints = get_type_hints(model, localns={"_models": import_module(model.__module__.rpartition(".")[0])})
    fields = model._attr_to_rest_field.items()  # noqa: SLF001 no public name
    return {
        field._rest_name: _innermost(hints[name])  # noqa: SLF001 no public name
        for name, field in fields
        if field._visibility != READ_ONLY  # noqa: SLF001 no public name
    }


def _innermost(hint: Any) -> Any:
    """Return the model that a type is or holds, None if there is none."""
    if inspect.isclass(hint) and any(base.__module__.endswith("model_base") for base in hint.__mro__):
        return hint
    return next((found for each in get_args(hint) if (found := _innermost(each))), None)


# --- Outputs ----------------------------------------------------------------------------------------------------------


def outputs(resource: str) -> list[str]:
    """Return the paths of outputs that are not inputs, at the top and inside the objects that are inputs."""
    from pulumi._types import resource_types  # noqa: PLC0415 only the generator needs it

    known, apart = {each.path for each in inputs(_arguments(resource))}, UPSTREAM[resource].apart
    found = _outputs(resource_types(_class(resource)), "", known)
    return sorted(path for path in found if not _inside(path, apart))


def _outputs(types: Mapping[str, Any], prefix: str, known: set[str]) -> Iterator[str]:
    from pulumi._types import output_type_types  # noqa: PLC0415 only the generator needs it

    for name, declared in types.items():
        path = f"{prefix}{name}"
        if path not in known:
            yield path
        elif inspect.isclass(declared) and declared.__module__.endswith(".outputs"):
            yield from _outputs(output_type_types(declared), f"{path}.", known)


# --- The text ---------------------------------------------------------------------------------------------------------


def generate() -> str:
    """Return the text of the file."""
    facts = {
        "$schema": "../facts.schema.json",
        "read_on": READ_ON,
        "release": version("pulumi-azure-native"),
        "sources": {key: statements.row(each) for key, each in SOURCES.items()},
        "common": statements.rows(says=COMMON.says, calls=COMMON.calls, retries=COMMON.retries),
        "resources": {token(name): _entry(name, known) for name, known in UPSTREAM.items()},
        "enumerations": _enumerations(),
    }
    return sdk_inputs.text_of(facts) + "\n"


def _entry(name: str, known: Upstream) -> dict[str, Any]:
    """Return the facts about one type; what it does not have is left out."""
    optional = {"kept": list(known.kept), "singleton": known.singleton, "forms": dict(known.forms)}
    return {
        "api_version": api_version(name),
        "id": known.id,
        "source": known.described_in,
        **{key: value for key, value in optional.items() if value},
        **statements.rows(says=known.says, calls=known.calls, errors=known.errors),
        "outputs": outputs(name),
        "rows": [list(row) for row in rows(name)],
    }


def _enumerations() -> dict[str, list[str | int]]:
    found: dict[str, list[str | int]] = {}
    for resource in UPSTREAM:
        used = {row.values for row in rows(resource)}
        for declared in inputs(_arguments(resource)):
            enumeration = declared.enumeration
            if enumeration and enumeration.__name__ in used:
                values = [int(each.value) if isinstance(each.value, float) else each.value for each in enumeration]
                if found.setdefault(enumeration.__name__, values) != values:
                    raise UserError(f"Two enumerations are called {enumeration.__name__}.")
    return dict(sorted(found.items()))


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    return sdk_inputs.main("tools.facts.azure", __doc__ or "", TARGET, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
