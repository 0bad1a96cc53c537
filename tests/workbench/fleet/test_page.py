"""docs/fleet.md says what the models, the report and the commands have."""

import json
import re
from pathlib import Path

import yaml

from workbench.cli.fleet import app
from workbench.fleet import report
from workbench.fleet.model import Fleet, Wave
from workbench.fleet.record import Entry, Records, Run
from workbench.fleet.report import FleetReport
from workbench.fleet.verb import Result, Verb
from workbench.system.paths import PROJECT_ROOT

PAGE = (PROJECT_ROOT / "docs" / "fleet.md").read_text()


def test_the_example_is_valid_and_every_key_is_explained_with_its_default() -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert [wave.name for wave in Fleet.model_validate(yaml.safe_load(example)).waves] == ["canary", "early", "rest"]
    rows = dict(re.findall(r"^\| `([\w.\[\]]+)` \|.*\| (.*) \|$", PAGE, re.MULTILINE))
    fields = {field.alias or name: field for name, field in Fleet.model_fields.items()}
    fields |= {f"waves[].{field.alias or name}": field for name, field in Wave.model_fields.items()}
    defaults = {key: "required" if field.is_required() else json.dumps(field.default) for key, field in fields.items()}
    assert {key: shown.strip("`").removesuffix("s") for key, shown in rows.items()} == defaults


def test_the_example_of_json_has_the_keys_of_the_report() -> None:
    [example] = re.findall(r"```json\n(\{.*?)```", PAGE, re.DOTALL)
    run = Run("id", Verb.UP, entries=[Entry("w", Verb.UP, "s", Result.OK)])
    shape = json.loads(report.as_json(FleetReport(run, Records(Path("/nowhere"))), 0))
    shown = json.loads(example)
    assert shown.keys() == shape.keys()
    assert shown["stacks"][0].keys() == shape["stacks"][0].keys()
    assert all(f"`{result.value}`" in PAGE for result in Result)


def test_the_page_names_every_command() -> None:
    names = {
        command.name or (command.callback.__name__ if command.callback else "") for command in app.registered_commands
    }
    assert {name for name in names if not re.search(rf"fleet {name}\b|\b{name}\b", PAGE)} == set()
