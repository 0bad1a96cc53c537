import json
from io import StringIO

import pytest
from rich.console import Console

from tools.benchmarks import report
from tools.benchmarks.findings import Aim, Finding
from tools.benchmarks.pairs import Estimate
from workbench.system.errors import UserError

RESULTS = {
    "previews": [
        Finding("local / empty", {"CPU": Estimate(1.5, 1.4, 1.6)}, Aim("CPU", 2.0, "an unchanged preview")),
        Finding("prod / empty", {"CPU": Estimate(2.5, 2.4, 2.6)}, Aim("CPU", 2.0, "an unchanged preview")),
    ],
    "growth": [Finding("40 resources", {"CPU": Estimate(1, 1, 1)}), Finding("a line", {"1 - R²": 0.00123})],
}
ABOUT = {"date": "2026-01-31", "machine": "2 cores"}
PAGE = f"# Title\n\nby hand\n\n{report.BEGIN}\nold\n{report.END}\n\nmore by hand\n"


def test_the_page_keeps_what_is_written_by_hand_and_renews_what_is_measured() -> None:
    written = report.page(PAGE, RESULTS, ABOUT)
    assert written.startswith("# Title\n\nby hand\n")
    assert written.endswith("more by hand\n")
    assert "old" not in written
    assert "date: 2026-01-31, machine: 2 cores" in written
    assert report.page(written, RESULTS, ABOUT) == written


def test_the_page_lists_every_aim_with_its_verdict() -> None:
    written = report.page(PAGE, RESULTS, ABOUT)
    assert "| an unchanged preview | local / empty | 2.0 | 1.50 [1.40, 1.60] | met |" in written
    assert "| an unchanged preview | prod / empty | 2.0 | 2.50 [2.40, 2.60] | missed |" in written


def test_lines_with_other_values_get_a_table_of_their_own() -> None:
    written = report.page(PAGE, RESULTS, ABOUT)
    assert "|  | CPU |\n| --- | --- |\n| 40 resources | 1.00 [1.00, 1.00] |" in written
    assert "|  | 1 - R² |\n| --- | --- |\n| a line | 0.0012 |" in written


def test_a_page_without_markers_is_an_error() -> None:
    with pytest.raises(UserError, match="lacks the lines"):
        report.page("# Title\n", RESULTS, ABOUT)


def test_the_pages_own_markers_are_there() -> None:
    assert report.page(report.PAGE.read_text(), RESULTS, ABOUT)


def test_json_holds_numbers_and_verdicts() -> None:
    document = json.loads(report.as_json(RESULTS, ABOUT))
    first = document["cases"]["previews"][0]
    assert first["values"]["CPU"] == {"median": 1.5, "low": 1.4, "high": 1.6}
    assert first["aim"]["at_most"] == 2.0
    assert (first["verdict"], document["about"]) == ("met", ABOUT)


def test_the_terminal_shows_every_line_whole_even_where_it_is_narrow() -> None:
    console = Console(file=StringIO(), width=40)
    report.show(RESULTS, console)
    assert isinstance(console.file, StringIO)
    printed = console.file.getvalue()
    for words in ("local / empty", "1.50 [1.40, 1.60]", "missed", "a line"):
        assert words in printed
