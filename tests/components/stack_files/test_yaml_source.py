from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.stack_files.yaml_source import (
    BYTES_MAX,
    DEPTH_MAX,
    VALUES_MAX,
    Position,
    SourceError,
    inline,
    parse,
    read,
    written,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(PLAIN)
def test_plain_data_is_read_as_yaml_reads_it(value: Any) -> None:
    text = written({"value": value})
    assert parse(text).document == yaml.safe_load(text)
    assert parse(text).problems == ()


@given(PLAIN)
def test_plain_data_on_one_line_is_read_as_it_was(value: Any) -> None:
    text = inline(value)
    assert "\n" not in text
    source = parse(f"a:\n  b: {text}  # why\n")
    assert (source.document, source.problems) == ({"a": {"b": value}}, ())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("089", '"089"'),
        ("1e3", '"1e3"'),
        ("1.36", '"1.36"'),
        ("off", '"off"'),
        ("two\nlines\n", '"two\\nlines\\n"'),
        ("10.20.0.0/16", "10.20.0.0/16"),
        ({"min": 0, "of": ["m6i.xlarge", None]}, "{min: 0, of: [m6i.xlarge, null]}"),
    ],
)
def test_text_on_one_line_has_quotes_where_a_reader_needs_them(value: Any, text: str) -> None:
    assert inline(value) == text


@pytest.mark.parametrize(
    "text",
    [
        "base: &b {x: 1, y: [1, 2]}\ncopy: *b\n",
        "base: &b {x: 1, y: 2}\nother: {<<: *b, y: 3}\n",
        "base: &b {x: 1, y: 2}\nother: {y: 3, <<: *b}\n",
        "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b], z: 3}\n",
        "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n",
        "a: |\n  two\n  lines\nb: >-\n  folded\n  text\n",
    ],
)
def test_anchors_aliases_merges_and_blocks_mean_what_yaml_says(text: str) -> None:
    source = parse(text)
    assert source.document == yaml.safe_load(text)
    assert source.problems == ()


def test_a_key_is_the_text_that_stands_there() -> None:
    assert parse("{on: 1, 7: 2, ~: 3, 2026-11-21: 4}").document == {"on": 1, "7": 2, "~": 3, "2026-11-21": 4}


def test_every_key_and_item_has_its_place() -> None:
    source = parse("a:\n  b: [1,\n    2]\n  c:\n  - x\n  - y: z\n")
    assert source.positions[("a", "b")] == Position(2, 3)
    assert source.positions[("a", "b", 1)] == Position(3, 5)
    assert source.positions[("a", "c", 1)] == Position(6, 5)
    assert source.positions[("a", "c", 1, "y")] == Position(6, 5)


def test_what_is_not_there_is_where_it_is_missing() -> None:
    source = parse("a:\n  b: 1\n")
    assert source.position(("a", "c", "d")) == Position(1, 1)
    assert source.position(("a", "b", "c")) == Position(2, 3)
    assert source.position(()) == Position(1, 1)


def test_a_merged_key_is_where_it_was_written() -> None:
    assert parse("a: &a\n  x: 1\nb:\n  <<: *a\n").positions[("b", "x")] == Position(2, 3)


def test_limits_hold_exactly() -> None:
    parse("[" * DEPTH_MAX + "]" * DEPTH_MAX)
    parse(f"[{'1,' * (VALUES_MAX - 1)}]")
    with pytest.raises(SourceError, match="is nested more than"):
        parse("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1))
    with pytest.raises(SourceError, match="contains more than"):
        parse(f"[{'1,' * VALUES_MAX}]")


def test_aliases_count_as_often_as_they_are_used() -> None:
    uses = VALUES_MAX // 100
    assert len(parse(f"a: &a [{'1,' * 97}]\nb: [{'*a,' * (uses - 2)}]").document["b"]) == uses - 2
    with pytest.raises(SourceError, match="contains more than"):
        parse(f"a: &a [{'1,' * 97}]\nb: [{'*a,' * (uses + 1)}]")


@pytest.mark.parametrize("size", [BYTES_MAX + 1, 100 * BYTES_MAX])
def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path, size: int) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(size)
    with pytest.raises(SourceError, match=r"^the file is larger than the limit of 1024 KiB$"):
        read(file)


def test_a_file_at_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text("text: " + "x" * (BYTES_MAX - 7) + "\n")
    assert len(read(file).document["text"]) == BYTES_MAX - 7


@pytest.mark.parametrize("text", ["yes", "no", "On", "off", "y", "1:30", "22:00", "-1:30.5", "10.20.0.0/16", "1_0Gi"])
def test_what_only_yaml_1_1_takes_for_a_flag_or_a_number_is_text(text: str) -> None:
    source = parse(f"a: {text}")
    assert (source.document, source.problems) == ({"a": text}, ())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("10", 10),
        ("-3", -3),
        ("+5", 5),
        ("1.35", 1.35),
        (".5", 0.5),
        ("1.5e+3", 1500),
    ],
)
def test_what_every_yaml_reads_alike_is_read(text: str, value: Any) -> None:
    source = parse(f"a: {text}")
    assert (source.document, source.problems) == ({"a": value}, ())


@pytest.mark.parametrize(
    "text",
    [
        "010",
        "0b11",
        "0B11",
        "1_0",
        "0o17",
        "0O17",
        "0x1F",
        "089",
        "012345678901",
        "1e3",
        "1.5e3",
        "+.5",
        "-0x1",
        "1_0.5",
    ],
)
def test_a_number_that_the_engine_reads_in_its_own_way_is_refused_and_text_in_quotes_is_not(text: str) -> None:
    (problem,) = parse(f"a:\n  b: {text}").problems
    assert (problem.line, problem.column, problem.path) == (2, 3 + len("b: "), ("a", "b"))
    assert problem.message.startswith(f"'{text}' is a number in a notation that tools read differently")
    assert "allowed: plain decimal numbers such as 10 or 0.5, and text in quotes" in problem.message
    assert parse(f"a: '{text}'").document == {"a": text}


def test_what_is_written_for_the_engine_keeps_text_in_quotes() -> None:
    assert written({"a": "089", "b": 7, "c": ["off", True, None, 0.5]}) == (
        '"a": "089"\n"b": 7\n"c":\n- "off"\n- true\n- null\n- 0.5\n'
    )
