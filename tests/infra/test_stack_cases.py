from pathlib import Path
from typing import Any

import pytest

from support.stack_cases import BASES, CaseFileError, load

BASE = "local: {given: {kind: local, size: {min: 1, max: 2}, types: [a, b]}}\n"
CASE = "case: {like: local, but: {size: {min: 7}}, problems: [wrong]}\n"


def loaded(folder: Path, **files: str) -> Any:
    (folder / BASES).write_text(BASE)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return load(folder)


@pytest.mark.parametrize(
    ("but", "document"),
    [
        ("{size: {min: 7}}", {"kind": "local", "size": {"min": 7, "max": 2}, "types": ["a", "b"]}),
        ("{size: null}", {"kind": "local", "types": ["a", "b"]}),
        ("{size: <null>}", {"kind": "local", "size": None, "types": ["a", "b"]}),
        ("{types: {1: c}}", {"kind": "local", "size": {"min": 1, "max": 2}, "types": ["a", "c"]}),
        ("{types: [c, <null>], size: true}", {"kind": "local", "size": True, "types": ["c", None]}),
    ],
)
def test_but_changes_what_the_case_is_like(tmp_path: Path, but: str, document: object) -> None:
    [case] = loaded(tmp_path, cases=f"case: {{like: local, but: {but}, problems: [wrong]}}")
    assert (case.name, case.document, case.problems) == ("case", document, ("wrong",))


def test_a_case_that_is_like_no_base_is_written_out(tmp_path: Path) -> None:
    [case] = loaded(tmp_path, cases="case: {given: null, problems: [wrong]}")
    assert case.document is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case: 1", "cases.yaml: case: must be a mapping with 'problems' and what they are about"),
        ("case: {given: 1}", "cases.yaml: case: 'problems' must list at least one message as text"),
        ("case: {given: 1, problems: []}", "cases.yaml: case: 'problems' must list at least one message as text"),
        ("case: {given: 1, problems: [{a: b}]}", "cases.yaml: case: 'problems' must list at least one message as text"),
        (
            "case: {like: local, but: {}, more: 1, problems: [x]}",
            "cases.yaml: case: has the keys like, but, more; needs 'like' and 'but', or 'given' alone",
        ),
        ("case: {like: lcal, but: {a: b}, problems: [x]}", "cases.yaml: case: no base 'lcal'; allowed: local"),
        (
            "case: {like: local, but: {kind: local}, problems: [x]}",
            "cases.yaml: case: 'but' changes nothing of 'local'",
        ),
    ],
)
def test_a_mistake_in_a_case_says_where_it_is_and_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CaseFileError) as caught:
        loaded(tmp_path, cases=text)
    assert str(caught.value) == message


def test_no_case_hides_another(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match=r"(?s)cases\.yaml: 'case' is given twice.*line 2, column 1"):
        loaded(tmp_path, cases=CASE + CASE)
    with pytest.raises(CaseFileError, match=r"more\.yaml: case: another file has a case of this name; rename one"):
        loaded(tmp_path, cases=CASE, more=CASE)
