"""The members of a request, read from its text by the model of the operation.

What botocore's serialisers write, this reads: forms of the protocols ``ec2`` and ``query``, and JSON.
"""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape
from botocore.utils import parse_timestamp

Tree = dict[str, Any]
"""A form whose dotted names have become nesting: ``Tag.1.Key`` is ``{"Tag": {"1": {"Key": ...}}}``."""


def from_form(form: Mapping[str, str], shape: StructureShape | None, *, protocol: str) -> dict[str, Any]:
    """Return the members of a request in the protocol ``ec2`` or ``query``; names without a member are left out."""
    return _Form(is_ec2=protocol == "ec2").structure(_tree(form), shape) if shape else {}


def from_json(value: Any, shape: Shape) -> Any:
    """Return a value of a JSON body as boto3's caller gave it.

    What does not fit the shape is returned as it is, for the validation to refuse; unknown members too.
    """
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        names = {member.serialization.get("name", name): name for name, member in shape.members.items()}
        known = {names.get(key, key): each for key, each in value.items() if each is not None}
        return {
            name: from_json(each, shape.members[name]) if name in shape.members else each
            for name, each in known.items()
        }
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [from_json(each, shape.member) for each in value]
    if isinstance(shape, MapShape) and isinstance(value, dict):
        return {key: from_json(each, shape.value) for key, each in value.items()}
    if shape.type_name == "timestamp" and isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    if shape.type_name == "blob" and isinstance(value, str):
        return base64.b64decode(value)
    return value


def from_text(text: str, shape: Shape) -> Any:
    """Return a single value that was written as text, in a form or in an address."""
    kind = shape.type_name
    if kind in ("integer", "long") and text.lstrip("-").isdigit():
        return int(text)
    if kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind in ("float", "emulator"):
        return float(text)
    if kind == "timestamp":
        return parse_timestamp(text)
    if kind == "blob":
        return base64.b64decode(text)
    return text


def _tree(form: Mapping[str, str]) -> Tree:
    tree: Tree = {}
    for name, value in form.items():
        *outer, last = name.split(".")
        place = tree
        for part in outer:
            inner = place.setdefault(part, {})
            # An empty list is written as an empty value of its own name.
            place = inner if isinstance(inner, dict) else place.setdefault(part, {})
        place[last] = value
    return tree


class _Form:
    """Reads values out of a tree."""

    def __init__(self, *, is_ec2: bool) -> None:
        self._is_ec2 = is_ec2

    def structure(self, tree: Tree, shape: StructureShape) -> dict[str, Any]:
        found = {}
        for name, member in shape.members.items():
            written = self._written(name, member)
            if written in tree:
                found[name] = self._value(tree[written], member)
        return found

    def _written(self, name: str, member: Shape) -> str:
        given = member.serialization
        if self._is_ec2:
            if "queryName" in given:
                return str(given["queryName"])
            return given["name"][0].upper() + given["name"][1:] if "name" in given else name
        if isinstance(member, ListShape) and self._is_flattened(member) and "name" in member.member.serialization:
            return str(member.member.serialization["name"])
        return str(given.get("name", name))

    def _value(self, value: Any, shape: Shape) -> Any:
        if isinstance(shape, ListShape):
            return [self._value(each, shape.member) for each in self._elements(value, shape)]
        if isinstance(value, dict):
            return self._inside(value, shape)
        return from_text(value, shape)

    def _inside(self, tree: Tree, shape: Shape) -> Any:
        if isinstance(shape, StructureShape):
            return self.structure(tree, shape)
        if isinstance(shape, MapShape):
            key, value = (
                each.serialization.get("name", name) for name, each in (("key", shape.key), ("value", shape.value))
            )
            entries = tree if self._is_flattened(shape) else tree.get("entry", {})
            return {each[key]: self._value(each[value], shape.value) for each in entries.values()}
        return tree

    def _elements(self, value: Any, shape: ListShape) -> list[Any]:
        if not isinstance(value, dict):
            return []
        if not self._is_ec2 and not self._is_flattened(shape):
            value = value.get(shape.member.serialization.get("name", "member"), {})
        return [value[index] for index in sorted(value, key=int)]

    @staticmethod
    def _is_flattened(shape: Shape) -> bool:
        return bool(shape.serialization.get("flattened"))
