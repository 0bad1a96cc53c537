"""docs/operator.md says what the model and the commands have."""

import json
import re
from typing import Any

import yaml

from workbench.cli import pulumi
from workbench.cli.operator import app
from workbench.pulumi_operator.manifests import WORKSPACES
from workbench.pulumi_operator.model import SET, OperatorFile
from workbench.system.paths import PROJECT_ROOT

PAGE = (PROJECT_ROOT / "docs" / "operator.md").read_text()


def default(field: Any) -> str:
    if field.is_required():
        return "required"
    if field.default in (None, {}, ()):
        return "none"
    if isinstance(field.default, str | bool):
        return f"{field.default}" if isinstance(field.default, str) else json.dumps(field.default)
    return yaml.safe_dump(field.default.model_dump(), default_flow_style=True).strip().replace("'", '"')


def test_the_example_is_valid_and_every_key_is_explained_with_its_default() -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    OperatorFile.model_validate(yaml.safe_load(example))
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", PAGE, re.MULTILINE))
    defaults = {field.alias or name: default(field) for name, field in OperatorFile.model_fields.items()}
    assert {key: shown.strip("`") for key, shown in rows.items()} == {**defaults, "backend": "Pulumi Cloud"}


def test_the_page_names_the_commands_and_those_of_the_engine() -> None:
    assert {"manifests", "check"} == {each.callback.__name__ for each in app.registered_commands if each.callback}
    assert all(f"operator {name}" in PAGE for name in ("manifests", "check"))
    assert f"operator/{WORKSPACES}.yaml" in PAGE
    (row,) = re.findall(r"^\| (.*) \| the engine itself \|$", PAGE, re.MULTILINE)
    engine = {**{name: {""} for name in pulumi._ALWAYS}, **pulumi._BY_SUBCOMMAND}
    named = dict[str, set[str]]()
    for command in re.findall(r"`([a-z -]+)`", row):
        first, _, second = command.partition(" ")
        named.setdefault(first, set()).add(second)
    assert named == engine
    assert set(re.findall(r"`(\w+)`", PAGE.partition("Variables that are set")[2].partition("\n\n")[0])) == {*SET}
