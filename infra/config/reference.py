"""Every key of a stack file and of a base: the JSON Schemas for editors, and the keys for `config explain`.

``python -m infra.config.reference --write`` renews the schemas and the page; a test fails when they are stale.
"""

import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from components.stack_files.base import BASE_KEY, BaseFile
from components.stack_files.problem import CONFIG_KEY
from infra.config.model import ENGINE_KEYS
from infra.config.reference_page import page
from infra.config.stack_file import StackFile
from infra.config.tree import Key, tree

SCHEMA: Final = Path(__file__).parent.parent / "stack.schema.json"
BASE_SCHEMA: Final = Path(__file__).parent.parent / "base.schema.json"
PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "configuration.md"

_COMMENT: Final = "Made by `python -m infra.config.reference --write`; edit the models instead."
_INHERITED: Final = "InheritedSettings"
_REFINED: Final = "RefiningStackFile"
_ANY_OF: Final = {"oneOf": "anyOf"}
"""A mapping without the key that chooses the member of a union may match several members."""


@cache
def all_keys() -> tuple[Key, ...]:
    """Return every key, in the order of the models."""
    return tuple(tree(StackFile).walk())


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a whole stack file; it rejects unknown keys in our own settings only."""
    choices = tidy(StackFile.model_json_schema())
    definitions = choices.pop("$defs")
    refined = {"$ref": f"{BASE_SCHEMA.name}#/$defs/{_REFINED}"}
    config = {
        "description": "Settings by namespace; ours is igz-clusters.",
        "type": "object",
        "required": [CONFIG_KEY],
        "properties": {
            CONFIG_KEY: {"if": {"type": "object", "required": [BASE_KEY]}, "then": refined, "else": choices}
        },
        "patternProperties": {f"^{CONFIG_KEY.partition(':')[0]}:(?!stack$)": False},
    }
    engine = {key: {"description": "The engine's own."} for key in ENGINE_KEYS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": _COMMENT,
        "title": "Stack file of igz-clusters",
        "type": "object",
        "required": ["config"],
        "additionalProperties": False,
        "properties": {**engine, "config": config},
        "$defs": definitions,
    }


def base_schema() -> dict[str, Any]:
    """Return the JSON Schema of a base, and with it that of the settings of a stack file that refines one.

    In both, any key may be missing or null, and the key that chooses the member of a union may be absent.
    """
    whole, base = tidy(StackFile.model_json_schema()), tidy(BaseFile.model_json_schema())
    definitions = {name: _partial(said) for name, said in whole.pop("$defs").items()} | base.pop("$defs")
    settings = _partial(whole)
    refined = {**settings, "required": ["schemaVersion", BASE_KEY, "environment", "cluster"]}
    of_one_stack = ("schemaVersion", BASE_KEY, "environment")
    inherited = {key: said for key, said in settings["properties"].items() if key not in of_one_stack}
    definitions["Layer"]["properties"]["settings"] = {"$ref": f"#/$defs/{_INHERITED}"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": _COMMENT,
        "title": "Base of stack files of igz-clusters",
        **base,
        "$defs": {**definitions, _INHERITED: {**settings, "properties": inherited}, _REFINED: refined},
    }


def _partial(said: Any) -> Any:
    """Return a schema without required keys, which allows null for every key."""
    if isinstance(said, list):
        return [_partial(item) for item in said]
    if not isinstance(said, dict):
        return said
    kept = {key: value for key, value in said.items() if key not in ("required", "discriminator")}
    return {_ANY_OF.get(key, key): _partial_keyword(key, value) for key, value in kept.items()}


def _partial_keyword(key: str, value: Any) -> Any:
    if key in ("properties", "patternProperties"):
        return {name: {"anyOf": [_partial(said), {"type": "null"}]} for name, said in value.items()}
    if key == "additionalProperties" and isinstance(value, dict):
        return {"anyOf": [_partial(value), {"type": "null"}]}
    return value if key in ("examples", "default", "enum", "const") else _partial(value)


def tidy(said: Any) -> Any:
    """Return a schema without pydantic's titles, which repeat the key, and with names restricted to their pattern."""
    if isinstance(said, list):
        return [tidy(item) for item in said]
    if not isinstance(said, dict):
        return said
    closed = {"additionalProperties": False} if "patternProperties" in said else {}
    kept = {key: value for key, value in said.items() if not (key == "title" and isinstance(value, str))}
    return {key: tidy(value) for key, value in kept.items()} | closed


def text_of(schema: Mapping[str, Any]) -> str:
    """Return a schema as stored in the repository."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def schema_text() -> str:
    """Return the schema of stack files as stored in the repository."""
    return text_of(schema())


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m infra.config.reference --write")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    BASE_SCHEMA.write_text(text_of(base_schema()), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
