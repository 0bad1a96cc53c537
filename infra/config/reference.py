"""Every key of a stack file: the JSON Schema for editors, and the keys for `config explain`.

``python -m infra.config.reference --write`` renews the editor's schema and the page; a test fails when they are stale.
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from infra.config.model import CONFIG_KEY, ENGINE_KEYS, StackConfig
from infra.config.reference_page import page
from infra.config.tree import Key, tree

SCHEMA: Final = Path(__file__).parent.parent / "stack.schema.json"
PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "configuration.md"


@cache
def all_keys() -> tuple[Key, ...]:
    """Return every key, in the order of the models."""
    return tuple(tree(StackConfig).walk())


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a whole stack file; it rejects unknown keys in our own settings only."""
    choices = tidy(StackConfig.model_json_schema())
    definitions = choices.pop("$defs")
    config = {
        "description": "Settings by namespace; ours is igz-clusters.",
        "type": "object",
        "required": [CONFIG_KEY],
        "properties": {CONFIG_KEY: choices},
        "patternProperties": {f"^{CONFIG_KEY.partition(':')[0]}:(?!stack$)": False},
    }
    engine = {key: {"description": "The engine's own."} for key in ENGINE_KEYS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Made by `python -m infra.config.reference --write`; edit the models instead.",
        "title": "Stack file of igz-clusters",
        "type": "object",
        "required": ["config"],
        "additionalProperties": False,
        "properties": {**engine, "config": config},
        "$defs": definitions,
    }


def tidy(said: Any) -> Any:
    """Return a schema without pydantic's titles, which repeat the key, and with names restricted to their pattern."""
    if isinstance(said, list):
        return [tidy(item) for item in said]
    if not isinstance(said, dict):
        return said
    closed = {"additionalProperties": False} if "patternProperties" in said else {}
    kept = {key: value for key, value in said.items() if not (key == "title" and isinstance(value, str))}
    return {key: tidy(value) for key, value in kept.items()} | closed


def schema_text() -> str:
    """Return the schema as stored in the repository."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m infra.config.reference --write")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
