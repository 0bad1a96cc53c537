"""Lookups of each type's inputs in the facts."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from workbench.offline.azure.facts import Input, Statement, facts, resource
from workbench.offline.input_paths import around, inside

TABLE: Final = "tools/facts/azure.yaml"
"""The file to extend with a new type."""


def inputs_of(type_: str) -> Mapping[str, Input]:
    """Return the inputs of a type by path.

    Raises
    ------
    KeyError
        The type is unknown.
    """
    return resource(type_).inputs


@cache
def children(type_: str, path: str) -> Mapping[str, Input]:
    """Return the inputs directly inside an object, or inside the objects of a list or a map, by their own name.

    Parameters
    ----------
    path
        Path of the object; empty for the resource itself.
    """
    known = inputs_of(type_)
    return {name: known[found] for name, found in inside(known, path).items()}


@cache
def azures_own(type_: str, path: str) -> frozenset[str]:
    """Return the outputs inside an object that are not inputs; ``path`` as in ``children``."""
    return frozenset(inside(resource(type_).outputs, path))


@cache
def names(type_: str) -> tuple[str, ...]:
    """Return the inputs that are in a type's id, outermost first."""
    return tuple(name for name in re.findall(r"{(\w+)}", resource(type_).id) if name in inputs_of(type_))


@cache
def said(type_: str, path: str, question: str) -> Statement | None:
    """Return what is said of an input in answer to a question of ``Statement``; None if nothing is.

    The statement about the input itself comes first, then those about what it is in, then the one about all others.
    """
    for statements in (resource(type_).says, facts().common["says"]):
        asked = [each for each in statements if each.question == question]
        for outer in (*around(path), "*"):
            if found := next((each for each in asked if outer in each.of), None):
                return found
    return None


def questions(type_: str, path: str) -> list[str]:
    """Return the questions of ``Statement`` that an input must answer.

    A part of the id cannot change in place, be left out or be read back; what the plug-in replaces never changes in
    place; what is required is never left out; what Azure does not keep needs no clearing.
    """
    known = inputs_of(type_)
    if known[path].is_in_id:
        return ["declared", "replaced"]
    is_replaced = any(known[each].change == "replace" for each in around(path))
    absent = None if known[path].required else said(type_, path, "absent")
    asked = {
        "change": not is_replaced,
        "absent": not known[path].required,
        "cleared": absent is not None and absent.answer == "keeps",
        "read": True,
    }
    return ["declared", "replaced", *(question for question, applies in asked.items() if applies)]
