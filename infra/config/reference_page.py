"""The reference page of the stack file: one section per kind of cluster, with a complete example of each."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from components.contract.aks.checks import NAME_MAX as AKS_POOL_NAME_MAX
from components.contract.choices import DECIDES, WHY_DEFAULT
from components.contract.pool_names import POOL_NAME_MAX
from infra.config.model import CONFIG_KEY, PROD_INITIAL_MIN, StackConfig
from infra.config.problems import allowed
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
```

The first line of a stack file names its JSON Schema, [stack.schema.json](../infra/stack.schema.json), for completion in
editors. Checks across several keys run in the commands only. In the tables, `*` is a name of your choice.

Sections: [all kinds](#all-kinds) · [names](#names) · [servers](#servers) · [production](#production) ·
[local](#kind-local) · [eks](#kind-eks) · [aks](#kind-aks) · [existing](#kind-existing)
"""

_NOTES: Final = f"""
## Names

| name | allowed |
|---|---|
| stack | letters, digits, `-`, `_` and `.`, as Pulumi allows; it is part of the file's name |
| pool | 1 to {POOL_NAME_MAX} lower-case letters and digits, a letter first; at most {AKS_POOL_NAME_MAX} on AKS |
| namespace | 1 to 63 lower-case letters, digits or `-`; names of Kubernetes' own namespaces are reserved |
| EKS cluster | 1 to 63 lower-case letters, digits or `-`, starting with a letter |
| AKS cluster | 1 to 54 lower-case letters, digits or `-`, starting with a letter; Azure forbids some words |
| access entry | 1 to 63 lower-case letters, digits or `-` |

AKS allows {POOL_NAME_MAX} characters in an agent pool. A generated suffix takes {POOL_NAME_MAX - AKS_POOL_NAME_MAX}
of them, so that a replacement can exist beside the old pool.

## Servers

`servers` is required with `profile: iguazio` and not allowed otherwise.

| value | who creates the nodes | kinds |
|---|---|---|
| `pulumi` | this stack creates node groups | local, eks, aks |
| `provazio` | the platform's installer; the stack creates no node group and adopts its priority classes | existing |

## Production

With `environment: prod` these requirements are added:

| kind | requirement |
|---|---|
| all | the initial pool has at least {PROD_INITIAL_MIN} nodes (NG-06); default requests equal limits (RS-03) |
| all | Jupyter services are listed in `policies.jupyterServices` (EN-05, advisory) |
| eks, aks | `cluster.tags` has every key of `policies.requiredTags`: by default add `team` and `cost-center` (HT-01) |
| eks | no `publicAccessCidrs`: the API is private (HE-01) |
| aks | `secretsKeyId` and `diskEncryptionSetId` (HA-08); 3 nodes in the initial pool (HA-06) |
| aks | `upgradeChannel` and `nodeImageChannel` are not `none`, except with data pools (HA-05) |
"""

_EXAMPLES: Final = {
    "local": "Pulumi.local.yaml",
    "eks": "Pulumi.dev.yaml",
    "aks": "examples/aks-dev/Pulumi.aks-dev.yaml",
    "existing": "examples/existing/Pulumi.existing.yaml",
}


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
    root = tree(StackConfig)
    kinds = root.keys["cluster"].members
    shared = [key for key in root.walk() if key.path[0] != "cluster" or len(key.path) == 1]
    sections = [_INTRODUCTION, "## All kinds\n", *_table(shared), _NOTES]
    for kind, node in kinds.items():
        sections += [f"## Kind {kind}\n", *_table(node.walk("cluster")), "", *_example(kind), ""]
    return "\n".join(sections).rstrip() + "\n"


def _example(kind: str) -> Iterator[str]:
    file = _EXAMPLES[kind]
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
