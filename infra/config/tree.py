"""The tree of all configuration keys, read from the models' JSON Schema.

Error messages, the reference page, ``igz-clusters config explain`` and the editor's schema all read this one tree.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

NAME = "*"
"""Placeholder for any name in the path of a key, such as ``pools.*.size``."""

KIND = "x-kind"
"""Keyword of the JSON Schema for a type of value that is neither plain text nor a plain number."""

_SCALARS = {"boolean": "true or false", "integer": "whole number", "number": "number", "string": "text"}
_NULL = {"type": "null"}


@dataclass(frozen=True)
class Node:
    """One place of the tree."""

    said: Mapping[str, Any]
    """JSON Schema of the place, with references resolved and without ``null``."""
    definitions: Mapping[str, Any]

    @cached_property
    def members(self) -> dict[str, "Node"]:
        """Members of a union by their tag; empty for anything else."""
        tags = {reference: tag for tag, reference in self.said.get("discriminator", {}).get("mapping", {}).items()}
        return {tags[option["$ref"]]: self._node(option) for option in self.said.get("oneOf", ()) if tags}

    @cached_property
    def tag_key(self) -> str:
        """Key whose value chooses the member of a union."""
        return str(self.said.get("discriminator", {}).get("propertyName", ""))

    @cached_property
    def keys(self) -> dict[str, "Node"]:
        """Known keys of a mapping; for a union those of all members, each as its first member defines it."""
        own = {key: self._node(said) for key, said in self.said.get("properties", {}).items()}
        found = {key: node for member in reversed(self.members.values()) for key, node in member.keys.items()}
        if self.members:
            tag = {key: said for key, said in found[self.tag_key].said.items() if key != "const"}
            found[self.tag_key] = self._node({**tag, "enum": list(self.members)})
        ordered = {key: found[key] for member in self.members.values() for key in member.keys}
        return ordered | own

    @cached_property
    def entries(self) -> "Node | None":
        """The values of a mapping with free names, or the items of a list."""
        patterned = list(self.said.get("patternProperties", {}).values())
        said = next(iter(patterned), self.said.get("additionalProperties") or self.said.get("items"))
        return self._node(said) if isinstance(said, Mapping) else None

    @cached_property
    def kind(self) -> str:
        """Description of the type of value expected here."""
        said_type = self.said.get("type", "")
        if KIND in self.said:
            return str(self.said[KIND])
        if self.members:  # no member has the keys of all members
            *others, last = self.members
            return f"mapping whose {self.tag_key} is {', '.join(others)} or {last}"
        if self.keys:
            return f"mapping with the key{'s' if len(self.keys) > 1 else ''} {', '.join(self.keys)}"
        if said_type == "array":
            return f"list of {re.sub('^mapping', 'mappings', self.entries.kind)}" if self.entries else "list"
        if said_type == "object":
            return f"mapping of names to {'mappings' if self.entries and self.entries.keys else 'text'}"
        return _SCALARS.get(said_type, "value")

    def walk(self, *path: str, within: str = "") -> Iterator["Key"]:
        """Yield every key below this place, each mapping before its own keys.

        A key whose meaning depends on the member of a union is yielded once per meaning. ``within`` is the member of a
        surrounding union that all of them belong to.
        """
        for name in self.keys:
            meanings = list(self._meanings(name))
            for node, owners in meanings:
                only_with = [within, f"{self.tag_key}: {' or '.join(owners)}" if owners else ""]
                yield Key(
                    (*path, name),
                    node,
                    is_required=self.is_required(name, owners),
                    only_with=", ".join(filter(None, only_with)),
                )
                own = f"{'.'.join((*path, self.tag_key))}: {' or '.join(owners)}" if len(meanings) > 1 else ""
                yield from node.walk(*path, name, within=", ".join(filter(None, (within, own))))
        if self.entries and self.entries.keys:
            yield Key((*path, NAME), self.entries, is_required=False, only_with=within)
            yield from self.entries.walk(*path, NAME, within=within)

    def is_required(self, key: str, owners: Collection[str] = ()) -> bool:
        """Return whether the key is required; in a union, whether one of ``owners`` (default: any) requires it."""
        members = [member for tag, member in self.members.items() if not owners or tag in owners]
        return any(key in place.said.get("required", ()) for place in members or (self,))

    def _meanings(self, name: str) -> Iterator[tuple["Node", tuple[str, ...]]]:
        """Yield each meaning of a key with the members of a union that share it; no members if all do."""
        if not self.members or name == self.tag_key:
            yield self.keys[name], ()
            return
        said = {tag: member.keys[name] for tag, member in self.members.items() if name in member.keys}
        while said:
            first = next(iter(said.values()))
            owners = tuple(tag for tag, node in said.items() if node.said == first.said)
            yield first, owners
            said = {tag: node for tag, node in said.items() if tag not in owners}

    def _node(self, said: Mapping[str, Any]) -> "Node":
        while "$ref" in said:
            beside = {key: value for key, value in said.items() if key != "$ref"}
            said = {**self.definitions[said["$ref"].rpartition("/")[2]], **beside}
        if _NULL in (options := said.get("anyOf", ())):
            beside = {key: value for key, value in said.items() if key != "anyOf"}
            real = [option for option in options if option != _NULL]
            return self._node({**(real[0] if len(real) == 1 else {"anyOf": real}), **beside})
        return Node(said, self.definitions)


@dataclass(frozen=True)
class Key:
    """One key of the tree."""

    path: tuple[str, ...]
    node: Node
    is_required: bool
    only_with: str = ""
    """Members of unions that the key belongs to, such as ``kind: local``."""

    @property
    def name(self) -> str:
        """The path as text, joined by dots."""
        return ".".join(self.path)

    def matches(self, parts: tuple[str, ...]) -> bool:
        """Return whether ``parts`` name the key; free names may be given, left out, or written as ``*``."""
        return _matches(self.path, parts)


def _matches(path: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    if not path:
        return not parts
    if path[0] == NAME and _matches(path[1:], parts):
        return True
    return bool(parts) and path[0] in (NAME, parts[0]) and _matches(path[1:], parts[1:])


@cache
def tree(model: type[BaseModel]) -> Node:
    """Return the root of a model's tree."""
    schema = model.model_json_schema()
    return Node(schema, schema.get("$defs", {}))


def follow(
    root: Node, location: tuple[int | str, ...], *, by_field: bool = False
) -> tuple[tuple[int | str, ...], Node | None]:
    """Convert pydantic's location to the path in the stack file; return it with its node, if the tree has one.

    Parts that only pydantic uses are left out: the tag of a union's member, and the mark of a mapping's key.

    Parameters
    ----------
    root, location
        The tree, and pydantic's location in it.
    by_field
        Whether a part may be a field's name instead of its key, as in errors about defaults. Default: such a part is a
        key that the user chose.
    """
    path: list[int | str] = []
    node: Node | None = root
    for part in location:
        if part == "[key]":
            continue
        if node and part in node.members:
            node = node.members[str(part)]
            continue
        if by_field and node and part not in node.keys and (key := to_camel(str(part))) in node.keys:
            part = key  # noqa: PLW2901 the key in the stack file
        path.append(part)
        node = node and (node.keys.get(str(part)) or node.entries)
    return tuple(path), node
