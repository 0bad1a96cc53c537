"""What the Python classes of Pulumi's SDKs say about the inputs of resources, for the generators of facts tables.

The classes are generated from the schema of the plug-in of the same version, so they need no plug-in and no network.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

from workbench.system.paths import PROJECT_ROOT

LINE_LENGTH: Final = 120
STEP: Final = "  "

SCALARS: Final = {str: "string", int: "integer", float: "number", bool: "boolean", Any: "any"}

INTO: Final = {"list": "[]", "map": "{}"}
"""Suffix of a path to the items of each kind of collection."""


class Declared(NamedTuple):
    """One input as a class declares it.

    Parameters
    ----------
    path
        Such as ``scalingConfig.minSize``, ``taints[].effect`` or ``addonProfiles{}.enabled``.
    kind
        string, integer, number, boolean, object, list, map, or any for what may be anything.
    required
        Whether the object that it belongs to must have it.
    enumeration
        Class of the values that it may have, or None.
    """

    path: str
    kind: str
    required: bool
    enumeration: type[Enum] | None = None


class _Kind(NamedTuple):
    name: str
    inside: Any = None
    """Class of the objects that it is or holds."""
    enumeration: type[Enum] | None = None


def inputs(arguments: Any, prefix: str = "", around: tuple[Any, ...] = ()) -> Iterator[Declared]:
    """Return all inputs of a class of arguments, outer ones before what is inside them.

    A class inside itself ends the way down.
    """
    from pulumi._types import input_type_py_to_pulumi_names, input_type_types  # noqa: PLC0415 only generators need it

    names, types = input_type_py_to_pulumi_names(arguments), input_type_types(arguments)
    for parameter in inspect.signature(arguments.__init__).parameters.values():
        if parameter.name not in names:  # `self`
            continue
        path, kind = f"{prefix}{names[parameter.name]}", _kind(types[names[parameter.name]])
        required = parameter.default is inspect.Parameter.empty
        yield Declared(path, kind.name, required, kind.enumeration)
        if kind.inside and kind.inside not in (*around, arguments):
            yield from inputs(kind.inside, f"{path}{INTO.get(kind.name, '')}.", (*around, arguments))


def _kind(declared: Any) -> _Kind:
    origin = get_origin(declared)
    if declared in SCALARS:
        return _Kind(SCALARS[declared])
    if origin is Union:  # an input may also be a promise of it; a policy document may also be an object
        options = [option for option in get_args(declared) if option is not type(None)]
        chosen = next((option for option in options if _is_enumeration(option)), options[0])
        if sum(_kind(option).name == "object" for option in options) > 1:  # a member of it says which it is
            chosen = Any
        return _kind(chosen)
    if origin is not None:
        is_map = issubclass(origin, Mapping)
        inner = _kind(get_args(declared)[1 if is_map else 0])
        return _Kind("map" if is_map else "list", inner.inside, None if is_map else inner.enumeration)
    if _is_enumeration(declared):
        return _Kind(SCALARS[type(next(iter(declared)).value)], None, declared)
    return _Kind("object", declared) if inspect.isclass(declared) else _Kind("string")


def _is_enumeration(option: Any) -> bool:
    return inspect.isclass(option) and issubclass(option, Enum)


# --- The text of a generated file -------------------------------------------------------------------------------------


def text_of(value: Any, indent: str = "") -> str:
    """Return JSON with one fact a line: a fact is never broken, all else only where it is too long."""
    line = json.dumps(value, ensure_ascii=False)
    if _is_fact(value) or not isinstance(value, dict | list) or len(indent) + len(line) <= LINE_LENGTH:
        return line
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {text_of(each, indent + STEP)}" for key, each in value.items()]
    else:
        lines = [text_of(each, indent + STEP) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{indent}{STEP}" + f",\n{indent}{STEP}".join(lines) + f"\n{indent}{closing}"


def _is_fact(value: Any) -> bool:
    """Return whether a value is the row of an input, or an object of texts and lists of them."""
    if isinstance(value, list):
        return any(isinstance(each, bool) for each in value)
    if not isinstance(value, dict) or all(isinstance(each, dict | list) for each in value.values()):
        return False
    inside = (each if isinstance(each, list) else [each] for each in value.values())
    return not any(isinstance(each, dict | list) for part in inside for each in part)


def main(module: str, document: str, target: Path, generate: Callable[[], str], arguments: Sequence[str]) -> int:
    """Run the command line of a generator and return the exit code.

    Parameters
    ----------
    module, document
        Of the generator: its name for ``python -m`` and its docstring.
    target
        The file.
    generate
        Returns what it should hold.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=document.splitlines()[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument(
        "--check", action="store_true", help="compare the file with its sources; exit code 1 if it is stale"
    )
    choice.add_argument("--write", action="store_true", help="replace the file")
    text = generate()
    if parser.parse_args(arguments).write:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{target.relative_to(PROJECT_ROOT)} is stale: run python -m {module} --write\n")
    return 1
