"""The page about scenarios names every key and kind, and its example is a valid scenario."""

import re
from typing import Any, Final, get_args

import pytest
import yaml

from tools.pages import rehearsal
from workbench.rehearsal.scenario.events import Event
from workbench.rehearsal.scenario.expectations import Expectation
from workbench.rehearsal.scenario.kinds import KINDS_OF_KEY, WorkKind
from workbench.rehearsal.scenario.model import Needs, Scenario
from workbench.rehearsal.scenario.places import Place
from workbench.rehearsal.scenario.work import Volume, Work
from workbench.system.paths import PROJECT_ROOT

PAGE: Final = (PROJECT_ROOT / "docs" / "rehearsal.md").read_text(encoding="utf-8")
SECTION: Final = re.split(r"\n## ", PAGE.split("## Scenarios", 1)[1])[0]
MEMBERS: Final = (*get_args(get_args(Event)[0]), *get_args(get_args(Expectation)[0]))
KINDS: Final = [member.model_fields.get("event") or member.model_fields["expect"] for member in MEMBERS]
NAMES: Final = [get_args(kind.annotation)[0] for kind in KINDS]


def test_the_example_is_a_valid_scenario() -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", SECTION, re.DOTALL)
    Scenario.model_validate(yaml.safe_load(example))


@pytest.mark.parametrize("name", [*WorkKind, *NAMES])
def test_every_kind_has_its_row(name: str) -> None:
    assert len(re.findall(rf"^\| `{name}` \|", SECTION, re.MULTILINE)) == (2 if name == "pod" else 1)


@pytest.mark.parametrize("model", [Scenario, Needs, Work, Volume, Place, *MEMBERS], ids=lambda model: model.__name__)
def test_every_key_is_named(model: Any) -> None:
    assert [field.alias for field in model.model_fields.values() if f"`{field.alias}`" not in SECTION] == []


def test_the_table_of_keys_says_which_kinds_have_them() -> None:
    assert [key for key in KINDS_OF_KEY if not re.search(rf"^\| [^|]*`{key}`", SECTION, re.MULTILINE)] == []


def test_editors_and_the_page_speak_of_the_same_kinds() -> None:
    assert set(rehearsal.KINDS) == set(WorkKind)
