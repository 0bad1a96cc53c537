import re
from dataclasses import replace
from html import unescape

import pytest
import yaml

from support import pages, reports
from workbench.report import html
from workbench.report.markdown import COMMENT_MAX
from workbench.report.model import Operation, Outcome


def test_a_page_needs_no_script_and_no_network() -> None:
    page = html.render(reports.blocked())
    tags = pages.read(page).tags
    assert not [tag for tag in tags if re.match(r"(script|link|img|a|iframe|form)\b", tag)]
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|url\(|@import", page)


def test_a_page_says_all_that_a_comment_must_leave_out() -> None:
    names = [f"prod-{index:04d}-{'x' * 60}" for index in range(2_000)]
    changes = tuple(reports.change(Operation.CREATE, name) for name in names)
    page = html.render(reports.report(reports.stack(changes=changes)))
    assert len(page) > COMMENT_MAX
    assert set(names) <= set(pages.read(page).code)
    assert "Left out" not in page


def test_the_title_is_the_verdict() -> None:
    assert "<title>igz-clusters: Blocked</title>" in html.render(reports.blocked())


def test_the_verdict_stands_before_tables_and_lists() -> None:
    report = replace(reports.blocked(), problems=("the record has no stream",))
    page = html.render(report)
    assert page.index("Blocked</h2>") < page.index("<li>") < page.index("<table>")


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_verdict_has_a_colour_of_its_own(outcome: Outcome) -> None:
    page = html.render(reports.report(reports.stack(outcome=outcome)))
    assert f'<body class="{outcome.value}">' in page
    assert f"body.{outcome.value} {{ --verdict: #" in page


def test_many_names_of_one_type_are_a_list() -> None:
    tags = tuple(reports.change(Operation.CREATE, f"tag-{index}") for index in range(9))
    page = html.render(reports.report(reports.stack(changes=tags)))
    assert all(f"<li><code>tag-{index}</code></li>" in page for index in range(9))


def test_a_blocked_danger_comes_with_the_approval_to_write() -> None:
    page = html.render(reports.blocked())
    _, _, rows = page.partition('<code class="language-yaml">')
    rows = rows.partition("</code>")[0]
    assert yaml.safe_load(unescape(rows))["approvals"] == [
        {
            "stack": "prod",
            "resource": "aws:eks/cluster:Cluster::prod-cluster",
            "operation": "replace",
            "reason": "WHY IT MAY BE LOST",
            "owner": "TEAM",
            "ticket": "TICKET",
            "expires": "LAST DAY, AT MOST 14 DAYS AHEAD",
        }
    ]
