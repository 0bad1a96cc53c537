import re
from dataclasses import replace

from support import pages, reports
from workbench.report import html
from workbench.report.markdown import COMMENT_MAX
from workbench.report.model import Operation


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
