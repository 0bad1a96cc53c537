"""The reference page of the stack file: one section per kind of cluster, with a complete example of each."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from components.contract.choices import DECIDES, WHY_DEFAULT
from components.contract.clusters import DESCRIPTORS
from components.contract.environments import Environment, ServerOwner
from components.contract.pool_names import POOL_NAME_MAX
from components.stack_files.problem import CONFIG_KEY
from infra.config.initial_pool import PROD_INITIAL_MIN
from infra.config.problems import allowed
from infra.config.stack_file import StackFile
from infra.config.tree import Key, Node, tree

_ROOT: Final = Path(__file__).parent.parent.parent
_LISTED_MAX: Final = 12
_HEADER: Final = ("| key | meaning | value | default |", "|---|---|---|---|")

_INTRODUCTION: Final = f"""\
# Configuration

<!-- Made by `python -m infra.config.reference --write`; edit the models instead. -->

A stack is one file, `Pulumi.STACK.yaml`. Its configuration is under `config`, `{CONFIG_KEY}`.

```
igz-clusters config check         # report all mistakes of a stack file, or of all, with their lines
igz-clusters config explain KEY   # meaning, allowed values and default of a key
igz-clusters config show STACK    # the whole configuration, with every default
igz-clusters config diff A B      # what differs between two stacks, or since a commit: dev@main dev
```

Settings that several stacks share can be in a [base](inheritance.md), which their stack files refine.

The first line of a stack file names its JSON Schema, [stack.schema.json](../infra/stack.schema.json), for completion in
editors; that of a base names [base.schema.json](../infra/base.schema.json). Checks across several keys run in the
commands only. In the tables, `*` is a name of your choice.

Sections: [all kinds](#all-kinds) · [names](#names) · [servers](#servers) · [production](#production) ·
{" · ".join(f"[{each.kind}](#kind-{each.kind})" for each in DESCRIPTORS)}
"""


def _kinds_of(owner: ServerOwner) -> str:
    return ", ".join(each.kind for each in DESCRIPTORS if each.owner_problem(owner) is None)


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"| {first} | {second} |" for first, second in rows)


_MADE_BY_INSTALLER: Final = "the platform's installer; the stack creates no node group and adopts its priority classes"
_TAGS_REQUIRED: Final = (
    "`cluster.tags` has every key of `policies.requiredTags`: by default add `team` and `cost-center` (HT-01)"
)
_WITH_TAGS: Final = ", ".join(each.kind for each in DESCRIPTORS if "tags" in each.config.model_fields)

_NOTES: Final = f"""
## Names

| name | allowed |
|---|---|
| stack | letters, digits, `-`, `_` and `.`, as Pulumi allows; it is part of the file's name |
| pool | 1 to {POOL_NAME_MAX} lower-case letters and digits, a letter first |
| namespace | 1 to 63 lower-case letters, digits or `-`; names of Kubernetes' own namespaces are reserved |
{_rows(row for each in DESCRIPTORS for row in each.names.items())}

## Servers

`servers` is required with `profile: iguazio` and not allowed otherwise.

| value | who creates the nodes | kinds |
|---|---|---|
| `pulumi` | this stack creates node groups | {_kinds_of(ServerOwner.PULUMI)} |
| `provazio` | {_MADE_BY_INSTALLER} | {_kinds_of(ServerOwner.PROVAZIO)} |

## Production

With `environment: prod` these requirements are added:

| kind | requirement |
|---|---|
| all | the initial pool has at least {PROD_INITIAL_MIN} nodes (NG-06); default requests equal limits (RS-03) |
| all | Jupyter services are listed in `policies.jupyterServices` (EN-05, advisory) |
| {_WITH_TAGS} | {_TAGS_REQUIRED} |
{_rows((each.kind, what) for each in DESCRIPTORS for what in each.in_production)}
"""


def values_of(node: Node) -> tuple[str, ...]:
    """Return the values or the range that are allowed at a place, or for the items of a list there."""
    is_list = node.said.get("type") == "array" and node.entries
    return allowed(node.entries if is_list and node.entries else node)


def default_of(key: Key) -> str:
    """Return the default as YAML with its reason, or that the key is required."""
    said = key.node.said
    if key.is_required:
        return "required"
    if key.path[-1] == "*":
        return ""
    why, value = said.get(WHY_DEFAULT, ""), said.get("default")
    return f"`{value if isinstance(value, str) else json.dumps(value)}`: {why}" if "default" in said else why


def page() -> str:
    """Return the whole page."""
    root = tree(StackFile)
    kinds = root.keys["cluster"].members
    shared = [key for key in root.walk() if key.path[0] != "cluster" or len(key.path) == 1]
    sections = [_INTRODUCTION, "## All kinds\n", *_table(shared), _NOTES]
    for each in DESCRIPTORS:
        example = _example(each.stack_file(Environment.DEV))
        sections += [f"## Kind {each.kind}\n", *_table(kinds[each.kind].walk("cluster")), "", *example, ""]
    return "\n".join(sections).rstrip() + "\n"


def _example(file: str) -> Iterator[str]:
    yield f"A whole stack file, [{file}](../{file}):\n"
    yield "```yaml"
    yield (_ROOT / file).read_text(encoding="utf-8").rstrip()
    yield "```"


def _table(keys: Iterable[Key]) -> Iterator[str]:
    yield from _HEADER
    for key in keys:
        said, values = key.node.said, values_of(key.node)
        listed = ", ".join(f"`{value}`" for value in values) if len(values) <= _LISTED_MAX else f"{len(values)} known"
        value = f"{key.node.kind}: {listed}" if values else key.node.kind
        decides = f"Decides: {said[DECIDES]}" if DECIDES in said else ""
        only_with = f"Only with `{key.only_with}`." if key.only_with else ""
        meaning = " ".join(text for text in (said.get("description"), only_with, decides) if text)
        cells = (f"`{key.name}`", meaning, value, default_of(key))
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
