from pathlib import Path

from tools.sizes import FILE_MAX, FUNCTION_MAX, measure, shipped


def test_the_shipped_source_keeps_its_budgets() -> None:
    assert measure(shipped()).problems == []


def test_what_exceeds_a_budget_is_named(tmp_path: Path) -> None:
    body = "\n".join(f"    x{number} = {number}" for number in range(FUNCTION_MAX))
    long = tmp_path / "long.py"
    long.write_text(f'"""Long."""\n\n\ndef quick() -> None:\n    """Short."""\n\n\ndef slow() -> None:\n{body}\n')
    large = tmp_path / "large.py"
    large.write_text("x = 1\n" * (FILE_MAX + 1))
    sizes = measure([long, large], tmp_path)
    assert sizes.total == sum(sizes.files.values())
    assert sizes.problems == [
        f"large.py has {FILE_MAX + 1} lines; at most {FILE_MAX} per file",
        f"long.py:8 slow has {FUNCTION_MAX + 1} lines; at most {FUNCTION_MAX} per function",
        "50.0% of public definitions have a docstring; at least 95%",
        "long.py:8 slow",
        "large.py",
    ]


def test_private_and_overriding_definitions_need_no_docstring(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        '"""Module."""\n\n\nclass Public(Base):\n    """Public."""\n\n    @override\n    def run(self): ...\n\n'
        "    def _hidden(self): ...\n\n\nclass _Private:\n    def run(self): ...\n"
    )
    assert measure([file], tmp_path).undocumented == ()
