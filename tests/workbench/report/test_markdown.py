import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support import reports
from workbench.report import markdown
from workbench.report.folding import Folding
from workbench.report.markdown import COMMENT_MAX
from workbench.report.model import Change, Danger, FindingStatus, Operation, Outcome, PropertyChange, Report, Source

GOLDEN = Path(__file__).parent / "comments"


def creations(number: int) -> tuple[Change, ...]:
    return tuple(
        reports.change(Operation.CREATE, f"dev-{index:03d}", f"aws:ec2/subnet:Subnet{index % 12}")
        for index in range(number)
    )


def updates(number: int, properties: int = 6) -> tuple[Change, ...]:
    some = tuple(PropertyChange(f"tags.owner{index}", "platform-team", "data-team") for index in range(properties))
    return tuple(
        reports.change(Operation.UPDATE, f"prod-tagged-{index:03d}", properties=some) for index in range(number)
    )


def crowd(lost: int, updated: int, found: int) -> Report:
    """Return a report with so many replacements, updates and findings, each different from the others."""
    changes = tuple(
        replace(change, properties=(reports.forced(f"instanceTypes[{index}]", f"m{index}.large", f"m{index}.xlarge"),))
        for index, change in enumerate(reports.replacements(lost))
    )
    findings = tuple(
        reports.finding(
            f"NG-{index % 30:02d}", FindingStatus.VIOLATED, f"prod-{index}", f"node group {index} is wrong " * 8
        )
        for index in range(found)
    )
    return reports.report(
        reports.stack(outcome=Outcome.BLOCKED, changes=(*changes, *updates(updated)), findings=findings)
    )


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("blocked", reports.blocked()),
        ("passed", reports.report(reports.stack(changes=updates(1, 1), unchanged=170))),
        ("first", reports.report(reports.stack(source=Source.RENDERED, changes=creations(60)))),
        (
            "broken",
            reports.report(reports.stack(outcome=Outcome.BLOCKED, kind="", rules=0, problems=("line 3: no pool",))),
        ),
        ("unreadable", Report(Outcome.UNJUDGED, (), problems=("review.json is missing",))),
    ],
)
def test_a_comment_reads_as_reviewed(name: str, report: Report) -> None:
    assert markdown.render(report) == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("outcome", Outcome)
def test_the_verdict_is_said_in_words_before_all_else(outcome: Outcome) -> None:
    heading = markdown.render(reports.report(reports.stack(outcome=outcome))).splitlines()[0]
    words = {"passed": "Passed", "review": "must review", "blocked": "Blocked", "unjudged": "Evaluation incomplete"}
    assert words[outcome] in heading


def test_a_render_says_on_top_that_it_was_compared_with_nothing() -> None:
    rendered, compared = (
        markdown.render(reports.report(reports.stack(source=source))) for source in (Source.RENDERED, Source.COMPARED)
    )
    assert 0 < rendered.index("Not compared with the live stack") < rendered.index("| stack |")
    assert "Not compared" not in compared


def test_of_several_stacks_those_that_were_not_compared_are_named() -> None:
    both = reports.report(reports.stack(stack="dev", source=Source.RENDERED), reports.stack())
    assert "> **`dev`: Not compared with the live stack" in markdown.render(both)


@pytest.mark.parametrize(
    ("lost", "updated", "found"), [(3, 497, 200), (500, 0, 0), (500, 0, 200), (250, 250, 200), (1_000, 500, 200)]
)
def test_whatever_is_replaced_is_named_within_the_limit(lost: int, updated: int, found: int) -> None:
    report = crowd(lost, updated, found)
    comment = markdown.render(report)
    assert len(comment) <= COMMENT_MAX
    assert all(f"`{change.name}`" in comment for change in report.stacks[0].changes[:lost])
    assert all(f"NG-{number:02d}" in comment for number in range(30 if found else 0))


def test_what_was_left_out_is_said_and_where_the_whole_is() -> None:
    report = crowd(3, 497, 200)
    comment = markdown.render(report)
    assert "Omitted because of its length: values of properties" in comment
    assert "run's summary and artifact" in comment
    assert "Left out" not in markdown.render(report, limit=sys.maxsize)


def test_each_step_leaves_out_more_and_only_what_it_says() -> None:
    report = crowd(3, 497, 200)
    steps = [markdown._page(report, step) for step in Folding]
    assert [markdown.render(report, len(text)) for text in steps] == steps
    for text in steps:
        assert all(f"prod-pool-{index:05d}" in text for index in range(3))
    for number, gone in enumerate(["platform-team", "tags.owner5", "Mend it.", "is wrong", "Forced by"]):
        assert gone in steps[number]
        assert gone not in steps[number + 1]


def test_dangers_stay_whole_lines_when_all_else_is_short() -> None:
    report = reports.blocked()
    crowded = replace(report, stacks=(replace(report.stacks[0], changes=report.stacks[0].changes + updates(900)),))
    comment = markdown.render(crowded, limit=5_000)
    assert "**Replace cluster** `prod-cluster`" in comment
    assert "**Not approved.**" in comment
    assert "**Approved only by a row that this change adds or alters:**" in comment


def test_more_names_than_any_comment_holds_are_counted_and_the_gravest_are_named() -> None:
    lost = list(reports.replacements(5_000))
    lost[4_999] = replace(lost[4_999], carries_state="its data")
    danger = Danger(lost[4_998], "data pool")
    report = reports.report(reports.stack(outcome=Outcome.BLOCKED, changes=tuple(lost), dangers=(danger,)))
    comment = markdown.render(report)
    listed = re.findall(r"^- \*\*Replace\*\* `(.*?)`", comment, re.MULTILINE)
    assert listed[:2] == ["prod-pool-04998", "prod-pool-04999"]
    assert f"and {5_000 - len(listed):,} more" in comment
    assert "replace 5,000" in comment
    assert len(comment) <= COMMENT_MAX
    assert COMMENT_MAX - len(comment) < 200


def test_alike_replacements_share_a_line_only_if_all_about_them_is_alike() -> None:
    first, second, third = reports.replacements(3)
    other = replace(third, properties=(reports.forced("diskSize", "1", "2"),))
    comment = markdown.render(reports.report(reports.stack(changes=(first, second, other))))
    assert f"`{first.name}`, `{second.name}`. Forced by `instanceTypes`" in comment
    assert f"`{other.name}`. Forced by `diskSize` from `1` to `2`" in comment


def test_what_the_loss_costs_is_said() -> None:
    lost = reports.change(Operation.DELETE, "prod-data", carries_state="what lies on its disks")
    assert "Lost with it: what lies on its disks." in markdown.render(reports.report(reports.stack(changes=(lost,))))


def test_equal_reports_yield_equal_comments() -> None:
    assert markdown.render(crowd(50, 50, 50)) == markdown.render(crowd(50, 50, 50))
