import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from support import outcomes, pages
from support.rehearsal_site import FULL, UNFIT
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.record import Reason
from workbench.rehearsal.report import page
from workbench.rehearsal.report.comparison import compare
from workbench.rehearsal.report.markup import element, table

HOSTILE = [
    "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<!--<script>", "]]>", '" onload="alert(1)',
    "@@data@@", "&lt;b&gt;", "\x1b[31m\x00", "\u202e",
]  # fmt: skip


def data(shown: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', shown, re.DOTALL)
    assert found
    return json.loads(found[1])


def words(shown: str) -> str:
    read = pages.read(shown.partition("<main>")[2].partition("</main>")[0])
    return " ".join(" ".join([*read.text, *read.code]).split())


def test_a_page_loads_nothing_and_links_only_within_itself() -> None:
    shown = page.render([outcomes.night(), outcomes.skipped()], [compare(outcomes.night(), outcomes.night())])
    links = re.findall(r'(?:href|src|action)="([^"]*)"', shown)
    assert set(links) == {"data:,", "#outcome-0", "#outcome-1"}
    assert set(re.findall(r"https?://[^\s\"')]*", shown)) == {"http://www.w3.org/2000/svg"}  # a namespace, never read
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|<link(?! rel=\"icon\")", shown)


def test_only_our_own_style_and_script_may_run() -> None:
    shown = page.render([outcomes.night()])
    for kind, tag in (("style", "style"), ("script", "script")):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", shown, re.DOTALL)
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in shown
    assert "default-src 'none'" in shown
    assert not re.search(r"<[^>]*\s(on\w+|style)=", shown.partition("<main>")[2].partition("<script")[0])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_markup(text: str) -> None:
    def tags(of: str) -> list[str]:
        names = [tag.split()[0] for tag in pages.read(page.render([outcomes.hostile(of)])).tags]
        return [name for name in names if name != "code"]

    assert tags(text) == tags("plain")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_is_or_escaped(text: str) -> None:
    shown = page.render([outcomes.hostile(text)])
    assert not {"\x1b", "\x00", "\u202e"} & set(shown)
    if text.isprintable():
        assert text in unescape(shown.partition("<main>")[2].partition("</main>")[0])
        assert {event["text"] for event in data(shown)[0]["events"]} == {text}


def test_data_cannot_end_its_element() -> None:
    shown = page.render([outcomes.hostile("</script><!--")])
    inner = shown.partition('id="data">')[2].partition("\n<script>")[0]
    assert inner.count("<") == 1
    assert inner.endswith("</script>")


def test_the_data_holds_every_node_pod_and_event() -> None:
    night = outcomes.night()
    assert night.record is not None
    held = data(page.render([night]))[0]
    pods = [dict(zip(held["podFields"], row, strict=True)) for row in held["pods"]]
    nodes = [dict(zip(held["nodeFields"], row, strict=True)) for row in held["nodes"]]
    assert [each["name"] for each in nodes] == [each.name for each in night.record.nodes]
    assert [
        (each["name"], each["created"], nodes[each["node"]]["name"] if each["node"] >= 0 else None, each["end"])
        for each in pods
    ] == [(each.name, each.created, each.node, each.end.value) for each in night.record.pods]
    assert len(held["events"]) == len(night.record.happenings)
    reasons = {held["texts"][each["reason"]] for each in pods if each["reason"] >= 0}
    assert f"autoscaler: {FULL}" in reasons


@pytest.mark.parametrize(
    ("shown", "headline"),
    [
        ([outcomes.night()], "2 of 9 expectations missed"),
        ([outcomes.calm()], "All 8 expectations met"),
        ([outcomes.night(), outcomes.calm()], "2 of 17 expectations missed"),
        ([outcomes.skipped()], "Skipped: no scenario applies"),
        ([outcomes.lost()], "1 scenario without a verdict"),
    ],
)
def test_the_heading_and_the_title_are_the_verdict_in_words(shown: list[Outcome], headline: str) -> None:
    written = page.render(shown)
    assert f"<h1>{headline}</h1>" in written
    assert f": {headline}</title>" in written


@pytest.mark.parametrize("others", [[], [outcomes.calm()]])
def test_a_scenario_without_a_verdict_is_no_success_and_says_why(others: list[Outcome]) -> None:
    shown = page.render([outcomes.lost(), *others])
    assert '<header class="page bad">' in shown
    assert "No verdict: etcd has ended." in words(shown)
    assert "no space left" not in shown


def test_missed_expectations_come_with_reason_pods_hint_and_field() -> None:
    text = words(page.render([outcomes.night()]))
    for hint in (outcomes.LONG_WAIT, outcomes.ON_SPOT, outcomes.SECOND):
        assert hint.cause in text
        assert hint.action in text
        assert hint.path in text
    assert UNFIT in text
    assert "train-4-worker" in text


def test_all_tables_are_there_without_a_script() -> None:
    shown = page.render([outcomes.night()])
    titles = re.findall("<h3>(.*?)</h3>", shown)
    assert titles == [
        *("Expectations", "Nodes and pods over time", "Waits", "Waiting pods", "Lost pods"),
        *("Refused by the API server", "Nodes and money", "Assumptions and limits"),
    ]
    text = words(shown)
    assert all(line in text for line in (*outcomes.ASSUMPTIONS, *outcomes.NOTES, outcomes.PRICES))
    assert "HG-01: hostPath volumes are not allowed" in text


def test_pods_that_wait_for_one_reason_share_a_row_with_its_hint() -> None:
    shown = page.render([outcomes.night()])
    table_ = shown.partition("<h3>Waiting pods</h3>")[2].partition("</table>")[0]
    row = next(row for row in table_.split("<tr>") if "train-11-worker" in row)
    assert all(part in row for part in ("train-12-worker", "never ran", "pools.gpu.size.max", "autoscaler: pod"))


def test_reasons_that_differ_in_their_numbers_only_share_a_row() -> None:
    night = outcomes.night()
    assert night.record is not None
    pods = tuple(
        replace(pod, reasons=(Reason(pod.created, "scheduler", f"0/{at + 3} nodes are available"),))
        for at, pod in enumerate(night.record.of_work("train"))
        if pod.started is None
    )
    shown = page.render([replace(night, record=replace(night.record, pods=pods))])
    rows = shown.partition("<h3>Waiting pods</h3>")[2].partition("</table>")[0].split("<tr>")[2:]
    assert len(pods) == 3
    assert len(rows) == 1


def test_several_outcomes_have_a_matrix_that_leads_to_each() -> None:
    shown = page.render([outcomes.night(), outcomes.skipped(), outcomes.calm(), outcomes.lost()])
    assert re.findall(r'data-pick="(\d)"[^>]*>([^<]*)<', shown) == [
        ("0", "✕ 2 of 9 missed"),
        ("1", "skipped"),
        ("2", "✓ met"),
        ("3", "✕ no verdict"),
    ]
    assert re.findall(r'id="(outcome-\d)"', shown) == [f"outcome-{index}" for index in range(4)]


def test_one_outcome_needs_neither_matrix_nor_picker() -> None:
    shown = page.render([outcomes.night()]).partition("<main>")[2].partition("</main>")[0]
    assert "data-pick" not in shown
    assert 'id="picker"' not in shown


def test_a_comparison_stands_above_the_outcomes() -> None:
    two = outcomes.night(), outcomes.night(gpu_max=6)
    shown = page.render(two, [compare(*two, names=("main", "HEAD"))])
    assert shown.index("training-night: main compared with HEAD") < shown.index('id="outcome-0"')
    assert "+3.88" in shown


def test_advice_stands_with_its_outcome_and_keeps_the_lines_of_its_patch() -> None:
    shown = page.render([outcomes.calm(), outcomes.night()], advice=[outcomes.advice("<b>.yaml")])
    article = shown.partition('id="outcome-1"')[2]
    assert "<h3>Advice</h3>" not in shown.partition('id="outcome-1"')[0]
    assert "Now met: train waits at most 40m" in article
    assert "The scenario costs 3.88 USD more." in article
    assert "must be at most 50" in article
    assert "Not in the patch: works.etl.mode of the scenario: allow: copy it." in article
    patch = unescape(article.partition("<pre")[2].partition(">")[2].partition("</pre>")[0])
    assert patch.splitlines() == outcomes.advice("<b>.yaml").patch.splitlines()


def test_equal_outcomes_make_equal_pages() -> None:
    assert page.render([outcomes.night()]) == page.render([outcomes.night()])


def test_a_page_of_ten_thousand_pods_stays_small() -> None:
    shown = page.render([outcomes.large()])
    assert len(data(shown)[0]["pods"]) == 10_000
    assert len(shown) < 3_000_000


def test_an_element_escapes_its_texts_and_attributes() -> None:
    made = element("p.a.b", "<b>", element("i", "x & y"), title='"><script>', hidden=True, open=False)
    assert made == '<p class="a b" title="&quot;&gt;&lt;script&gt;" hidden>&lt;b&gt;<i>x &amp; y</i></p>'


def test_a_table_can_be_scrolled_by_keyboard_and_has_a_name() -> None:
    made = table(("a", "b"), [("1", "2")], numbers=(1,), name="Things")
    assert made.startswith('<div class="scroll" role="region" tabindex="0" aria-label="Things"><table>')
    assert '<td class="number" data-label="b">2</td>' in made
