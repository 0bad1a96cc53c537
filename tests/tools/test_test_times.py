from collections import Counter
from pathlib import Path

from tools.test_times import Times, page, read

REPORT = """\
<testsuites><testsuite>
<testcase classname="tests.engine.test_render" name="a" time="2.5" />
<testcase classname="tests.engine.test_render" name="b" time="0.5"><failure /></testcase>
<testcase classname="tests.test_stacks" name="c" time="1.0" />
</testsuite></testsuites>
"""


def test_a_report_is_read_by_file(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(REPORT)
    failed, tests, seconds = read(file)
    assert failed == 1
    assert tests == {"tests/engine/test_render.py": 2, "tests/test_stacks.py": 1}
    assert seconds == {"tests/engine/test_render.py": 3.0, "tests/test_stacks.py": 1.0}


def test_the_page_names_machine_day_and_the_slowest_first() -> None:
    counted = Counter({"tests/test_stacks.py": 1, "tests/engine/test_render.py": 2})
    text = page(Times("2026-01-31", 2, 9.5, 600, 900, 1, counted, counted))
    assert "2026-01-31" in text
    assert "3 tests in\n**10.0 minutes** on 2 cores, three workers for two of them; 1 failed." in text
    assert "9.5 processes wanted one of" in text
    assert text.index("| `tests/engine/test_render.py` | 2 | 2 |") < text.index("| `tests/test_stacks.py` | 1 | 1 |")
