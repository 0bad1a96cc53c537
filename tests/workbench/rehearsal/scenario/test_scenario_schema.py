"""The schema for editors is current, explains every key, and agrees with the model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from support import stack_cases
from support.stack_cases import Case
from tools.pages import rehearsal
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.kinds import WorkKind

SCHEMA = rehearsal.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
CASES = stack_cases.load(Path(__file__).parent / "cases")

BEYOND_A_SCHEMA = {
    *(
        "after-the-end",
        "event-after-the-end",
        "minimum-after-the-end",
        "last-one-after-the-end",
        "stays-after-the-end",
    ),  # sums of durations
    *("hours-of-a-short-night", "hours-that-overlap"),
    *("wait-as-long-as-the-scenario", "restart-as-long-as-the-scenario", "lasts-longer-than-a-month"),
    "wait-as-long-as-is-left-after-the-first-arrival",
    *("every-moment", "lasts-no-time", "limits-below-requests", "cpu-none", "too-many-units"),  # sizes in texts
    *("unknown-work", "scale-an-unknown-work", "expectation-of-an-unknown-work", "never-arrives"),  # names
    *("completion-of-what-never-ends", "scale-a-job", "scale-what-scales-itself", "load-on-a-fixed-number"),
    *("hours-of-a-short-night", "hours-that-overlap"),  # sums of durations
    *("load-on-a-job", "keeps-up-without-traffic", "keeps-up-as-long-as-the-scenario", "scales-to-its-minimum"),
}
"""Bad scenarios in which an editor sees no mistake: no schema can say what is wrong with them."""


def test_the_stored_schema_is_current() -> None:
    assert rehearsal.SCHEMA.read_text(encoding="utf-8") == rehearsal.schema_text()


def test_the_stored_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(rehearsal.SCHEMA.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", files.shipped().values(), ids=lambda file: file.stem)
def test_editors_accept_every_shipped_scenario(file: Path) -> None:
    assert list(VALIDATOR.iter_errors(yaml.safe_load(file.read_text()))) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_editors_see_the_mistakes_that_a_schema_can_say(case: Case) -> None:
    assert VALIDATOR.is_valid(case.document) is (case.name in BEYOND_A_SCHEMA)


def described(said: Any) -> Iterator[tuple[str, Any]]:
    """Return every key with what the schema says about it."""
    for name, definition in {"": said, **said["$defs"]}.items():
        for key, each in definition.get("properties", {}).items():
            yield f"{name}.{key}", each


@pytest.mark.parametrize(
    ("key", "said"), list(described(SCHEMA)), ids=lambda each: each if isinstance(each, str) else ""
)
def test_every_key_has_a_description_and_an_example_that_is_valid(key: str, said: dict[str, Any]) -> None:
    assert said["description"].endswith(".")
    assert said["examples"]
    checker = jsonschema.Draft202012Validator({**said, "$defs": SCHEMA["$defs"]})
    inside = [error for example in said["examples"] for error in checker.iter_errors(example)]
    assert [error.message for error in inside if "is a required property" not in error.message] == []


def test_every_kind_of_work_is_explained() -> None:
    text = SCHEMA["$defs"]["WorkKind"]["description"]
    assert [kind for kind in WorkKind if f"- {kind}: " not in text] == []


def test_the_tool_says_when_the_schema_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "PROJECT_ROOT", tmp_path)
    monkeypatch.setattr(rehearsal, "SCHEMA", tmp_path / "rehearsal.schema.json")
    with pytest.raises(SystemExit, match=r"^rehearsal\.schema\.json is stale; run `python -m tools"):
        rehearsal.main(["--check"])
    rehearsal.main(["--write"])
    rehearsal.main(["--check"])
    with pytest.raises(SystemExit, match="usage"):
        rehearsal.main([])
