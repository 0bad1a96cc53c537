"""What is known about every key of a stack file: for editors, for the reference page, and for `config explain`.

``python -m infra.config.reference --write`` renews the editor's schema and the page; a test fails when they are stale.
"""

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from components.contract.choices import DECIDES, WHY_DEFAULT
from infra.config.model import CONFIG_KEY, ENGINE_KEYS, StackConfig
from infra.config.problems import allowed
from infra.config.tree import Key, Node, tree

SCHEMA: Final = Path(__file__).parent.parent / "stack.schema.json"
PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "configuration.md"

_LISTED_MAX: Final = 12

_INTRODUCTION: Final = f"""\
# Configuration

<!-- Made by `python -m infra.config.reference --write`; edit the models instead. -->

A stack is one file, `Pulumi.STACK.yaml`. All choices stand under `config`, `{CONFIG_KEY}`; everything else about a
cluster is derived from them.

```
igz-clusters config check         # all mistakes of a stack file, or of all, each with its line
igz-clusters config explain KEY   # what a key means, what it may be, and why its default is what it is
igz-clusters config show STACK    # the whole configuration, with every default that applies
```

The first line of a stack file names its JSON Schema, [stack.schema.json](../infra/stack.schema.json), so that editors
with a YAML language server complete keys and mark mistakes. Rules that look at several keys are checked by the
commands only. `*` stands for a name of your choice.

| key | meaning | value | default |
|---|---|---|---|
"""


@cache
def all_keys() -> tuple[Key, ...]:
    """Return every key, in the order of the models."""
    return tuple(tree(StackConfig).walk())


def values_of(node: Node) -> tuple[str, ...]:
    """Return the values or the range that are allowed at a place, or for the items of a list there."""
    is_list = node.said.get("type") == "array" and node.entries
    return allowed(node.entries if is_list and node.entries else node)


def default_of(key: Key) -> str:
    """Return the default in YAML's words, why it is right, or that the key is required."""
    said = key.node.said
    if key.is_required:
        return "required"
    if key.path[-1] == "*":
        return ""
    why, value = said.get(WHY_DEFAULT, ""), said.get("default")
    return f"`{value if isinstance(value, str) else json.dumps(value)}`: {why}" if "default" in said else why


def page() -> str:
    """Return the reference page."""
    return _INTRODUCTION + "\n".join(_rows()) + "\n"


def _rows() -> Iterator[str]:
    for key in all_keys():
        said, values = key.node.said, values_of(key.node)
        listed = ", ".join(f"`{value}`" for value in values) if len(values) <= _LISTED_MAX else f"{len(values)} known"
        value = f"{key.node.kind}: {listed}" if values else key.node.kind
        decides = f"Decides: {said[DECIDES]}" if DECIDES in said else ""
        only_with = f"Only with `{key.only_with}`." if key.only_with else ""
        meaning = " ".join(text for text in (said.get("description"), only_with, decides) if text)
        cells = (f"`{key.name}`", meaning, value, default_of(key))
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a whole stack file. Only what is ours is closed; the rest is the engine's."""
    choices = _tidy(StackConfig.model_json_schema())
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


def _tidy(said: Any) -> Any:
    """Return a schema without pydantic's titles, which repeat the key, and with names closed to their pattern."""
    if isinstance(said, list):
        return [_tidy(item) for item in said]
    if not isinstance(said, dict):
        return said
    closed = {"additionalProperties": False} if "patternProperties" in said else {}
    kept = {key: value for key, value in said.items() if not (key == "title" and isinstance(value, str))}
    return {key: _tidy(value) for key, value in kept.items()} | closed


def schema_text() -> str:
    """Return the schema as it stands in the repository."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m infra.config.reference --write")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
