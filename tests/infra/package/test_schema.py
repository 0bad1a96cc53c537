"""The package's schema beside the models of the stack file."""

import json
from collections.abc import Iterator
from typing import Any

from components.contract.component_package import CLUSTER_TYPE
from infra.config import StackConfig
from infra.config.tree import Node, tree
from infra.package import schema

SCHEMA = schema.schema()
COMPONENT = SCHEMA["resources"][CLUSTER_TYPE]
INPUTS = {"properties": COMPONENT["inputProperties"], "required": COMPONENT["requiredInputs"]}
SCALARS = {"string", "integer", "number", "boolean"}


def typed(said: dict[str, Any]) -> dict[str, Any]:
    """Return the type behind a property's reference, or the property itself."""
    return SCHEMA["types"][said["$ref"].removeprefix("#/types/")] if "$ref" in said else said


def gaps(node: Node, said: dict[str, Any], *path: str) -> Iterator[str]:
    """Yield every place of the models that the schema types otherwise or not at all."""
    said = typed(said)
    place = ".".join(path)
    if node.members:
        mapping = said["discriminator"]["mapping"]
        assert said["discriminator"]["propertyName"] == node.tag_key
        assert [each["$ref"] for each in said["oneOf"]] == list(mapping.values())
        if mapping.keys() != node.members.keys():
            yield f"{place}: {sorted(mapping)}"
        for tag, member in node.members.items():
            yield from gaps(member, {"$ref": mapping[tag]}, *path, tag)
    elif node.keys:
        if said["properties"].keys() != node.keys.keys() or said.get("required", []) != node.said.get("required", []):
            yield f"{place}: {sorted(said['properties'])}"
        for key, inner in node.keys.items():
            yield from gaps(inner, said["properties"][key], *path, key)
    elif node.entries:
        yield from gaps(node.entries, said.get("items") or said["additionalProperties"], *path, "*")
    elif (
        not ({"type": node.said.get("type")}.items() <= said.items() and said["type"] in SCALARS)
        and "oneOf" not in said
    ):
        yield f"{place}: {said}"
    if "enum" in node.said and "enum" in said and [each["value"] for each in said["enum"]] != node.said["enum"]:
        yield f"{place}: {said['enum']}"


def specs(said: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a property's type, and the types inside it."""
    yield said
    for inner in (said.get("items"), said.get("additionalProperties"), *said.get("oneOf", ())):
        yield from specs(inner) if inner else ()


def test_the_stored_schema_is_current() -> None:
    assert schema.SCHEMA.read_text() == schema.schema_text(), "run python -m infra.package.schema --write"


def test_every_setting_of_a_stack_file_is_a_typed_input() -> None:
    assert list(gaps(tree(StackConfig), INPUTS)) == []


def test_every_type_belongs_to_a_setting() -> None:
    text = json.dumps(SCHEMA)
    assert [token for token in SCHEMA["types"] if f'"#/types/{token}"' not in text] == []


def test_no_input_may_be_an_output_of_another_resource() -> None:
    models = [INPUTS, *(each for each in SCHEMA["types"].values() if "properties" in each)]
    found = [spec for model in models for said in model["properties"].values() for spec in specs(said)]
    assert len(found) > 300
    assert [each for each in found if each.get("plain") is not True] == []


def test_names_of_types_differ_by_more_than_case() -> None:
    # Files of some languages are named after them, and not every file system tells case apart.
    assert len({token.lower() for token in SCHEMA["types"]}) == len(SCHEMA["types"])


def test_no_output_has_the_name_of_an_input_or_of_the_component() -> None:
    # C# has one member of a name, and none of its class's name.
    outputs = COMPONENT["properties"].keys()
    assert outputs & (COMPONENT["inputProperties"].keys() | {"cluster", "id", "urn"}) == set()


def test_a_description_lists_few_values_and_the_default() -> None:
    pool = SCHEMA["types"]["igz-clusters:index:NodePool"]["properties"]
    assert pool["lifecycle"]["description"].endswith(" Default: on-demand.")
    assert pool["fabric"]["description"].endswith(" Default: false.")
    protocol = SCHEMA["types"]["igz-clusters:index:Destination"]["properties"]["protocol"]
    assert " One of TCP, UDP." in protocol["description"]
    assert "m6i" not in pool["instanceTypes"]["description"]
