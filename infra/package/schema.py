"""The package's schema, from which Pulumi generates typed SDKs; its inputs are the models of the stack file.

``python -m infra.package.schema --write`` renews ``schema.json``; a test fails when it is stale.
https://www.pulumi.com/docs/iac/guides/building-extending/packages/schema/ describes the format.
"""

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from components.contract.component_package import CLUSTER_TYPE, PACKAGE
from infra.config.model import StackConfig

SCHEMA: Final = Path(__file__).parent / "schema.json"

_PROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"
_LANGUAGES: Final = ("csharp", "go", "java", "nodejs", "python")
_ANY: Final = {"$ref": "pulumi.json#/Any"}
_NULL: Final = {"type": "null"}
_LISTED_MAX: Final = 12
"""Maximum number of allowed values that the description of an input lists."""

_TEXTS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
_SAID: Final[dict[str, dict[str, Any]]] = {
    "facts": {
        "type": "object",
        "additionalProperties": _ANY,
        "description": "Name, kind and environment of the cluster, and facts about its resources in the cloud.",
    },
    "kubeconfig": {
        "type": "string",
        "description": "Kubeconfig of a cluster in a cloud. It contains no secret: it calls the cloud's command line.",
    },
    "groups": {
        "type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": _ANY},
        "description": "Node groups by name: pool, role, sizes, machine types, labels and taints.",
    },
    "priorityClasses": {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "description": "Values of the priority classes for user work, by name.",
    },
    "defaultPriorityClass": {"type": "string", "description": "Priority class of work that names none."},
    "defaultNodeSelector": {**_TEXTS, "description": "Node selector of work that chooses no place."},
    "namespaceNames": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Names of the user namespaces.",
    },
    "identities": {
        "type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": _ANY},
        "description": "Resources in the cloud for the identities of user namespaces, by namespace.",
    },
}
_NOT_ALWAYS: Final = ("kubeconfig", "identities")


def schema() -> dict[str, Any]:
    """Return the schema of the package."""
    model = StackConfig.model_json_schema()
    definitions = model.pop("$defs")
    types = _Types(definitions)
    return {
        "name": PACKAGE,
        "version": tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["version"],
        "displayName": PACKAGE,
        "description": "Kubernetes clusters for Iguazio and MLRun, with node pools, scheduling and admission.",
        "language": {name: {"respectSchemaVersion": True} for name in _LANGUAGES},
        "types": {types.token(name): types.type(said) for name, said in definitions.items()},
        "resources": {
            CLUSTER_TYPE: {
                "isComponent": True,
                "description": "A cluster and its contents. Its inputs are the settings of a stack file, all known in "
                "previews. A stack has one.",
                "properties": _SAID,
                "required": [name for name in _SAID if name not in _NOT_ALWAYS],
                "inputProperties": types.properties(model),
                "requiredInputs": model["required"],
            }
        },
    }


class _Types:
    """Translates JSON Schema into the terms of the package schema."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        shared = Counter(name.rpartition("__")[2] for name in definitions)
        self._names = {name: _name(name, is_shared=shared[name.rpartition("__")[2]] > 1) for name in definitions}

    def token(self, definition: str) -> str:
        """Return the token of a model or an enumeration."""
        return f"{PACKAGE}:index:{self._names[definition]}"

    def type(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return the type of a model or an enumeration."""
        description = {"description": said["description"]} if "description" in said else {}
        if "enum" in said:
            return {"type": said["type"], **description, "enum": [{"value": value} for value in said["enum"]]}
        required = {"required": said["required"]} if "required" in said else {}
        return {"type": "object", **description, "properties": self.properties(said), **required}

    def properties(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return the properties of a model."""
        return {name: self._property(inner) for name, inner in said["properties"].items()}

    def _property(self, said: Mapping[str, Any]) -> dict[str, Any]:
        inner = _without_null(said)
        const = {"const": inner["const"]} if "const" in inner else {}
        return {**self._of(inner), **const, "description": _description(said, inner)}

    def _of(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return the type of a place, always plain: every input must be known in a preview."""
        if "$ref" in said:
            found: dict[str, Any] = {"$ref": self._reference(said["$ref"])}
        elif "discriminator" in said:
            mapping = {tag: self._reference(place) for tag, place in said["discriminator"]["mapping"].items()}
            found = {
                "oneOf": [{"$ref": place, "plain": True} for place in mapping.values()],
                "discriminator": {"propertyName": said["discriminator"]["propertyName"], "mapping": mapping},
            }
        elif isinstance(said["type"], list):
            found = {"oneOf": [{"type": each, "plain": True} for each in said["type"]]}
        elif said["type"] == "array":
            found = {"type": "array", "items": self._of(said["items"])}
        elif said["type"] == "object":
            [entries] = said.get("patternProperties", {"": said.get("additionalProperties")}).values()
            found = {"type": "object", "additionalProperties": self._of(entries)}
        else:
            found = {"type": said["type"]}
        return {**found, "plain": True}

    def _reference(self, place: str) -> str:
        return f"#/types/{self.token(place.rpartition('/')[2])}"


def _name(definition: str, *, is_shared: bool) -> str:
    """Return the name of a type: the model's, after the section of the contract if several models have that name."""
    *module, name = definition.split("__")
    return f"{module[2].title()}{name}" if is_shared else name


def _without_null(said: Mapping[str, Any]) -> Mapping[str, Any]:
    if "anyOf" not in said or "type" in said:
        return said
    [real] = [option for option in said["anyOf"] if option != _NULL]
    return {**said, **real}


def _description(said: Mapping[str, Any], inner: Mapping[str, Any]) -> str:
    text = str(said.get("description", ""))
    values = inner.get("enum", ())
    listed = f" One of {', '.join(map(str, values))}." if 0 < len(values) <= _LISTED_MAX else ""
    default = said.get("default")
    is_shown = isinstance(default, str | int | float) and default != ""
    shown = f" Default: {str(default).lower() if isinstance(default, bool) else default}." if is_shown else ""
    return re.sub(r"(?<=[^.])$", ".", text) + listed + shown


def schema_text() -> str:
    """Return the schema as stored in the repository."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m infra.package.schema --write")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
