"""The money of a rehearsal in the report on a change."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.outcomes import night
from support.streams import stream
from workbench.rehearsal.report import as_json
from workbench.report import markdown, rehearsed
from workbench.report.events import read as read_events
from workbench.report.model import Report, Source, StackReport
from workbench.report.money import Rehearsed
from workbench.report.pools import before_and_after
from workbench.report.verdict import Case, judge
from workbench.system.errors import UserError

FEE = 73
"""EKS's fee for a control plane, USD a month."""


def outcome(stack: str, groups: Any, nodes: dict[str, list[tuple[float, float | None]]]) -> dict[str, Any]:
    """Return an outcome of an hour as JSON: node groups of a stack's output, and when nodes were there."""
    made = [{"group": name, "created": start, "gone": end} for name, spans in nodes.items() for start, end in spans]
    shown = [
        {"name": name, "instanceType": each.instance_types[0], "lifecycle": each.lifecycle, "min": each.min,
         "max": each.max} for name, each in groups.items()
    ]  # fmt: skip
    return {"stack": stack, "scenario": "jobs", "record": {"lasts": 3600, "groups": shown, "nodes": made}}


def written(folder: Path, *outcomes: dict[str, Any], comparisons: Any = ()) -> Path:
    file = folder / "rehearsal.json"
    file.write_text(json.dumps({"schemaVersion": 1, "outcomes": outcomes, "comparisons": list(comparisons)}))
    return file


def report_of(found: dict[str, list[rehearsed.Rehearsal]]) -> StackReport:
    return judge(Case("prod", Source.COMPARED, read_events(stream("larger")), rehearsals=found.get("prod", ())))


def test_the_mean_number_of_nodes_is_priced_like_the_other_sizes(tmp_path: Path) -> None:
    before, after = before_and_after(read_events(stream("larger")))
    assert before
    initial = next(name for name, each in after.items() if each.role == "initial")
    price = {"m6i.xlarge": 0.214, "m6i.2xlarge": 0.428}[after[initial].instance_types[0]]
    # Two nodes all the time, one for a quarter of it: 2.25 on average; what is outside of the scenario does not count.
    full = outcome("prod", after, {initial: [(-60, None), (0, 9000), (900, 1800)]})
    one = outcome("prod@main", before, {initial: [(-60, None)]})
    file = written(tmp_path, one, full, comparisons=[{"scenario": "jobs", "before": "prod@main", "after": "prod"}])
    stack = report_of(rehearsed.read(file, ["prod", "dev"]))
    assert stack.cost
    assert stack.cost.rehearsed == (Rehearsed("jobs", round(price * 730 + FEE), round(2.25 * price * 730 + FEE)),)
    text = markdown.render(Report(stack.outcome, (stack,)))
    (money,) = stack.cost.rehearsed
    assert f"A month with the mean number of nodes of a rehearsal: {money.before} → {money.after} USD (jobs)." in text


def test_a_rehearsal_of_other_node_groups_is_named_and_not_counted(tmp_path: Path) -> None:
    before, _ = before_and_after(read_events(stream("larger")))
    stack = report_of(rehearsed.read(written(tmp_path, outcome("prod", before, {})), ["prod"]))
    assert stack.cost
    assert stack.cost.rehearsed == (Rehearsed("jobs", None, None),)
    text = markdown.render(Report(stack.outcome, (stack,)))
    assert "Rehearsed with other node groups than those of this change: jobs. Rehearse again." in text


def test_the_json_of_a_rehearsal_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rehearsal.json"
    file.write_text(as_json.render([night("prod")]))
    (found,) = rehearsed.read(file, ["prod"])["prod"]
    played = night("prod")
    assert played.record
    assert played.costs
    hours = sum(found.after.nodes.values()) * played.record.lasts / 3600
    assert hours == pytest.approx(played.costs.total.node_hours)
    assert {each.name for each in found.after.groups} == {each.name for each in played.record.groups}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("no JSON", "is not the JSON of a rehearsal: all of it: Invalid JSON"),
        ("{}", "is not the JSON of a rehearsal: schemaVersion: Field required"),
        ('{"schemaVersion": 2, "outcomes": [], "comparisons": []}', "schemaVersion: Input should be 1"),
        ('{"schemaVersion": 1, "outcomes": [], "comparisons": []}', "is about no stack; the change has dev, prod."),
    ],
)
def test_a_file_that_is_no_rehearsal_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "rehearsal.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError) as error:
        rehearsed.read(file, ["prod", "dev"])
    assert error.value.message.startswith(f"--rehearsal: {file} ")
    assert said in error.value.message
    assert "--json > rehearsal.json" in error.value.hint


def test_a_rehearsal_of_another_stack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is about test; the change has prod\."):
        rehearsed.read(written(tmp_path, outcome("test", {}, {})), ["prod"])
