import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from policies.examples import FOLDER
from policies.registry import RULES
from workbench.cli.app import app
from workbench.cli.policy_catalogue import catalogue
from workbench.system.errors import UserError


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["policy", *arguments])


def test_the_list_names_every_rule_with_level_and_place() -> None:
    rows = json.loads(run("list", "--json").stdout)
    listed = {row["id"]: row for row in rows if row["id"]}
    assert {rule.id for rule in RULES} <= set(listed)
    assert listed["NG-17"]["level"] == {"dev": "advisory", "prod": "mandatory"}
    assert all(bool(row["enforced_at"]) != bool(row["reason"]) for row in rows)
    assert sorted(listed) == [each.id for each in catalogue() if each.id]
    assert "NG-17" in run("list").stdout


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_every_rule_is_explained_with_its_source_and_two_examples(rule: object) -> None:
    said = run("explain", rule.id.lower()).stdout
    assert said.startswith(f"{rule.id}: {rule.title}")
    for part in (rule.source, rule.why, rule.fix, "\npasses: ", "\nfails: ", f"  [{rule.id}] "):
        assert part in said, part


def test_an_explanation_as_json_holds_the_resources() -> None:
    said = json.loads(run("explain", "NG-17", "--json").stdout)
    assert [*said["examples"]] == ["good", "bad"]
    assert said["examples"]["bad"]["resources"][0]["resource"] == "aws:eks/nodeGroup:NodeGroup"


def test_a_rule_that_is_not_there_is_answered_with_the_nearest() -> None:
    result = run("explain", "NG-71")
    assert isinstance(result.exception, UserError)
    assert "There is no rule 'NG-71'" in str(result.exception)
    assert "policy list" in result.exception.hint


def test_examples_are_judged_as_they_expect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")  # where doubt fails
    result = run("test", str(FOLDER / "nodes" / "examples"))
    assert (result.exit_code, ", 0 differ" in result.stdout) == (0, True)


def test_an_example_that_differs_is_named_with_both_outcomes(tmp_path: Path) -> None:
    (tmp_path / "ng-17.yaml").write_text(
        "good:\n  about: Is open.\n  like: eks/gpu-group\n  but: {props: {taints: []}}\n"
        "bad:\n  about: Is tainted.\n  like: eks/gpu-group\n  expect: [NG-17]\n"
    )
    result = run("test", str(tmp_path))
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "NG-17/good: expected nothing, got expect: NG-17",
        "NG-17/bad: expected expect: NG-17, got nothing",
        "2 examples: 0 as expected, 2 differ",
    ]


@pytest.mark.parametrize(
    "text",
    ["[", "good: 3\n", "- 1\n", "good: {like: eks/none}\n", "good: {like: nowhere/none}\n", "good: {about: x}\n"],
)
def test_a_file_without_examples_is_answered(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    result = run("test", str(tmp_path))
    assert isinstance(result.exception, UserError), result.exception
    assert "x.yaml: not a file of examples" in str(result.exception)


def test_a_folder_without_files_is_answered(tmp_path: Path) -> None:
    assert "There is no example in" in str(run("test", str(tmp_path)).exception)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        ("[]", "not an exported state"),
        ("{}", "not an exported state"),
        ('{"deployment": null}', "not an exported state"),
        ('{"deployment": {"resources": {}}}', "not an exported state"),
        ("\udcff", "invalid JSON"),
    ],
)
def test_what_is_no_state_is_answered(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "state.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = run("check", str(file))
    assert said in str(result.exception)


def test_a_state_that_is_not_there_is_answered(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in str(run("check", str(tmp_path / "none.json")).exception)
